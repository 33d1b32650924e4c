// How much memory this machine has, and sizes as text.
#pragma once
#include <string>

namespace poslab {

double machine_bytes();  // largest memory of this process: the machine's, or a container's limit
std::string gigabytes(double bytes);  // "2.1 GB" of 10^9 bytes, "3 MB", "1.2 TB"

}  // namespace poslab
