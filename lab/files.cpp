#include "lab/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace poslab {
namespace {

[[noreturn]] void cannot(const char* what, const std::string& path) {
  const int error = errno;
  failure("cannot {} {}: {}{}", what, path, std::strerror(error),
          error == ENOSPC || error == EFBIG || error == EDQUOT ? "; make room, nothing that was there is lost" : "");
}

// A rename is on disk when its folder is.
void confirm_folder(const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path();
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (file < 0) cannot("open", folder);
  ::fsync(file);
  ::close(file);
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || std::filesystem::is_directory(path))
    failure("cannot read {}: {}", path, file ? "it is a folder" : std::strerror(errno));
  std::string bytes(size_t(file.tellg()), '\0');
  if (!file.seekg(0).read(bytes.data(), std::streamsize(bytes.size()))) cannot("read", path);
  return bytes;
}

void write_all(int file, const std::string& bytes, const std::string& path) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) cannot("write", path);
    if (n > 0) done += size_t(n);
  }
}

void confirm(int file, const std::string& path) {
  if (::fsync(file) != 0 && errno != EINVAL) cannot("write", path);  // EINVAL: not a disk file, as /dev/stdout
}

void write_file(const std::string& path, const std::string& bytes) {
  const std::string partial = path + ".partial";
  const int file = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) cannot("write", partial);
  try {
    write_all(file, bytes, path);
    confirm(file, path);
  } catch (...) {
    ::close(file);
    ::unlink(partial.c_str());
    throw;
  }
  if (::close(file) != 0 || std::rename(partial.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(partial.c_str());
    errno = error;
    cannot("write", path);
  }
  confirm_folder(path);
}

}  // namespace poslab
