// Figures for papers: charts and matrices at the width that a column or a page has in print, with letters of 8
// points. As SVG, which a converter makes PDF and PNG of (lab/files/converter.h); as LaTeX, which draws them with
// pgfplots in the type of the paper; and their numbers. All have the colours and lines of svg.css.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "lab/pages/page/chart.h"
#include "lab/pages/page/heat_map.h"

namespace poslab::page {

using Panel = std::variant<Chart, HeatMap>;
const std::string& title_of(const Panel&);

constexpr double column_mm = 84, page_mm = 174;
// Panels of a kind stand beside one another as far as the width allows, in rows of about as many.
struct PanelRow {
  size_t from, to;  // the last one excluded
  size_t columns;   // of all rows of this kind: the last row may have fewer panels
};
std::vector<PanelRow> rows_of(const std::vector<Panel>&, double millimetres);

// The panels in rows, each under its title if there are several.
std::string paper_svg(const std::vector<Panel>&, double millimetres);
// Compiles alone, and stands in a document by \input. The numbers are in it, so that nothing else has to be found.
std::string paper_tex(const std::vector<Panel>&, double millimetres);
// panel,series,x,y,low,high: low and high of a band or an interval. Of a matrix a series is a row, x its columns.
std::string paper_csv(const std::vector<Panel>&);

}  // namespace poslab::page
