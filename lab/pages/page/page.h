// The common parts of all pages: their documents, line charts and matrices as data.
#pragma once
#include "lab/files/matrix.h"
#include "lab/pages/page/chart.h"
#include "lab/pages/page/document.h"
