#include "lab/files/progress.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace poslab {
namespace {

thread_local std::FILE* log_file = nullptr;

std::string bar(double part) {
  const int width = 20, full = int(part * width);
  const std::string done(size_t(full), '#');
  const std::string left(size_t(width - full), '.');
  return '[' + coloured(::fileno(log_of_thread()), Colour::green, done) + left + "]  ";
}

}  // namespace

std::string coloured(int file, Colour colour, const std::string& text) {
  const char *no = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  if ((no && *no) || !terminal || terminal == std::string("dumb") || !isatty(file)) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", int(colour), text);
}

std::FILE* log_of_thread() { return log_file ? log_file : stderr; }
LogFile::LogFile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (!file) failure("cannot write {}: {}", path, std::strerror(errno));
  log_file = file;
}
LogFile::~LogFile() { std::fclose(std::exchange(log_file, nullptr)); }

void tell_text(std::FILE* to, const std::string& text) {
  // A write to a pipe without a reader raises SIGPIPE in this thread; this code discards the signal.
  sigset_t broken, before, waiting;
  sigemptyset(&broken), sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  if (std::fwrite(text.data(), 1, text.size(), to) != text.size() || std::fflush(to) != 0) {
    int signal = 0;
    if (!sigismember(&before, SIGPIPE) && sigpending(&waiting) == 0 && sigismember(&waiting, SIGPIPE))
      sigwait(&broken, &signal);
    std::clearerr(to);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void reserve_standard_files() {
  for (int file = 0; file <= 2; ++file)
    if (::fcntl(file, F_GETFD) < 0) ::open("/dev/null", file == 0 ? O_WRONLY : O_RDONLY);
}

std::string rounded(double n) {
  const double unit = std::pow(10, std::max(0., std::floor(std::log10(n)) - 1));
  std::string text = fmt::format("{:.0f}", std::round(n / unit) * unit);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string clock_time(double seconds) {
  if (const double days = seconds / 86400; days >= 1) {
    const std::string text = days < 9.95 ? fmt::format("{:.2g}", days) : rounded(days);
    return text + (text == "1" ? " day" : " days");
  }
  const int64_t s = std::llround(seconds);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

Progress::Progress(std::string what, std::string unit, int64_t from, int64_t total)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      from_(from),
      total_(total),
      terminal_(isatty(::fileno(log_of_thread()))) {}

Progress::~Progress() {
  if (open_) tell(log_of_thread(), "\n");
}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
bool Progress::due() const { return shown && Clock::now() >= next_; }

void Progress::at(int64_t done, const std::string& note) {
  if (!shown || (done < total_ && !due())) return;
  next_ = Clock::now() + std::chrono::milliseconds(terminal_ ? 100 : 10000);
  const double rate = double(done - from_) / std::max(seconds(), 1e-9);
  std::string line = fmt::format("{}  {}/{}  ", what_, done, total_) + note;
  if (done > from_)
    line += fmt::format("  {:.4g} {}/s  {} left", rate, unit_, clock_time(double(total_ - done) / rate));
  if (terminal_) {
    line.resize(std::max<size_t>(columns(), 26) - 25, ' ');  // room for the bar; spaces overwrite a longer line
    tell(log_of_thread(), "\r{}{}", bar(double(done) / double(total_)), line);
    open_ = true;
  } else {
    tell(log_of_thread(), "{}\n", line);
  }
}

}  // namespace poslab
