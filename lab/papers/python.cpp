#include "lab/papers/python.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "lab/files/interrupt.h"
#include "lab/files/system.h"
#include "lab/pages/page/figure_file.h"
#include "lab/papers/reproduce.h"

extern char** environ;

namespace poslab::reproduce {
namespace fs = std::filesystem;

namespace {

// The exit status, or 128 + the signal that ended it. A signal that this program gets goes on to the child.
int status_of(std::vector<std::string> words, bool quiet) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  if (quiet)
    for (const int file : {1, 2}) ::posix_spawn_file_actions_addopen(&files, file, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, all[0], &files, nullptr, all.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (error) return 127;
  int raw = -1;
  while (::waitpid(child, &raw, 0) < 0) {
    if (errno != EINTR) failure("lost sight of {}: {}", words[0], std::strerror(errno));
    if (const int signal = caught_signal()) ::kill(child, signal);
  }
  return WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
}

// share/poslab of the build tree or of the installation, where the package `papers` is. A wheel may leave the program
// deep below the environment that it is installed in.
std::string package_folder() {
  const fs::path program = path_of_this_program();
  for (fs::path at = program.parent_path(); at.has_relative_path(); at = at.parent_path())
    if (fs::is_directory(at / "share/poslab/papers")) return (at / "share/poslab").string();
  failure("this program came without its Python: there is no share/poslab/papers beside {} or above; `cmake "
          "--install` and `pip install .` put it there",
          program.string());
}

}  // namespace

std::string python_for_papers() {
  const char* found = "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))";
  const fs::path beside = path_of_this_program().parent_path() / "python3";
  for (const std::string& python : {beside.string(), std::string("python3")})
    if (status_of({python, "-c", found, "pandas", "scipy", "statsmodels", "matplotlib"}, true) == 0) return python;
  bad_input("the tables are drawn in Python, and there is no python3 with pandas, SciPy, statsmodels and matplotlib; "
            "run `python3 -m venv ENV && ENV/bin/pip install pandas scipy statsmodels matplotlib`, and put ENV/bin "
            "first on the PATH");
}

void draw_in_python(const std::string& python, const std::string& folder, const FigureFiles& figures) {
  ::setenv("PYTHONPATH", package_folder().c_str(), 1);
  std::vector<std::string> words = {python, "-m", "papers", "--made=" + made_by()};
  if (!figures.endings.empty()) words.push_back(fmt::format("--figures={}", fmt::join(figures.endings, ",")));
  if (!figures.width.empty()) words.push_back(fmt::format("--width={}", page::millimetres_of(figures.width)));
  words.insert(words.end(), {"--", folder});
  const int status = status_of(words, false);
  if (const int signal = caught_signal()) throw Interrupted(signal, "stopped while drawing; --draw draws again");
  if (status) failure("{} -m papers ended with status {}; --draw draws again", python, status);
}

}  // namespace poslab::reproduce
