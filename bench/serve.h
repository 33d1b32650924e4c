// One line of commands in, one line of JSON out: steps for bench/compare.py. serve.cpp describes
// the lines.
#pragma once
#include <string>

#include "encodings/encoding.h"

namespace poslab {

struct ServeOptions {
  std::string task = "reverse_string",
              positions = "sequential";  // positions: a sampler's name, as --positions takes it
  int batch = 128;
  double dropout = 0.1;
  EncodingSpec encoding;
  Device device = Device::cpu;
};
void serve(const ServeOptions&);  // until the end of standard input

}  // namespace poslab
