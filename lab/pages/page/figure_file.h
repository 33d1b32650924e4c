// The files that a figure is written to, by the ending of their names.
#pragma once
#include <string>
#include <vector>

#include "lab/pages/page/paper.h"
#include "lab/runs/output.h"

namespace poslab::page {

// .svg, .pdf, .png and .tex; .csv is the caller's.
std::vector<Output> figure_outputs(const std::string& what);
// Whether it is drawn for a paper: with a width, or as what only papers have. An SVG without one is for the screen.
bool for_paper(const std::string& path, const std::string& width);
// "" or "column", "page", or millimetres. Throws BadInput.
double millimetres_of(const std::string& width);
// Throws BadInput where `width` is none, where a page would have one, and where there is no converter that `path` needs
// (lab/files/converter.h): before any work.
void check_figure(const std::string& path, const std::string& width);

std::string paper_file(const std::string& path, const std::vector<Panel>&, const std::string& width);
// `svg`, or the PDF or PNG of it.
std::string as_named(const std::string& path, const std::string& svg);

}  // namespace poslab::page
