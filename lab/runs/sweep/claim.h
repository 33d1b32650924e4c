// Who works on a trial. A claim is a lock on one byte of FOLDER/claims, at the place that the trial's id says: the
// kernel grants it to one process, its children hold it with it, and lets go when the last of them has ended, even by
// kill -9. (Locks of open file descriptions, fcntl(2), so that one can also ask without taking. Workers on several
// hosts need a file system that carries them, as NFSv4 does; not one that only pretends to.)
#pragma once
#include <memory>
#include <optional>
#include <string>

namespace poslab::sweep {

// Places that are no trial's: who draws, and who keeps a plan. The last two bits of an id do not count.
constexpr const char *claimed_to_draw = "0", *claimed_to_plan = "4";

class Claim {
 public:
  // Empty if someone else has it. Throws Failure where the file system has no locks.
  static std::optional<Claim> take(const std::string& folder, const std::string& id);
  // Waits until no other process has it, with a message after a second. what: "draws what is in", the other's work.
  // Throws Interrupted.
  static Claim wait(const std::string& folder, const std::string& id, const std::string& what);
  int file() const { return *file_; }  // a child that has it open holds the claim too

 private:
  std::shared_ptr<const int> file_;
};

class Claims {
 public:
  explicit Claims(const std::string& folder);  // to ask; takes nothing, makes no file
  bool held(const std::string& id) const;

 private:
  std::shared_ptr<const int> file_;  // none: nothing was ever claimed
};

}  // namespace poslab::sweep
