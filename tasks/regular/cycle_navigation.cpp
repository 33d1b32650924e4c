// Cycle navigation: where on a circle of five places does a walk from place 0 end?   2 2 1 0 2 -> 2
//   y = sum_i (x_i - 1) mod 5,   symbols 0, 1, 2 are the steps -1, 0, +1                 (spec B.2)
#include "tasks/all.h"

namespace poslab {

Task cycle_navigation() {
  return {.name = "cycle_navigation",
          .level = "regular",
          .summary = "end of a walk of steps -1, 0, +1 on five places  2 2 1 0 2 -> 2",
          .about = R"(Somebody stands on place 0 of a circle of five and takes a step for each symbol:
0 is a step back, 1 none and 2 a step forward. The answer is the place where the walk ends.
The order of the steps does not matter, so a model that counts well needs no positions.)",
          .symbols_in = 3,
          .symbols_out = 5,
          .output_length = always_one,
          .answer = [](const Tokens& x) -> Tokens {
            int place = 0;
            for (int step : x) place = (place + step + 4) % 5;  // step - 1 is step + 4 modulo 5
            return {place};
          }};
}

}  // namespace poslab
