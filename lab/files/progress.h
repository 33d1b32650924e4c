// Progress of a long loop: a bar redrawn in place on a terminal, otherwise a plain line every few seconds.
#pragma once
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace poslab {

std::string rounded(double n);           // to two significant digits, in groups of three: 250,000
std::string clock_time(double seconds);  // 0:07, 1:02:45; a day or more: 2.5 days, 1,600 days
size_t columns();                       // width of the terminal at stderr, or 80

// The destination of the calling thread's bars and notes: stderr or, while its LogFile lives, that file.
std::FILE* log_of_thread();
class LogFile {
 public:
  explicit LogFile(const std::string& path);   // empties the file; throws Failure
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
};

enum class Colour { red = 31, green = 32 };
// `text` in that colour if `file` is a terminal with colours and NO_COLOR (https://no-color.org) is not set; else
// unchanged.
std::string coloured(int file, Colour, const std::string& text);

// Writes a message for the user. If that fails, as on a full disk or a closed terminal, the message is dropped: no
// training should be lost because of its progress bar.
void tell_text(std::FILE* to, const std::string& text);
template <class... Values>
void tell(std::FILE* to, fmt::format_string<Values...> text, Values&&... values) {
  tell_text(to, fmt::format(text, std::forward<Values>(values)...));
}
// If file descriptor 0, 1 or 2 is closed, the next opened file would get its number, and messages would go into that
// file. This call opens the closed ones in a way that makes writes to them fail.
void reserve_standard_files();

class Progress {
 public:
  Progress(std::string what, std::string unit, int64_t from, int64_t total);  // "training", "steps"
  ~Progress();
  void at(int64_t done, const std::string& note = "");  // note: "loss 0.412  accuracy 81.0 %"
  bool due() const;  // whether at() would show something, so that the note is needed
  static inline bool shown = true;  // a silent caller sets it to false

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const;  // since the start
  std::string what_, unit_;
  int64_t from_, total_;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), next_ = start_;
  bool open_ = false;  // a bar is on the current line
};

}  // namespace poslab
