#include "lab/sweep/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

}  // namespace poslab::sweep
