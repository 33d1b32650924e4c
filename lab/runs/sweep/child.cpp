#include "lab/runs/sweep/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/system.h"

namespace poslab::sweep {
namespace {

using OpenFile = std::shared_ptr<const int>;

[[noreturn]] void become(const char* program, char* const* words, int in, int out, const std::vector<int>& kept,
                         pid_t parent) {
  get_signal_after_parent(SIGUSR1);
  bool ready = ::dup2(in, 0) == 0 && ::dup2(out, 1) == 1 && ::dup2(out, 2) == 2 && ::getppid() == parent;
  for (const int file : kept) ready = ready && ::fcntl(file, F_SETFD, 0) == 0;
  if (ready) ::execv(program, words);
  ::_exit(127);
}

pid_t start(const std::vector<std::string>& words, int in, int out, const std::vector<int>& kept) {
  std::vector<char*> all = {const_cast<char*>("poslab")};
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  const std::string program = this_program();
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) become(program.c_str(), all.data(), in, out, kept, parent);
  if (child < 0) failure("cannot start a process: {}; use fewer --jobs", std::strerror(errno));
  return child;
}

End end_with(int status) { return status > 128 ? End{0, status - 128} : End{status, 0}; }

}  // namespace

pid_t start_poslab(const std::vector<std::string>& words, const std::string& log, int kept) {
  const OpenFile in = owned_file(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
                 out = owned_file(::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  return start(words, *in, *out, {kept});   // if a file could not be opened, the child exits with 127
}

std::optional<End> ended(pid_t child) {
  int raw = 0;
  const pid_t who = ::waitpid(child, &raw, WNOHANG);
  if (who == 0) return {};
  if (who < 0) failure("cannot wait for process {}: {}", child, std::strerror(errno));
  if (WIFSIGNALED(raw)) return End{0, WTERMSIG(raw)};
  return end_with(WEXITSTATUS(raw));
}

std::string last_line(const std::string& path) {
  std::string text;
  try {
    const InputFile file(path);
    const uint64_t most = std::min<uint64_t>(file.size(), 4096);
    text = file.read(file.size() - most, most);
  } catch (const Failure&) { return ""; }
  const size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return "";
  const size_t newline = text.rfind('\n', end), begin = newline == std::string::npos ? 0 : newline + 1;
  return text.substr(begin, end + 1 - begin);
}

std::string why_failed(End end, const std::string& said) {
  const std::string mine = "poslab: ";
  if (end.signal) return fmt::format("ended by signal {} ({}) after \"{}\"", end.signal, strsignal(end.signal), said);
  if (said.starts_with(mine)) return said.substr(mine.size());
  return fmt::format("exit status {} after \"{}\"", end.status, said);
}

Child Child::of_one(const std::vector<std::string>& words, const std::string& log, int kept) {
  Child child;
  child.process_ = start_poslab(words, log, kept);
  return child;
}

// Files in memory rather than pipes: a child can still write after its parent is gone, and never waits for a reader.
Child Child::of_several(const std::vector<std::string>& words, const std::string& input,
                        const std::vector<int>& kept) {
  const OpenFile in = owned_file(nameless_file());
  write_all(*in, input, "a file in memory");
  ::lseek(*in, 0, SEEK_SET);
  Child child;
  child.output_ = owned_file(nameless_file());
  child.process_ = start(words, *in, *child.output_, kept);
  return child;
}

void Child::look() {
  if (!end_) end_ = ended(process_);        // read first, so that all output before the end is there
  if (!output_) return;
  char part[4096];
  for (ssize_t n; (n = ::pread(*output_, part, sizeof part, off_t(read_))) > 0; read_ += size_t(n))
    rest_.append(part, size_t(n));
  for (size_t end; (end = rest_.find('\n')) != rest_.npos; rest_.erase(0, end + 1)) {
    const std::string line = rest_.substr(0, end);
    constexpr size_t id = 16;
    int status = -1;
    const bool report = line.size() > id + 1 && line[id] == ' ' &&
                        std::from_chars(line.data() + id + 1, line.data() + end, status).ptr == line.data() + end;
    if (report)
      reported_[line.substr(0, id)] = end_with(status);
    else if (!line.empty())
      words_ = line;
  }
}

std::optional<End> Child::end_of(const std::string& id) const {
  const auto said = reported_.find(id);
  return said == reported_.end() ? end_ : said->second;
}

}  // namespace poslab::sweep
