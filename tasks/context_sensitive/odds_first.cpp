// Odds first: every second symbol, then the others.   a b c d e -> b d a c e   (slots 2 4 6 ..., then 1 3 5 ...)
// That is the released code's order and the published task; its name and documentation promise 1 3 5 ... first, which
// `odds_first:order=named` gives   (spec B.2).
#include "tasks/all.h"

namespace poslab {
namespace {

Task ordered(Task task, const Choices& chosen) {
  const size_t start = chosen["order"] == "released" ? 1 : 0;
  task.answer = [start](const Tokens& x) {
    Tokens y;
    for (size_t i = start; i < x.size(); i += 2) y.push_back(x[i]);
    for (size_t i = 1 - start; i < x.size(); i += 2) y.push_back(x[i]);
    return y;
  };
  return task;
}

}  // namespace

Task odds_first() {
  return {.name = "odds_first",
          .level = "context_sensitive",
          .summary = "every second symbol, then the others  1 0 1 0 1 -> 0 0 1 1 1",
          .about = R"(The model reads bits and sorts them by place: first those of the places 2, 4, 6, ..., then those
of 1, 3, 5, ... Each answer slot looks at one place of the input. (The paper's name promises the odd
places first; its released code, whose numbers were published, counts from 0.))",
          .options = {{"order", std::vector<std::string>{"released", "named"},
                       "which places come first: 2 4 6 ... as in the released code, or 1 3 5 ... as the name says"}},
          .output_length = as_long_as_input,
          .with = ordered};
}

}  // namespace poslab
