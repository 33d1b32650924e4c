// A worker claims a trial by a lock on one byte of FOLDER/claims, at an offset computed from the trial's id. The kernel
// grants it to one process and its children, and releases it when the last of them has ended, even by kill -9. These
// are locks of open file descriptions, fcntl(2), so that a claim can also be queried without taking it. Workers on
// several hosts need a file system that shares such locks, as NFSv4 does, rather than only accepting them.
#pragma once
#include <memory>
#include <optional>
#include <string>

namespace poslab::sweep {

// Claims that belong to no trial: for drawing, and for keeping a plan. The last two bits of an id do not count.
constexpr const char *claimed_to_draw = "0", *claimed_to_plan = "4";

class Claim {
 public:
  // Empty if another process has it. Throws Failure if the file system has no locks.
  static std::optional<Claim> take(const std::string& folder, const std::string& id);
  // Waits until no other process has it, with a message after a second. what: the other process's work, for the
  // message: "draws what is in". Throws Interrupted.
  static Claim wait(const std::string& folder, const std::string& id, const std::string& what);
  int file() const { return *file_; }  // a child that inherits it holds the claim too

 private:
  std::shared_ptr<const int> file_;
};

class Claims {
 public:
  explicit Claims(const std::string& folder);  // for queries; takes no claim and makes no file
  bool held(const std::string& id) const;

 private:
  std::shared_ptr<const int> file_;  // null: nothing was ever claimed
};

}  // namespace poslab::sweep
