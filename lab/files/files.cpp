#include "lab/files/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/stop.h"
#include "lab/files/memory.h"

namespace poslab {
namespace {

std::string reason(int error) {
  return error == ENOENT    ? "there is no such folder"
         : error == ENOTDIR ? "a part of it is a file, not a folder"
         : error == EISDIR  ? "it is a folder"
                            : std::strerror(error);
}
std::string kind_of(mode_t mode) {
  return S_ISDIR(mode)                    ? "a folder"
         : S_ISFIFO(mode)                 ? "a pipe"
         : S_ISSOCK(mode)                 ? "a socket"
         : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                          : "no file";
}

[[noreturn]] void cannot(const char* what, const std::string& path) {
  const int error = errno;
  if (bad_name({error, std::generic_category()}))
    bad_input("cannot {} {}: {}; choose another path", what, path, reason(error));
  failure("cannot {} {}: {}{}", what, path, std::strerror(error),
          error == ENOSPC || error == EFBIG || error == EDQUOT ? "; make room (existing files are unchanged)" : "");
}

// A rename survives a crash only once its folder is synced to disk.
void confirm_folder(const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path();
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (file < 0) cannot("open", folder);
  ::fsync(file);
  ::close(file);
}

}  // namespace

bool bad_name(const std::error_code& error) {
  const int n = error.value();
  return n == ENOENT || n == ENOTDIR || n == EISDIR || n == ENAMETOOLONG || n == ELOOP;
}

InputFile::InputFile(const std::string& path) : path_(path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // opening a pipe would wait for a writer
  if (file < 0) failure("cannot read {}: {}", path, std::strerror(errno));
  struct stat about {};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(file);
    failure("cannot read {}: it is {}", path, kind_of(about.st_mode));
  }
  file_ = file, size_ = uint64_t(about.st_size);
}

InputFile::~InputFile() { ::close(file_); }

std::string InputFile::read(uint64_t from, uint64_t bytes) const {
  constexpr uint64_t part = 64 << 20;  // bytes between two checks for a signal
  if (bytes > size_ || (bytes > part && double(bytes) > machine_bytes()))
    failure("cannot read {} bytes of {}: {}", bytes, path_,
            bytes > size_ ? "it has become shorter" : "they do not fit into memory");
  std::string all(bytes, '\0');
  for (uint64_t done = 0; done < bytes;) {
    if (done) stop_if_requested();
    const ssize_t n = ::pread(file_, all.data() + done, std::min(part, bytes - done), off_t(from + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      failure("cannot read bytes {} .. {} of {}: {}", from, from + bytes - 1, path_,
              n ? std::strerror(errno) : "it has become shorter");
    done += uint64_t(n);
  }
  return all;
}

void require_file(const std::string& path) {
  if (path.empty()) bad_input("the name of a file is empty; name the one to read");
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) {
    if (errno == ENOENT) bad_input("there is no file {}", path);
    if (bad_name({errno, std::generic_category()})) bad_input("cannot read {}: {}", path, reason(errno));
    failure("cannot read {}: {}", path, std::strerror(errno));
  }
  if (!S_ISREG(about.st_mode))
    bad_input("{} is {}; name a file{}", path, kind_of(about.st_mode), S_ISDIR(about.st_mode) ? " in it" : "");
}

std::string read_file(const std::string& path) {
  const InputFile file(path);
  return file.read(0, file.size());
}

std::string read_input(const std::string& path) {
  require_file(path);
  return read_file(path);
}

std::string read_lines(const std::string& path) {
  std::string text = read_input(path);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

std::string said_by(const std::filesystem::filesystem_error& e) {
  const std::string path = e.path1().string();
  return fmt::format("cannot access {}: {}{}", path.empty() ? "a file" : path, e.code().message(),
                     bad_name(e.code()) ? "; choose another path" : "");
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && std::filesystem::is_directory(path)) return;
  const int code = error ? error.value() : ENOTDIR;
  if (bad_name({code, std::generic_category()}))
    bad_input("cannot make the folder {}: {}; choose another path", path, reason(code));
  failure("cannot make the folder {}: {}", path, std::strerror(code));
}

void check_writable(const std::string& folder) {
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return;
  failure("cannot write into the folder {}: {}; change its permissions, or choose another with --out", folder,
          std::strerror(errno));
}

std::shared_ptr<const int> owned_file(int file) {
  return {new int(file), [](const int* f) { ::close(*f), delete f; }};
}

void write_all(int file, const std::string& bytes, const std::string& path) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) cannot("write", path);
    if (n > 0) done += size_t(n);
  }
}

