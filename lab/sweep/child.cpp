#include "lab/sweep/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/error.h"

namespace poslab::sweep {
namespace {

[[noreturn]] void become(char* const* words, const char* log, int kept, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGUSR1);
  const int in = ::open("/dev/null", O_RDONLY), out = ::open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const bool ready = in >= 0 && out >= 0 && ::dup2(in, 0) == 0 && ::dup2(out, 1) == 1 && ::dup2(out, 2) == 2 &&
                     ::fcntl(kept, F_SETFD, 0) == 0 && ::getppid() == parent;
  // The program that we are, even if a build has put another in its place.
  if (ready) ::execv("/proc/self/exe", words);
  ::_exit(127);
}

}  // namespace

pid_t start_poslab(const std::vector<std::string>& words, const std::string& log, int kept) {
  std::vector<char*> all = {const_cast<char*>("poslab")};
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) become(all.data(), log.c_str(), kept, parent);
  if (child < 0) failure("cannot start a process: {}; fewer --jobs need less", std::strerror(errno));
  return child;
}

std::optional<End> ended(pid_t child) {
  int raw = 0;
  const pid_t who = ::waitpid(child, &raw, WNOHANG);
  if (who == 0) return {};
  if (who < 0) failure("lost sight of process {}: {}", child, std::strerror(errno));
  if (WIFSIGNALED(raw)) return End{0, WTERMSIG(raw)};
  const int status = WEXITSTATUS(raw);
  return status > 128 ? End{0, status - 128} : End{status, 0};
}

std::string last_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? std::streamoff(file.tellg()) : 0, from = std::max<std::streamoff>(0, size - 4096);
  std::string text(size_t(std::max<std::streamoff>(0, size - from)), '\0');
  file.seekg(from).read(text.data(), std::streamsize(text.size()));
  const size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return "";
  const size_t newline = text.rfind('\n', end), begin = newline == std::string::npos ? 0 : newline + 1;
  return text.substr(begin, end + 1 - begin);
}

std::string why_failed(End end, const std::string& log) {
  const std::string said = last_line(log), mine = "poslab: ";
  if (end.signal) return fmt::format("ended by signal {} ({}) after \"{}\"", end.signal, strsignal(end.signal), said);
  if (said.starts_with(mine)) return said.substr(mine.size());
  return fmt::format("exit status {} after \"{}\"", end.status, said);
}

}  // namespace poslab::sweep
