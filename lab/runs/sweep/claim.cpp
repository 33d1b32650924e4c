#include "lab/runs/sweep/claim.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"

namespace poslab::sweep {
namespace {

std::string file_of(const std::string& folder) { return folder + "/claims"; }

struct flock byte_of(const std::string& id) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = off_t(std::strtoull(id.c_str(), nullptr, 16) >> 2);  // file offsets have 63 bits
  lock.l_len = 1;
  return lock;
}

}  // namespace

std::optional<Claim> Claim::take(const std::string& folder, const std::string& id) {
  const std::string path = file_of(folder);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0644);
  if (file < 0) failure("cannot open {}: {}", path, std::strerror(errno));
  Claim claim;
  claim.file_ = owned_file(file);
  struct flock lock = byte_of(id);
  if (::fcntl(file, F_OFD_SETLK, &lock) == 0) return claim;
  if (errno != EAGAIN && errno != EACCES)
    failure("cannot lock {}: {}; a sweep needs a file system with locks", path, std::strerror(errno));
  return {};
}

Claim Claim::wait(const std::string& folder, const std::string& id, const std::string& what) {
  for (int turn = 0;; ++turn) {
    if (const auto claim = take(folder, id)) return *claim;
    if (turn == 10) tell(stderr, "waiting for another poslab, which {} {}\n", what, folder);
    if (const int signal = caught_signal())
      throw Interrupted(signal, fmt::format("stopped while another poslab {} {}; try again", what, folder));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

Claims::Claims(const std::string& folder) {
  const std::string path = file_of(folder);
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file >= 0)
    file_ = owned_file(file);
  else if (errno != ENOENT)
    failure("cannot open {}: {}", path, std::strerror(errno));
}

bool Claims::held(const std::string& id) const {
  if (!file_) return false;
  struct flock lock = byte_of(id);
  if (::fcntl(*file_, F_OFD_GETLK, &lock) != 0) failure("cannot read the lock of {}: {}", id, std::strerror(errno));
  return lock.l_type != F_UNLCK;
}

}  // namespace poslab::sweep
