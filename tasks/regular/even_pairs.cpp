// Even pairs: is the number of unequal neighbours odd?   1 0 0 1 -> 0      (10 and 01: two)
//   y = #{i : x_i != x_{i+1}} mod 2 = [x_1 != x_L],   so a single bit gives 0            (spec B.2)
#include "tasks/all.h"

namespace poslab {

Task even_pairs() {
  return {.name = "even_pairs",
          .level = "regular",
          .summary = "is the number of unequal neighbours odd?  1 0 0 1 -> 0",
          .about = R"(The model reads bits and answers with one: 1 if neighbours differ an odd number of times, else 0.
That is the same as asking whether the first and the last bit differ, so the model has to find both
ends of the string; the bits between them do not matter.)",
          .output_length = always_one,
          .answer = [](const Tokens& x) -> Tokens { return {int(x.front() != x.back())}; }};
}

}  // namespace poslab
