// What the ops refuse, and what they say: the op, the fact, the shapes, the remedy.
#include <doctest/doctest.h>

#include "autograd/ops.h"
#include "core/error.h"

namespace poslab::test {
namespace {

Tensor ones(Shape shape) { return Tensor::full(std::move(shape), 1); }

template <class F>
std::string complaint(const F& f) {
  try {
    f();
  } catch (const BadInput& e) {
    return e.what();
  }
  return "no complaint";
}
void check_says(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    INFO(text);
    CHECK(text.find(word) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("ops: bad shapes are refused with the op's name and the shapes") {
  check_says(complaint([] { add(ones({2, 3}), ones({2, 4})); }), {"add", "(2, 3)", "(2, 4)", "equal or 1"});
  check_says(complaint([] { div(ones({2, 3}), ones({3, 1, 1, 2})); }), {"div", "(3, 1, 1, 2)"});
  check_says(complaint([] { mul(ones({2, 1, 2, 1, 2, 1, 2}), ones({1, 2, 1, 2, 1, 2, 1})); }), {"more than 6 dimensions", "reshape"});
  check_says(complaint([] { sum(ones({2, 3}), 2); }), {"sum", "(2, 3)", "no axis 2"});
  check_says(complaint([] { mean(ones({2, 3}), -3); }), {"mean", "no axis -3"});
  check_says(complaint([] { permute(ones({2, 3}), {0, 0}); }), {"permute", "(0, 0)", "(2, 3)"});
  check_says(complaint([] { permute(ones({2, 3}), {0}); }), {"permute", "2 dimensions"});
  check_says(complaint([] { transpose(ones({2})); }), {"transpose", "(2)"});
  check_says(complaint([] { slice(ones({2, 3}), 1, 2, 4); }), {"slice", "2 .. 4", "axis 1", "(2, 3)"});
  check_says(complaint([] { slice(ones({2, 3}), 0, 1, 1); }), {"slice", "1 .. 1"});
  check_says(complaint([] { concat({}, 0); }), {"concat", "no tensors"});
  check_says(complaint([] { concat({ones({2, 3}), ones({3, 3})}, 1); }), {"concat", "(2, 3)", "(3, 3)", "axis 1"});
  check_says(complaint([] { concat({ones({2, 3}), ones({2})}, 0); }), {"concat", "(2)"});
  check_says(complaint([] { gather(ones({3}), Ids({1}, {0})); }), {"gather", "no rows"});
  check_says(complaint([] { gather(ones({3, 2}), Ids({2}, {0, 3})); }), {"gather", "row 3", "3 rows"});
  check_says(complaint([] { gather(ones({3, 2}), Ids({1}, {-1})); }), {"gather", "row -1"});
  check_says(complaint([] { dropout(ones({3}), {real(1.5), {}}); }), {"dropout", "1.5"});
  check_says(complaint([] { dropout(ones({3}), {real(NAN), {}}); }), {"dropout", "nan"});
  check_says(complaint([] { rotate(ones({1, 2, 1, 5}), ones({1, 2, 2}), Pairing::half); }), {"rotate", "(1, 2, 1, 5)", "even"});
  check_says(complaint([] { rotate(ones({3, 2, 1, 4}), ones({2, 2, 2}), Pairing::half); }), {"rotate", "(2, 2, 2)", "(1 or 3, 2, 2)"});
  check_says(complaint([] { cross_entropy(ones({2, 3}), Ids({3}, {0, 1, 2})); }), {"cross_entropy", "(2, 3)", "(3)"});
  check_says(complaint([] { cross_entropy(ones({2, 3}), Ids({2}, {0, 3})); }), {"cross_entropy", "target 3", "3 classes"});
  check_says(complaint([] { matmul(ones({8, 64}), ones({32, 64})); }), {"matmul", "(8, 64)", "(32, 64)", "transpose(b)"});
  check_says(complaint([] { feed_forward(ones({8, 64}), ones({64, 32}), ones({32}), ones({64, 32}), ones({32})); }),
             {"feed_forward", "w1 (64, 32)", "w2 (64, 32)", "(in, d_ff)"});
  check_says(complaint([] { linear(ones({8, 64}), ones({32, 64})); }), {"linear", "(8, 64)", "(32, 64)"});
  check_says(complaint([] { norm(ones({2, 4}), ones({4}), ones({3})); }), {"norm", "(2, 4)", "(3)"});
  check_says(complaint([] { residual_norm(ones({2, 4}), ones({2, 3}), ones({4}), ones({4}), {}); }), {"residual_norm", "(2, 4)", "(2, 3)"});
  check_says(complaint([] { geometric(ones({2, 5, 3}), ones({2, 5, 2}), Mask::none); }), {"geometric", "(2, 5, 3)", "(..., Tq, Tk)"});
  check_says(complaint([] { geometric(ones({2, 3, 5}), ones({2, 2}), Mask::none); }), {"geometric: side", "(2, 2)", "(2, 3, 2)"});
}

TEST_CASE("ops: bad scores of attention are refused") {
  const Tensor q = ones({2, 3, 2, 8}), k = ones({2, 5, 2, 8});
  const auto says = [&](const Scores& s, const Tensor& v) { return complaint([&] { attention(s, v, Mask::none); }); };
  check_says(says({.q = k, .k = q}, q), {"attention", "last of the keys", "(2, 5, 2, 8)"});
  check_says(says({.q = q, .k = k}, q), {"attention: v", "(2, 3, 2, 8)"});
  check_says(says({.q = q, .k = k, .q_rel = q}, k), {"attention: r", "absent"});
  check_says(says({.q = q, .k = k, .bias = ones({7, 2})}, k), {"attention", "7 rows", "2 x 5 - 1"});
  check_says(says({.q = q, .k = k, .bias = ones({9, 3})}, k), {"attention: bias", "(9, 3)"});
  check_says(says({.q = q, .k = k, .bias = ones({4, 2}), .pairs = Ids({1, 3, 5}, std::vector<int>(15, 4))}, k), {"attention", "row 4", "4"});
  check_says(says({.q = q, .k = k, .bias = ones({4, 2}), .pairs = Ids({1, 5, 3}, std::vector<int>(15, 0))}, k), {"attention", "(1, 5, 3)", "(1 or 2, 3, 5)"});
}

}  // namespace poslab::test
