// Duplicate string: say the input twice, or `copies` times.   1 0 1 -> 1 0 1 1 0 1
//   y_i = x_{1 + (i-1) mod L},  i = 1 .. 2L                                              (spec B.2, B.3)
#include "core/error.h"
#include "tasks/all.h"

namespace poslab {
namespace {

struct DuplicateString : Task {
  explicit DuplicateString(int copies) : copies(copies) {}
  std::string name() const override { return "duplicate_string"; }
  std::string level() const override { return "context_sensitive"; }
  std::string summary() const override { return "the input twice  1 0 1 -> 1 0 1 1 0 1"; }
  std::string about() const override {
    return R"(The model reads bits and writes them twice, one copy after the other (or `copies` times).
Each answer slot looks at one place of the input, at a distance that depends on the copy.)";
  }
  int symbols_in() const override { return 2; }
  int symbols_out() const override { return 2; }
  int output_length(int length) const override { return copies * length; }
  Tokens answer(const Tokens& x) const override {
    Tokens y;
    for (int copy = 0; copy < copies; ++copy) y.insert(y.end(), x.begin(), x.end());
    return y;
  }
  int copies;
};

}  // namespace

NewTask duplicate_string(int copies) {
  if (copies < 1) bad_input("duplicate_string: {} copies leave no answer; ask for at least 1", copies);
  return std::make_unique<DuplicateString>(copies);
}

}  // namespace poslab
