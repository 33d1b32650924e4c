// Reverse string.   1 0 0 -> 0 0 1
//   y_i = x_{L+1-i}                                                                      (spec B.2)
#include "tasks/all.h"

namespace poslab {
namespace {

struct ReverseString : Task {
  std::string name() const override { return "reverse_string"; }
  std::string level() const override { return "context_free"; }
  std::string summary() const override { return "the input backwards  1 0 0 -> 0 0 1"; }
  std::string about() const override {
    return R"(The model reads bits and writes them backwards: the last bit first, the first bit last.
Each answer slot has to look at one place of the input and at no other, and how far away that place
is differs from slot to slot. So the task asks for exact positions.)";
  }
  int symbols_in() const override { return 2; }
  int symbols_out() const override { return 2; }
  int output_length(int length) const override { return length; }
  Tokens answer(const Tokens& x) const override { return {x.rbegin(), x.rend()}; }
};

}  // namespace

NewTask reverse_string() { return std::make_unique<ReverseString>(); }

}  // namespace poslab
