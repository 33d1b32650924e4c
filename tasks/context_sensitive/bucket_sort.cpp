// Bucket sort: the symbols 0-4 in ascending order.   3 0 4 0 -> 0 0 3 4
//   y = count_0 zeros, count_1 ones, ...                                                 (spec B.2)
#include <algorithm>

#include "tasks/all.h"

namespace poslab {
namespace {

struct BucketSort : Task {
  std::string name() const override { return "bucket_sort"; }
  std::string level() const override { return "context_sensitive"; }
  std::string summary() const override { return "the input in ascending order  3 0 4 0 -> 0 0 3 4"; }
  std::string about() const override {
    return R"(The model reads digits from 0 to 4 and writes them in ascending order.
The order of the input does not matter: a model that counts the digits, and tells the answer slots
apart, has the answer.)";
  }
  int symbols_in() const override { return 5; }
  int symbols_out() const override { return 5; }
  int output_length(int length) const override { return length; }
  Tokens answer(const Tokens& x) const override {
    Tokens y = x;
    std::sort(y.begin(), y.end());
    return y;
  }
};

}  // namespace

NewTask bucket_sort() { return std::make_unique<BucketSort>(); }

}  // namespace poslab
