// Figures as data, for python/poslab/figures to draw for papers and for tables.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "lab/pages/page/chart.h"
#include "lab/pages/page/heat_map.h"

namespace poslab::page {

using Panel = std::variant<Chart, HeatMap>;

// {"figures": [...]}: of a chart what chart_json() has; of a matrix {"kind": "matrix", "title", "row", "col", "block",
// "first_row", "low", "high", "cells"}.
std::string panels_json(const std::vector<Panel>&);
// panel,series,x,y,low,high: low and high of a band or an interval. Of a matrix a series is a row, x its columns.
std::string panels_csv(const std::vector<Panel>&);

}  // namespace poslab::page
