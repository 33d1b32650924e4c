// Odds first: every second symbol, then the others.   a b c d e -> b d a c e   (slots 2 4 6 ..., then 1 3 5 ...)
// That is the released code's order and the published task; its name and documentation promise 1 3 5 ... first, which
// odds_first(First::slots_1_3_5) gives   (spec B.2).
#include "tasks/all.h"

namespace poslab {
namespace {

struct OddsFirst : Task {
  explicit OddsFirst(First first) : first(first) {}
  std::string name() const override { return "odds_first"; }
  std::string level() const override { return "context_sensitive"; }
  std::string summary() const override { return "every second symbol, then the others  1 0 1 0 1 -> 0 0 1 1 1"; }
  std::string about() const override {
    return R"(The model reads bits and sorts them by place: first those of the places 2, 4, 6, ..., then those of
1, 3, 5, ... Each answer slot looks at one place of the input. (The paper's name promises the odd
places first; its released code, whose numbers were published, counts from 0.))";
  }
  int symbols_in() const override { return 2; }
  int symbols_out() const override { return 2; }
  int output_length(int length) const override { return length; }
  Tokens answer(const Tokens& x) const override {
    const size_t start = first == First::slots_2_4_6 ? 1 : 0;
    Tokens y;
    for (size_t i = start; i < x.size(); i += 2) y.push_back(x[i]);
    for (size_t i = 1 - start; i < x.size(); i += 2) y.push_back(x[i]);
    return y;
  }
  First first;
};

}  // namespace

NewTask odds_first(First first) { return std::make_unique<OddsFirst>(first); }

}  // namespace poslab
