// Figures for papers, which matplotlib draws (python/poslab/figures), by the ending of their names.
#pragma once
#include <string>
#include <vector>

#include "lab/runs/output.h"

namespace poslab::page {

constexpr double column_mm = 84, page_mm = 174;

// .svg, .pdf, .png, .pgf and .tex, which are PGF for LaTeX, and .json, the figure's data; .csv is the caller's.
std::vector<Output> figure_outputs(const std::string& what);
bool is_figure(const std::string& path);  // one of these, or .csv
// Whether matplotlib draws it: with a width, or as what only papers have. An SVG without one is for the screen.
bool in_print(const std::string& path, const std::string& width);
// "" or "column", "page", or millimetres. Throws BadInput.
double millimetres_of(const std::string& width);
// Throws BadInput where `width` is not one, or a page would have one; Failure, which says what to install, where
// there is no Python with matplotlib and `path` takes it: before any work.
void check_figure(const std::string& path, const std::string& width);
// Checks the same for files with these endings, "pdf", as --figures has them.
void check_matplotlib(const std::string& option, const std::vector<std::string>& endings);

// The bytes of `path`: the data of the figures, also for a device, as /dev/stdout, or matplotlib's picture of them.
std::string figure_file(const std::string& path, const std::string& json, const std::string& width);

}  // namespace poslab::page
