#include "lab/files/memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace poslab {

double machine_bytes() {
  double bytes = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    double limit;
    if (std::ifstream(path) >> limit) bytes = std::min(bytes, limit);  // "max" means no limit
  }
  return bytes;
}

std::string gigabytes(double bytes) {
  if (bytes < 1e9) return fmt::format("{:.0f} MB", std::max(1., bytes / 1e6));
  return bytes < 1e12 ? fmt::format("{:.3g} GB", bytes / 1e9) : fmt::format("{:.3g} TB", bytes / 1e12);
}

}  // namespace poslab
