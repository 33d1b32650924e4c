#include "lab/files/python.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/system.h"

extern char** environ;

namespace poslab {
namespace fs = std::filesystem;

namespace {

// the child's standard input, output and errors; -1: the same file as this program's
using Files = std::array<int, 3>;

int status_of(std::vector<std::string> words, const Files& files) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int n = 0; n < 3; ++n)
    if (files[size_t(n)] >= 0) ::posix_spawn_file_actions_adddup2(&actions, files[size_t(n)], n);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, all[0], &actions, nullptr, all.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error) return 127;
  int raw = -1;
  while (::waitpid(child, &raw, 0) < 0) {
    if (errno != EINTR) failure("cannot wait for {}: {}", words[0], std::strerror(errno));
    if (const int signal = caught_signal()) ::kill(child, signal);
  }
  return WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
}

// Unnamed files instead of pipes, so that neither side has to read while the other writes.
using Unnamed = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
Unnamed unnamed() {
  Unnamed file(std::tmpfile(), std::fclose);
  if (!file) failure("cannot make a file for Python: {}", std::strerror(errno));
  return file;
}

std::string contents(std::FILE* file) {
  std::string all;
  std::array<char, 1 << 16> part{};
  for (ssize_t n; (n = ::pread(::fileno(file), part.data(), part.size(), off_t(all.size()))) > 0;)
    all.append(part.data(), size_t(n));
  return all;
}

// The command that runs a module from share/poslab of the build tree or the installation. A wheel may put the program
// deep inside its environment. All modules are in one folder, because they import each other.
std::vector<std::string> command(const std::string& python, const std::string& module,
                                 const std::vector<std::string>& words) {
  const fs::path program = path_of_this_program();
  for (fs::path at = program.parent_path(); at.has_relative_path(); at = at.parent_path()) {
    if (!fs::is_directory(at / "share/poslab/poslab_drawing" / module)) continue;
    ::setenv("PYTHONPATH", (at / "share/poslab").c_str(), 1);
    std::vector<std::string> all = {python, "-m", "poslab_drawing." + module};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  failure(
      "this program came without its Python: there is no share/poslab/poslab_drawing/{} next to {} or above it; `cmake "
      "--install` and `pip install .` put it there",
      module, program.string());
}

}  // namespace

std::string python_with(std::vector<std::string> packages) {
  const char* found = "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))";
  const fs::path beside = path_of_this_program().parent_path() / "python3";
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  packages.insert(packages.begin(), {"", "-c", found});
  std::string python;
  for (const std::string& one : {beside.string(), std::string("python3")}) {
    packages[0] = one;
    if (python.empty() && status_of(packages, {null, null, null}) == 0) python = one;
  }
  ::close(null);
  return python;
}

void check_installed(const std::string& module) { command("", module, {}); }

int run_python(const std::string& python, const std::string& module, const std::vector<std::string>& words) {
  return status_of(command(python, module, words), {-1, -1, -1});
}

std::string python_output(const std::string& python, const std::string& module, const std::vector<std::string>& words,
                          const std::string& input) {
  const Unnamed in = unnamed(), out = unnamed(), errors = unnamed();
  write_all(::fileno(in.get()), input, "a file for Python");
  ::lseek(::fileno(in.get()), 0, SEEK_SET);
  const int status =
      status_of(command(python, module, words), {::fileno(in.get()), ::fileno(out.get()), ::fileno(errors.get())});
  if (const int signal = caught_signal()) throw Interrupted(signal, "stopped while Python was drawing");
  if (status == 0) return contents(out.get());
  std::string words_of_it = contents(errors.get());
  while (words_of_it.ends_with('\n')) words_of_it.pop_back();
  if (const size_t at = words_of_it.rfind("poslab: "); at != std::string::npos) {
    words_of_it.erase(0, at + 8);
    if (status == 2) throw BadInput(words_of_it);
    throw Failure(words_of_it);
  }
  failure("{} -m poslab_drawing.{} ended with status {}: {}", python, module, status,
          words_of_it.substr(words_of_it.rfind('\n') + 1));
}

}  // namespace poslab
