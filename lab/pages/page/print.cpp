#include "lab/pages/page/print.h"

#include <filesystem>
#include <set>

#include "core/ascii.h"
#include "core/error.h"
#include "lab/files/python.h"
#include "lab/files/shell.h"

namespace poslab::page {
namespace {

std::string ending_of(const std::string& path) { return std::filesystem::path("x" + path).extension().string(); }

bool is_drawn(const std::string& path) {
  static const std::set<std::string> drawn = {".svg", ".pdf", ".png", ".pgf", ".tex"};
  return drawn.count(ending_of(path)) > 0;
}

std::string python_for(const std::string& option) {
  const std::string python = python_with({"matplotlib"});
  if (python.empty())
    failure(
        "{}: matplotlib draws it, but no python3 here has it; run `python3 -m venv ENV && ENV/bin/pip install "
        "matplotlib`, and put ENV/bin first on the PATH",
        option);
  return python;
}

}  // namespace

std::vector<Output> figure_outputs(const std::string& what, const std::string& command) {
  const char* pgf = "% poslab: a figure";
  return {html_output(command),
          {".svg", what, "<", "Matplotlib"},
          {".pdf", "for papers", "%PDF-"},
          {".png", "for slides", "\x89PNG"},
          {".pgf", "for LaTeX", pgf},
          {".tex", "the same", pgf},
          {".json", "its data", "{\"figures\":"}};
}

bool is_figure(const std::string& path) {
  const std::string ending = ending_of(path);
  return is_drawn(path) || ending == ".json" || ending == ".csv";
}

double millimetres_of(const std::string& width) {
  if (width.empty() || width == "column") return column_mm;
  if (width == "page") return page_mm;
  constexpr double least = 40, most = 400;
  char* end = nullptr;
  const double mm = ascii::number(width.c_str(), &end);
  const std::string unit(end);
  if (end == width.c_str() || (!unit.empty() && unit != "mm") || !(mm >= least && mm <= most))
    bad_input("--width {}: use column ({} mm), page ({} mm), or a number of millimetres from {} to {}",
              shell_word(width), column_mm, page_mm, least, most);
  return mm;
}

void check_figure(const std::string& path, const std::string& width) {
  millimetres_of(width);
  if (!width.empty() && !is_drawn(path))
    bad_input("--width {}: only pictures have a width in print; leave it out, or write .svg, .pdf, .png or .pgf",
              shell_word(width));
  if (is_drawn(path)) python_for("-o " + shell_path(path));
}

void check_matplotlib(const std::string& option, const std::vector<std::string>& endings) {
  for (const std::string& ending : endings)
    if (is_drawn("." + ending)) python_for(option + " " + ending);
}

std::string figure_file(const std::string& path, const nlohmann::json& figures, const std::string& width) {
  std::string data =
      nlohmann::json{{"figures", figures}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (!is_drawn(path)) return data;
  return python_output(python_for("-o " + shell_path(path)), "figures",
                       {"-", "-o", "-", "--format", ending_of(path).substr(1), "--width",
                        fmt::format("{}", millimetres_of(width))}, data);
}

}  // namespace poslab::page
