// Figures as files, in the format of their ending: pictures by matplotlib (python/poslab/figures), or their data.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/runs/output.h"

namespace poslab::page {

constexpr double column_mm = 84, page_mm = 174;

// .html, a page of this command; .svg, .pdf, .png, .pgf and .tex, which are PGF for LaTeX; .json, the figure's data.
std::vector<Output> figure_outputs(const std::string& what, const std::string& command);
bool is_figure(const std::string& path);  // one of these except .html, or .csv, which the caller writes
// The width of a picture in print, from "" or "column", "page", or a number of millimetres. Throws BadInput.
double millimetres_of(const std::string& width);
// Throws BadInput for a wrong `width`, or for any width if `path` is for data; Failure with a remedy if `path` needs a
// Python with matplotlib and there is none. Called before any work.
void check_figure(const std::string& path, const std::string& width);
// Checks the same for files with these endings, such as "pdf", as --figures lists them.
void check_matplotlib(const std::string& option, const std::vector<std::string>& endings);

// The bytes of `path`: matplotlib's picture of the figures or, for .json and for a device such as /dev/stdout, their
// data, {"figures": [...]}. A figure is a part of a document (lab/page/README.md), or a matrix whose cells are numbers.
std::string figure_file(const std::string& path, const nlohmann::json& figures, const std::string& width);

}  // namespace poslab::page
