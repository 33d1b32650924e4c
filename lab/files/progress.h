// Progress of a long loop: a bar redrawn in place on a terminal, otherwise a plain line every few seconds.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace poslab {

std::string clock_time(double seconds);  // 0:07, 1:02:45
size_t columns();                       // of the terminal at stderr; 80 if it does not say

// Where the calling thread shows its bars and remarks: stderr, but while a LogFile of its own lives, that file.
std::FILE* log_of_thread();
class LogFile {
 public:
  explicit LogFile(const std::string& path);   // written anew; throws Failure
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
};

class Progress {
 public:
  Progress(std::string what, std::string unit, int64_t from, int64_t total);  // "training", "steps"
  ~Progress();
  void at(int64_t done, const std::string& note = "");  // note: "loss 0.412  accuracy 81.0 %"
  bool due() const;  // whether at() would show something now: build the note only then
  static inline bool shown = true;  // for a caller that wants silence

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const;  // since the start
  std::string what_, unit_;
  int64_t from_, total_;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), next_ = start_;
  bool open_ = false;  // a bar stands on the current line
};

}  // namespace poslab
