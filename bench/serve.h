// One line of commands in, one line of JSON out: steps for bench/compare.py. serve.cpp describes the lines.
#pragma once
#include "experiment/config.h"

namespace poslab {

void serve(const Settings&);  // options of a run (experiment/config.h); until the end of standard input

}  // namespace poslab
