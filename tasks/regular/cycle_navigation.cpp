// Cycle navigation: where on a circle of five places does a walk from place 0 end?   2 2 1 0 2 -> 2
//   y = sum_i (x_i - 1) mod 5,   symbols 0, 1, 2 are the steps -1, 0, +1                 (spec B.2)
#include "tasks/all.h"

namespace poslab {
namespace {

struct CycleNavigation : Task {
  std::string name() const override { return "cycle_navigation"; }
  std::string level() const override { return "regular"; }
  std::string summary() const override { return "end of a walk of steps -1, 0, +1 on five places  2 2 1 0 2 -> 2"; }
  std::string about() const override {
    return R"(Somebody stands on place 0 of a circle of five and takes a step for each symbol:
0 is a step back, 1 none and 2 a step forward. The answer is the place of the last step.
The order of the steps does not matter, so a model that counts well needs no positions.)";
  }
  int symbols_in() const override { return 3; }
  int symbols_out() const override { return 5; }
  int output_length(int) const override { return 1; }
  Tokens answer(const Tokens& x) const override {
    int place = 0;
    for (int step : x) place = (place + step + 4) % 5;  // step - 1 is step + 4 modulo 5
    return {place};
  }
};

}  // namespace

NewTask cycle_navigation() { return std::make_unique<CycleNavigation>(); }

}  // namespace poslab
