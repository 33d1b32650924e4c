// What pages are drawn with: the HTML around them, line charts, dots, matrices, and pictures
// as files. Each page brings its own sections.
#pragma once
#include "lab/page/chart.h"
#include "lab/page/dots.h"
#include "lab/page/grid.h"
#include "lab/page/html.h"
#include "lab/page/matrix.h"
#include "lab/page/svg.h"
