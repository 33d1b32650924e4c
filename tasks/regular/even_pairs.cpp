// Even pairs: is the number of unequal neighbours odd?   1 0 0 1 -> 0      (10 and 01: two)
//   y = #{i : x_i != x_{i+1}} mod 2 = [x_1 != x_L],   so a single bit gives 0            (spec B.2)
#include "tasks/all.h"

namespace poslab {
namespace {

struct EvenPairs : Task {
  std::string name() const override { return "even_pairs"; }
  std::string level() const override { return "regular"; }
  std::string summary() const override { return "is the number of unequal neighbours odd?  1 0 0 1 -> 0"; }
  std::string about() const override {
    return R"(The model reads bits and answers with one: 1 if neighbours differ an odd number of times, else 0.
That is the same as asking whether the first and the last bit differ, so the model has to find both
ends of the string; the bits between them do not matter.)";
  }
  int symbols_in() const override { return 2; }
  int symbols_out() const override { return 2; }
  int output_length(int) const override { return 1; }
  Tokens answer(const Tokens& x) const override { return {int(x.front() != x.back())}; }
};

}  // namespace

NewTask even_pairs() { return std::make_unique<EvenPairs>(); }

}  // namespace poslab
