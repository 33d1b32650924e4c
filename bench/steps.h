// One line of commands in, one line of JSON out: training steps for bench/steps.py. The lines are described in
// steps.cpp.
#pragma once
#include <string>

#include "encodings/encoding.h"

namespace poslab {

struct StepsOptions {
  std::string task = "reverse_string",
              positions = "sequential";  // positions: a sampler's name, as --positions takes it
  int batch = 128, length = 20;          // symbols of the input; the task says how many slots answer
  double dropout = 0.1;
  EncodingSpec encoding;
};
void serve_steps(const StepsOptions&);  // until the end of standard input

}  // namespace poslab
