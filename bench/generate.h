// Writing on command, for bench/generate.py: a checkpoint of the Hugging Face form in poslab.
#pragma once
#include <string>

#include "core/rounding.h"

namespace poslab {

// For every line `write 32+256` it reads the first 32 tokens of tests/formula.h's "prompt", writes the 256 most
// probable ones and says {"ms": [time], "tokens": [256]}, until the end of standard input. Throws as open_hf_model.
void serve_generate(const std::string& checkpoint, Matmul);

}  // namespace poslab
