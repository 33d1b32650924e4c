// Parity check: is the number of ones odd?   1 0 1 1 -> 1
//   y = sum_i x_i mod 2                                                                  (spec B.2)
// The order of the input does not matter, so a model that counts needs no positions.
#include <numeric>

#include "tasks/all.h"

namespace poslab {
namespace {

struct ParityCheck : Task {
  std::string name() const override { return "parity_check"; }
  std::string level() const override { return "regular"; }
  std::string summary() const override { return "is the number of ones odd?  1 0 1 1 -> 1"; }
  std::string about() const override {
    return R"(The model reads bits and answers with one: 1 if the number of ones is odd, else 0.
Every bit matters and their order does not, so a model that counts well needs no positions.
Transformers find it hard nevertheless: most stay at guessing beyond the trained lengths.)";
  }
  int symbols_in() const override { return 2; }
  int symbols_out() const override { return 2; }
  int output_length(int) const override { return 1; }
  Tokens answer(const Tokens& x) const override { return {std::accumulate(x.begin(), x.end(), 0) % 2}; }
};

}  // namespace

NewTask parity_check() { return std::make_unique<ParityCheck>(); }

}  // namespace poslab
