#include "lab/papers/python.h"

#include <fmt/ranges.h>

#include "core/error.h"
#include "lab/files/interrupt.h"
#include "lab/files/python.h"
#include "lab/pages/page/print.h"
#include "lab/papers/reproduce.h"

namespace poslab::reproduce {

std::string python_for_papers() {
  const std::string python = python_with({"pandas", "scipy", "statsmodels", "matplotlib"});
  if (python.empty())
    bad_input("the tables are drawn in Python, and there is no python3 with pandas, SciPy, statsmodels and matplotlib; "
              "run `python3 -m venv ENV && ENV/bin/pip install pandas scipy statsmodels matplotlib`, and put ENV/bin "
              "first on the PATH");
  check_installed("papers");
  return python;
}

void draw_in_python(const std::string& python, const std::string& folder, const FigureFiles& figures) {
  std::vector<std::string> words = {"--made=" + made_by()};
  if (!figures.endings.empty()) words.push_back(fmt::format("--figures={}", fmt::join(figures.endings, ",")));
  if (!figures.width.empty()) words.push_back(fmt::format("--width={}", page::millimetres_of(figures.width)));
  words.insert(words.end(), {"--", folder});
  const int status = run_python(python, "papers", words);
  if (const int signal = caught_signal()) throw Interrupted(signal, "stopped while drawing; --draw draws again");
  if (status) failure("{} -m poslab_drawing.papers ended with status {}; --draw draws again", python, status);
}

}  // namespace poslab::reproduce
