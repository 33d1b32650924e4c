// What pages are drawn with: the HTML around them, line charts, matrices, and pictures as files. Each page brings its
// own sections.
#pragma once
#include "lab/files/matrix.h"
#include "lab/pages/page/chart.h"
#include "lab/pages/page/grid.h"
#include "lab/pages/page/heat_map.h"
#include "lab/pages/page/html.h"
#include "lab/pages/page/panels.h"
#include "lab/pages/page/svg.h"
