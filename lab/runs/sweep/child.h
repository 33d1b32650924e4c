// This program as a separate process: a trial that crashes harms no other.
#pragma once
#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace poslab::sweep {

// Runs `poslab WORDS...` with both outputs in the file `log`; the child keeps the open file `kept` open. If this
// process dies, even by kill -9, the child gets SIGUSR1. Throws Failure.
pid_t start_poslab(const std::vector<std::string>& words, const std::string& log, int kept);

struct End {
  int status;  // 0 .. 128
  int signal;  // 0, or the signal that ended it, even if it exited with status 128 + signal
};
std::optional<End> ended(pid_t child);  // empty while it runs

std::string last_line(const std::string& path);        // the last nonempty line of a log; or ""
std::string why_failed(End, const std::string& said);  // the program's last line, or how it ended

// A process that runs one trial, or one that trains a population and prints how each trial ended.
class Child {
 public:
  // Like start_poslab().
  static Child of_one(const std::vector<std::string>& words, const std::string& log, int kept);
  // Its input is this text. Its output has lines "ID STATUS": a trial, and the exit status that a process for it alone
  // would have.
  static Child of_several(const std::vector<std::string>& words, const std::string& input,
                          const std::vector<int>& kept);
  pid_t process() const { return process_; }
  void look();                                            // reads its new output
  std::optional<End> end_of(const std::string& id) const;  // from its output or its process; empty: not yet known
  bool said_of(const std::string& id) const { return reported_.count(id); }
  const std::string& last_words() const { return words_; }  // the last other line of a population's output

 private:
  pid_t process_ = 0;
  std::optional<End> end_;
  std::shared_ptr<const int> output_;                     // a file in memory; null for a process of one trial
  size_t read_ = 0;                                       // bytes of the output that were read
  std::string rest_, words_;                              // an incomplete line; see last_words()
  std::map<std::string, End> reported_;
};

}  // namespace poslab::sweep
