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

std::string reason(int error) {
  return error == ENOENT    ? "there is no such folder"
         : error == ENOTDIR ? "a part of it is a file, not a folder"
         : error == EISDIR  ? "it is a folder"
                            : std::strerror(error);
}
// Such a name can never be written: another one will do.
bool bad_name(int error) { return error == ENOENT || error == ENOTDIR || error == EISDIR || error == ENAMETOOLONG; }

[[noreturn]] void cannot(const char* what, const std::string& path) {
  const int error = errno;
  if (bad_name(error)) bad_input("cannot {} {}: {}; choose another path", what, path, reason(error));
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

std::string read_input(const std::string& path) {
  if (path.empty()) bad_input("the name of a file is empty; say which one to read");
  std::error_code error;
  if (!std::filesystem::exists(path, error)) bad_input("there is no file {}", path);
  if (std::filesystem::is_directory(path)) bad_input("{} is a folder; name a file in it", path);
  return read_file(path);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && std::filesystem::is_directory(path)) return;
  const int code = error ? error.value() : ENOTDIR;
  if (bad_name(code)) bad_input("cannot make the folder {}: {}; choose another path", path, reason(code));
  failure("cannot make the folder {}: {}", path, std::strerror(code));
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

// Into what is no file that could be replaced: a device, as /dev/stdout, or a pipe.
static void write_through(const std::string& path, const std::string& bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) cannot("write", path);
  try {
    write_all(file, bytes, path);
  } catch (...) {
    ::close(file);
    throw;
  }
  if (::close(file) != 0) cannot("write", path);
}

void write_file(const std::string& path, const std::string& bytes) {
  if (std::error_code error; std::filesystem::is_other(path, error)) return write_through(path, bytes);
  const std::string partial = path + ".partial";
  const int file = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) cannot("write", path);
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
