// Duplicate string: say the input twice, or `duplication` times.   1 0 1 -> 1 0 1 1 0 1
//   y_i = x_{1 + (i-1) mod L},  i = 1 .. 2L                                              (spec B.2, B.3)
#include "core/error.h"
#include "tasks/all.h"

namespace poslab {
namespace {

struct DuplicateString : Task {
  explicit DuplicateString(int duplication) : duplication(duplication) {}
  std::string name() const override { return "duplicate_string"; }
  std::string level() const override { return "context_sensitive"; }
  std::string summary() const override { return "the input twice  1 0 1 -> 1 0 1 1 0 1"; }
  int symbols_in() const override { return 2; }
  int symbols_out() const override { return 2; }
  int output_length(int length) const override { return duplication * length; }
  Tokens answer(const Tokens& x) const override {
    Tokens y;
    for (int copy = 0; copy < duplication; ++copy) y.insert(y.end(), x.begin(), x.end());
    return y;
  }
  int duplication;
};

}  // namespace

NewTask duplicate_string(int duplication) {
  if (duplication < 1) bad_input("duplicate_string: {} copies leave no answer; ask for at least 1", duplication);
  return std::make_unique<DuplicateString>(duplication);
}

}  // namespace poslab
