#include "lab/pages/page/figure_file.h"

#include <cmath>

#include "core/ascii.h"
#include "core/error.h"
#include "lab/files/converter.h"
#include "lab/files/shell.h"

namespace poslab::page {

std::vector<Output> figure_outputs(const std::string& what) {
  return {svg_output(what),
          {".pdf", "for papers", "%PDF-"},
          {".png", "for slides", "\x89PNG"},
          {".tex", "for LaTeX", "% poslab: a figure"}};
}

bool for_paper(const std::string& path, const std::string& width) {
  return needs_converter(path) || path.ends_with(".tex") || (path.ends_with(".svg") && !width.empty());
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
  if (!width.empty() && !for_paper(path, width))
    bad_input("--width {}: only pictures have a width in print; leave it out, or write .svg, .pdf, .png or .tex",
              shell_word(width));
  require_converter("-o", path);
}

std::string paper_file(const std::string& path, const std::vector<Panel>& panels, const std::string& width) {
  const double mm = millimetres_of(width);
  return path.ends_with(".tex") ? paper_tex(panels, mm) : as_named(path, paper_svg(panels, mm));
}

std::string as_named(const std::string& path, const std::string& svg) {
  return path.ends_with(".pdf") ? pdf_of(svg) : path.ends_with(".png") ? png_of(svg) : svg;
}

}  // namespace poslab::page