void confirm(int file, const std::string& path) {
  if (::fsync(file) != 0 && errno != EINVAL) cannot("write", path);  // EINVAL: not a disk file, such as /dev/stdout
}

namespace {

// A file that is always closed. close() returns whether the system accepted all bytes.
struct Opened {
  int file;
  explicit Opened(int opened) : file(opened) {}
  ~Opened() { close(); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  bool close() { return ::close(std::exchange(file, -1)) == 0; }
};

// The target of a path after following links: an existing or future file, or one that this process has open.
struct Target {
  std::string path;
  int open = -1;  // the file descriptor of /dev/stdout and the like
};

Target target_of(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int max_links = 40;  // the limit of the kernel
  const fs::path own = fs::weakly_canonical("/proc/self/fd");
  fs::path at = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(at, error); ++links) {
    const std::string name = at.filename();
    if (fs::weakly_canonical(at.parent_path(), error) == own) return {path, std::stoi(name)};
    if (links == max_links) errno = ELOOP, cannot("write", path);
    at = at.parent_path() / fs::read_symlink(at, error);
  }
  return {at.string()};
}

// Writes into a file that cannot be replaced: a device, a pipe, or an open file. Old contents stay.
void write_into(int file, const std::string& bytes, const std::string& path) {
  Opened out(file);
  if (file < 0) cannot("write", path);
  write_all(file, bytes, path);
  if (!out.close()) cannot("write", path);
}

// Opens PATH.poslab.partial, empty and locked: without the lock a second writer would empty the file that the first one
// is about to rename. On file systems without locks, such as some network ones, writers do not wait.
int open_partial(const std::string& partial, const std::string& path) {
  for (;;) {
    const int file = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (file < 0) cannot("write", path);
    while (::flock(file, LOCK_EX) != 0 && errno == EINTR) continue;
    struct stat ours {};
    struct stat there {};
    const bool gone = ::stat(partial.c_str(), &there) != 0;  // it was renamed while we waited
    if (!gone && ::fstat(file, &ours) == 0 && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev) {
      if (::ftruncate(file, 0) == 0) return file;
      ::close(file), cannot("write", path);
    }
    ::close(file);
  }
}

}  // namespace

void write_file(const std::string& path, const std::string& bytes) {
  const Target target = target_of(path);
  if (target.open >= 0) return std::fflush(nullptr), write_into(::dup(target.open), bytes, path);
  if (std::error_code error; std::filesystem::is_other(target.path, error))
    return write_into(::open(path.c_str(), O_WRONLY | O_CLOEXEC), bytes, path);
  if (std::error_code error; std::filesystem::is_directory(target.path, error)) errno = EISDIR, cannot("write", path);
  const std::string partial = target.path + ".poslab.partial";
  const Opened lock(open_partial(partial, path));
  Opened out(::fcntl(lock.file, F_DUPFD_CLOEXEC, 0));  // the same file, to be closed before it is renamed
  try {
    write_all(out.file, bytes, path);
    confirm(out.file, path);
  } catch (...) {
    ::unlink(partial.c_str());
    throw;
  }
  if (!out.close() || std::rename(partial.c_str(), target.path.c_str()) != 0) {
    const int error = errno;
    ::unlink(partial.c_str());
    errno = error;
    cannot("write", path);
  }
  confirm_folder(target.path);
}

}  // namespace poslab
