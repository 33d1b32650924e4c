// Reverse string.   1 0 0 -> 0 0 1
//   y_i = x_{L+1-i}                                                                      (spec B.2)
#include "tasks/all.h"

namespace poslab {

Task reverse_string() {
  return {.name = "reverse_string",
          .level = "context_free",
          .summary = "the input backwards  1 0 0 -> 0 0 1",
          .about = R"(The model reads bits and writes them backwards: the last bit first, the first bit last.
Each answer slot has to look at one place of the input and at no other, and how far away that place
is differs from slot to slot. So the task asks for exact positions.)",
          .output_length = as_long_as_input,
          .answer = [](const Tokens& x) -> Tokens { return {x.rbegin(), x.rend()}; }};
}

}  // namespace poslab
