// Parity check: is the number of ones odd?   1 0 1 1 -> 1
//   y = sum_i x_i mod 2                                                                  (spec B.2)
// The order of the input does not matter, so a model that counts needs no positions.
#include <numeric>

#include "tasks/all.h"

namespace poslab {

Task parity_check() {
  return {.name = "parity_check",
          .level = "regular",
          .summary = "is the number of ones odd?  1 0 1 1 -> 1",
          .about = R"(The model reads bits and answers with one: 1 if the number of ones is odd, else 0.
Every bit matters and their order does not, so a model that counts well needs no positions.
Transformers find it hard nevertheless: most stay at chance beyond the trained lengths.)",
          .output_length = always_one,
          .answer = [](const Tokens& x) -> Tokens { return {std::accumulate(x.begin(), x.end(), 0) % 2}; }};
}

}  // namespace poslab
