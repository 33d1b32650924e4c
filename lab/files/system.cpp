#include "lab/files/system.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#if defined __APPLE__
#include <mach-o/dyld.h>
#else
#include <sys/prctl.h>
#endif

namespace poslab {

#if defined __APPLE__

std::string this_program() {
  uint32_t size = 0;
  _NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  if (_NSGetExecutablePath(path.data(), &size)) failure("cannot find this program");
  return path.c_str();
}
std::filesystem::path path_of_this_program() { return std::filesystem::canonical(this_program()); }

int nameless_file() {
  std::string name = std::filesystem::temp_directory_path() / "poslab-XXXXXX";
  const int file = ::mkstemp(name.data());
  if (file < 0 || ::unlink(name.c_str()) || ::fcntl(file, F_SETFD, FD_CLOEXEC))
    failure("cannot make the file {}: {}", name, std::strerror(errno));
  return file;
}

void get_signal_after_parent(int) {}

#else

std::string this_program() { return "/proc/self/exe"; }
std::filesystem::path path_of_this_program() { return std::filesystem::read_symlink(this_program()); }

int nameless_file() {
  const int file = ::memfd_create("poslab", MFD_CLOEXEC);
  if (file < 0) failure("cannot make a file in memory: {}", std::strerror(errno));
  return file;
}

void get_signal_after_parent(int signal) { ::prctl(PR_SET_PDEATHSIG, signal); }

#endif

}  // namespace poslab
