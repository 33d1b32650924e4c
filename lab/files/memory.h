// How much memory this machine has, and sizes as text.
#pragma once
#include <string>

namespace poslab {

double machine_bytes();  // the memory that this process may use: the machine's, or a container's limit
std::string gigabytes(double bytes);  // "2.1 GB", "3 MB", "1.2 TB"; a GB is 10^9 bytes

}  // namespace poslab
