// What all pages share: their documents, line charts and matrices as data, and pictures as files.
#pragma once
#include "lab/files/matrix.h"
#include "lab/pages/page/chart.h"
#include "lab/pages/page/document.h"
#include "lab/pages/page/grid.h"
#include "lab/pages/page/heat_map.h"
#include "lab/pages/page/panels.h"
#include "lab/pages/page/svg.h"
