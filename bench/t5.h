// Reading on command, for bench/t5.py: the encoder of a T5 of the Hugging Face form in poslab.
#pragma once
#include <string>

#include "core/rounding.h"

namespace poslab {

// For every line `encode 512` it reads the first 512 tokens of tests/formula.h's "prompt" and says {"ms": [time],
// "states": the first and the last slot's}, until the end of standard input. Throws as t5::open_hf_model.
void serve_t5(const std::string& checkpoint, Matmul);

}  // namespace poslab
