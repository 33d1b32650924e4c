// Duplicate string: repeat the input twice, or `copies` times.   1 0 1 -> 1 0 1 1 0 1
//   y_i = x_{1 + (i-1) mod L},  i = 1 .. 2L                                              (spec B.2, B.3)
#include "tasks/all.h"

namespace poslab {
namespace {

Task duplicating(Task task, const Choices& chosen) {
  const int copies = chosen.whole("copies");
  task.output_length = [copies](int length) { return copies * length; };
  task.answer = [copies](const Tokens& x) {
    Tokens y;
    for (int copy = 0; copy < copies; ++copy) y.insert(y.end(), x.begin(), x.end());
    return y;
  };
  return task;
}

}  // namespace

Task duplicate_string() {
  return {.name = "duplicate_string",
          .level = "context_sensitive",
          .summary = "the input twice  1 0 1 -> 1 0 1 1 0 1",
          .about = R"(The model reads bits and writes them twice, one copy after the other (or `copies` times).
Each answer slot looks at one place of the input, at a distance that depends on the copy.)",
          .options = {{"copies", 2, {1, 64}, "how often the input is repeated"}},
          .with = duplicating};
}

}  // namespace poslab
