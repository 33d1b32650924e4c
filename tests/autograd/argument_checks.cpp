// Error messages of ops that refuse their arguments: the op, the fact, the shapes, the remedy.
#include <doctest/doctest.h>

#include <functional>

#include "autograd/ops.h"
#include "autograd/slice_in_place.h"
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
  check_says(complaint([] {
               mul(ones({2, 1, 2, 1, 2, 1, 2}), ones({1, 2, 1, 2, 1, 2, 1}));
             }),
             {"more than 6 dimensions", "reshape"});
  check_says(complaint([] { sum(ones({2, 3}), 2); }), {"sum", "(2, 3)", "no axis 2"});
  check_says(complaint([] { mean(ones({2, 3}), -3); }), {"mean", "no axis -3"});
  check_says(complaint([] { permute(ones({2, 3}), {0, 0}); }), {"permute", "(0, 0)", "(2, 3)"});
  check_says(complaint([] { permute(ones({2, 3}), {0}); }), {"permute", "2 dimensions"});
  check_says(complaint([] { transpose(ones({2})); }), {"transpose", "(2)"});
  check_says(complaint([] { slice(ones({2, 3}), 1, 2, 4); }), {"slice", "2 .. 4", "axis 1", "(2, 3)"});
  check_says(complaint([] { slice(ones({2, 3}), 0, 1, 1); }), {"slice", "1 .. 1"});
  check_says(complaint([] { slice_in_place(ones({2, 3}), 1, 3); }), {"slice", "1 .. 3", "axis 0", "(2, 3)"});
  check_says(complaint([] { concat({}, 0); }), {"concat", "no tensors"});
  check_says(complaint([] { concat({ones({2, 3}), ones({3, 3})}, 1); }), {"concat", "(2, 3)", "(3, 3)", "axis 1"});
  check_says(complaint([] { concat({ones({2, 3}), ones({2})}, 0); }), {"concat", "(2)"});
  check_says(complaint([] { gather(ones({3}), Ids({1}, {0})); }), {"gather", "no rows"});
  check_says(complaint([] { gather(ones({3, 2}), Ids({2}, {0, 3})); }), {"gather", "row 3", "3 rows"});
  check_says(complaint([] { gather(ones({3, 2}), Ids({1}, {-1})); }), {"gather", "row -1"});
  check_says(complaint([] { dropout(ones({3}), {real(1.5), {}}); }), {"dropout", "1.5"});
  check_says(complaint([] { dropout(ones({3}), {real(NAN), {}}); }), {"dropout", "nan"});
  check_says(complaint([] {
               rotate(ones({1, 2, 1, 5}), ones({1, 2, 2}), Pairing::half);
             }),
             {"rotate", "(1, 2, 1, 5)", "even"});
  check_says(complaint([] {
               rotate(ones({3, 2, 1, 4}), ones({2, 2, 2}), Pairing::half);
             }),
             {"rotate", "(2, 2, 2)", "(1 or 3, 2, 2)"});
  check_says(complaint([] { cross_entropy(ones({2, 3}), Ids({3}, {0, 1, 2})); }), {"cross_entropy", "(2, 3)", "(3)"});
  check_says(complaint([] {
               cross_entropy(ones({2, 3}), Ids({2}, {0, 3}));
             }),
             {"cross_entropy", "target 3", "3 classes"});
  check_says(complaint([] {
               matmul(ones({8, 64}), ones({32, 64}));
             }),
             {"matmul", "(8, 64)", "(32, 64)", "transpose(b)"});
  check_says(complaint([] { matmul(ones({8}), ones({8, 2})); }), {"matmul", "needs matrices", "(8) x (8, 2)"});
  check_says(complaint([] {
               matmul(ones({2, 3, 4}), ones({3, 4, 5}));
             }),
             {"matmul: batches differ", "(2, 3, 4) x (3, 4, 5)", "a single matrix"});
  check_says(complaint([] { linear(ones({8, 4}), ones({4, 2}), ones({3})); }), {"linear: b is (3)", "w is (4, 2)"});
  check_says(complaint([] { Tensor({2, 0}); }), {"tensor", "(2, 0)", "a size below 1"});
  check_says(complaint([] { feed_forward(ones({8, 64}), ones({64, 32}), ones({32}), ones({64, 32}), ones({32})); }),
             {"feed_forward", "w1 (64, 32)", "w2 (64, 32)", "(in, d_ff)"});
  check_says(complaint([] { linear(ones({8, 64}), ones({32, 64})); }), {"linear", "(8, 64)", "(32, 64)"});
  check_says(complaint([] { norm(ones({2, 4}), ones({4}), ones({3})); }), {"norm", "(2, 4)", "(3)"});
  check_says(complaint([] { rms_norm(ones({2, 4}), ones({3}), 1e-6); }), {"rms_norm", "(2, 4)", "(3)", "(4)"});
  check_says(complaint([] { rms_norm(ones({2, 4}), ones({4}), 0); }), {"rms_norm", "epsilon is 0", "1e-6"});
  const auto residual = [](Shape z, Shape gain, double epsilon) {
    return complaint([&] { residual_rms_norm(ones({2, 4}), ones(z), ones(gain), epsilon, {}); });
  };
  check_says(residual({2, 3}, {4}, 1e-6), {"residual_rms_norm", "(2, 4)", "(2, 3)"});
  check_says(residual({2, 4}, {3}, 1e-6), {"residual_rms_norm", "gain (3)"});
  check_says(residual({2, 4}, {4}, NAN), {"residual_rms_norm", "epsilon is nan"});
  const auto gated = [](const GatedWeights& w) {
    return complaint([&] { gated_feed_forward(ones({8, 64}), w, Activation::silu); });
  };
  const Tensor w = ones({64, 96}), back = ones({96, 64});
  check_says(gated({.w1 = w, .w3 = ones({64, 95}), .w2 = back}), {"gated_feed_forward", "w3 (64, 95)", "(in, d_ff)"});
  check_says(gated({.w1 = w, .b1 = ones({64}), .w3 = w, .w2 = back}), {"gated_feed_forward", "b1 (64)", "b2 absent"});
  check_says(gated({.w1 = w, .w3 = w}), {"gated_feed_forward", "w2 absent"});
  check_says(complaint([] { scan(ones({2, 3}), 2); }), {"scan", "(2, 3)", "no axis 2"});
  check_says(complaint([] { top_k(ones({2, 3}), 4); }), {"top_k", "k is 4", "(2, 3)", "from 1 to 3"});
  check_says(complaint([] { top_k(ones({2, 3}), 0); }), {"top_k", "k is 0"});
  check_says(complaint([] { interpolate(ones({2, 3}), ones({3, 3})); }), {"interpolate", "(2, 3)", "(3, 3)", "equal"});
  check_says(complaint([] {
               residual_norm(ones({2, 4}), ones({2, 3}), ones({4}), ones({4}), {});
             }),
             {"residual_norm", "(2, 4)", "(2, 3)"});
  check_says(complaint([] {
               geometric(ones({2, 5, 3}), ones({2, 5, 2}), {});
             }),
             {"geometric", "(2, 5, 3)", "(..., Tq, Tk)"});
  check_says(complaint([] {
               geometric(ones({2, 3, 5}), ones({2, 2}), {});
             }),
             {"geometric: side", "(2, 2)", "(2, 3, 2)"});
  const auto spanned = [](const Span& span) {
    return complaint([&] { geometric(ones({2, 3, 5}), ones({2, 3, 2}), span); });
  };
  check_says(spanned({.offset = 1}), {"geometric", "the last 3 of 5", "offset is 1, and must be 2"});
  check_says(spanned({.offset = 2, .key_lengths = Ids({2}, {5, 4})}), {"geometric", "there are key lengths"});
}

// Each case fails exactly one condition: without its check, the kernel would read beyond an array.
TEST_CASE("ops: each size that does not fit is refused by itself") {
  const auto network = [](Shape x, Shape w1, Shape b1, Shape w2, Shape b2) {
    return complaint([&] { feed_forward(ones(x), ones(w1), ones(b1), ones(w2), ones(b2)); });
  };
  check_says(network({3, 4}, {4, 6}, {6}, {6, 4}, {4}), {"no complaint"});
  check_says(network({3, 4}, {4, 6, 1}, {6}, {6, 4}, {4}), {"feed_forward: x is (3, 4), w1 (4, 6, 1)"});
  check_says(network({3, 4}, {4, 6}, {6}, {6, 4, 1}, {4}), {"w2 (6, 4, 1)"});
  check_says(network({3, 5}, {4, 6}, {6}, {6, 4}, {4}), {"feed_forward: x is (3, 5)"});
  check_says(network({3, 4}, {4, 6}, {5}, {6, 4}, {4}), {"feed_forward: x is (3, 4)", "b1 (5)"});
  check_says(network({3, 4}, {4, 6}, {6}, {6, 4}, {5}), {"feed_forward: x is (3, 4)", "b2 (5)"});
  const auto gated = [](Shape x, const GatedWeights& w) {
    return complaint([&] { gated_feed_forward(ones(x), w, Activation::silu); });
  };
  const Tensor in = ones({4, 6}), out = ones({6, 4}), b_in = ones({6}), b_out = ones({4});
  check_says(gated({3, 4}, {.w1 = in, .b1 = b_in, .w3 = in, .b3 = b_in, .w2 = out, .b2 = b_out}), {"no complaint"});
  check_says(gated({3, 4}, {.w3 = in, .w2 = out}), {"gated_feed_forward: x is (3, 4), w1 absent"});
  check_says(gated({3, 4}, {.w1 = ones({4, 6, 1}), .w3 = in, .w2 = out}), {"w1 (4, 6, 1)"});
  check_says(gated({3, 5}, {.w1 = in, .w3 = in, .w2 = out}), {"gated_feed_forward: x is (3, 5)"});
  check_says(gated({3, 4}, {.w1 = in, .w2 = out}), {"w3 absent"});
  check_says(gated({3, 4}, {.w1 = in, .w3 = in, .w2 = ones({6, 4, 1})}), {"w2 (6, 4, 1)"});
  check_says(gated({3, 4}, {.w1 = in, .w3 = in, .w2 = ones({5, 4})}), {"w2 (5, 4)"});
  check_says(gated({3, 4}, {.w1 = in, .w3 = in, .b3 = b_out, .w2 = out}), {"b3 (4)"});
  check_says(gated({3, 4}, {.w1 = in, .w3 = in, .w2 = out, .b2 = b_in}), {"b2 (6)"});
  const auto turned = [](Shape x, Shape angles) {
    return complaint([&] { rotate(ones(x), ones(angles), Pairing::half); });
  };
  check_says(turned({3, 2, 1, 4}, {3, 2, 2}), {"no complaint"});
  check_says(turned({3, 2, 4}, {3, 2, 2}), {"rotate: x is (3, 2, 4)"});
  check_says(turned({3, 2, 1, 4}, {2, 2}), {"rotate: cosines are (2, 2)"});
  check_says(turned({3, 2, 1, 4}, {3, 1, 2}), {"rotate: cosines are (3, 1, 2)"});
  check_says(turned({3, 2, 1, 4}, {3, 2, 4}), {"rotate: cosines are (3, 2, 4)"});
  check_says(complaint([] {
               rotate(ones({1, 2, 1, 4}), {ones({1, 2, 2}), ones({1, 2, 1})}, Pairing::half);
             }),
             {"rotate: cosines are (1, 2, 2) and sines (1, 2, 1)"});
  check_says(complaint([] { linear(ones({3, 4}), ones({4, 6, 1})); }), {"linear", "(4, 6, 1)"});
  check_says(complaint([] { matmul(ones({2, 8}), ones({8})); }), {"matmul: needs matrices, got (2, 8) x (8)"});
  check_says(complaint([] { matmul(ones({2, 8}), ones({7, 3})); }), {"(2, 8) x (7, 3); the last size of a must be"});
  check_says(complaint([] { norm(ones({2, 4}), ones({3}), ones({4})); }), {"gain (3), bias (4)"});
  check_says(complaint([] { rms_norm(ones({2, 4}), ones({4}), HUGE_VAL); }), {"rms_norm: epsilon is inf"});
  check_says(complaint([] { slice(ones({2, 3}), 1, -1, 2); }), {"slice: -1 .. 2 is not a range of axis 1"});
  check_says(complaint([] { geometric(ones({3}), ones({2}), {}); }), {"geometric", "(3)", "(..., Tq, Tk)"});
  check_says(complaint([] { clamp(ones({2}), 0, NAN); }), {"clamp: low = 0, high = nan; give numbers"});
  check_says(complaint([] { top_k(ones({(1 << 24) + 1}), 1); }), {"top_k", "at most 16777216 columns"});
  check_says(complaint([] { Tensor(Shape{}); }), {"tensor: shape ()"});
  check_says(complaint([] { Tensor({1 << 30, 1 << 30}); }), {"tensor: shape (1073741824, 1073741824) holds more than"});
  check_says(complaint([] {
               Tensor::from({3}, std::vector<real>{1, 2});
             }),
             {"tensor: shape (3) holds 3 values, not 2"});
  check_says(complaint([] { Ids({3}, {1, 2}); }), {"ids: shape (3) needs 3 values, got 2"});
  check_says(complaint([] { ones({2, 3}).reshape({4}); }),
             {"reshape: (2, 3) has 6 values, (4) would have 4", "one may be -1"});
  const Tensor absent;
  for (const auto& op : {std::function([&] { softmax(absent); }), std::function([&] { ones({2}) + absent; }),
                         std::function([&] { absent + ones({2}); })})
    check_says(complaint(op), {"tensor: an absent tensor has no values"});
  for (const int n : {0, 3}) CHECK_THROWS_AS(ones({2, 3}).first(n), Failure);
  for (const int axis : {-3, 2}) CHECK_THROWS(ones({2, 3}).dim(axis));
}

TEST_CASE("ops: bad scores of attention are refused") {
  const Tensor q = ones({2, 3, 2, 8}), k = ones({2, 5, 2, 8});
  const Span last{.offset = 2};
  const auto says = [&](const Scores& s, const Tensor& v, const Span& span) {
    return complaint([&] { attention(s, v, span); });
  };
  check_says(says({}, k, last), {"attention", "0 pieces", "1 to 4"});
  check_says(says({.pieces = {{q, ones({2, 5, 3, 8})}}}, k, last), {"attention: q", "(2, 5, 3, 8)", "G divides H"});
  check_says(says({.pieces = {{q, k, 0}, {q, q, -far, 0}}}, k, last), {"attention: k of a piece", "(2, 3, 2, 8)"});
  check_says(says({.pieces = {{q, k, -2}, {q, k, -far, -1}}}, k, last),
             {"attention: pieces 0 and 1 overlap", "distances -2 ..", "and -1073741824 .. -1,"});
  // overlap in the farthest pair only, the last query and the first key; then one step farther, where there is no pair
  check_says(says({.pieces = {{q, k, -4}, {q, k, -far, -3}}}, k, last), {"attention: pieces 0 and 1 overlap"});
  check_says(says({.pieces = {{q, k, -5}, {q, k, -far, -4}}}, k, last), {"no complaint"});
  // they overlap only at distances without a key
  check_says(says({.pieces = {{q, k, -2}, {q, k, -far, -1, 9}}}, k, last), {"no complaint"});
  check_says(says({.pieces = {{q, k}}}, q, last), {"attention: v", "(2, 3, 2, 8)"});
  check_says(says({.pieces = {{q, k}}, .q_rel = q}, k, last), {"attention: r", "absent"});
  check_says(says({.pieces = {{q, k}}, .bias = ones({7, 2})}, k, last),
             {"attention", "7 rows", "needs 9", "5 keys to slots 0 .. 4"});
  check_says(says({.pieces = {{q, k}}, .gain = ones({9, 2})}, k, {.offset = 4}),
             {"attention", "9 rows", "needs 11", "slots 0 .. 6"});
  check_says(says({.pieces = {{q, k}}, .bias = ones({9, 3})}, k, last), {"attention: bias", "(9, 3)"});
  check_says(says({.pieces = {{q, k}}, .gain = ones({8, 2}), .bias = ones({9, 2})}, k, last),
             {"attention: bias", "(9, 2)"});
  check_says(says({.pieces = {{q, k}}, .temperature = ones({2, 3, 3})}, k, last),
             {"attention: temperature", "(2, 3, 3)", "1 or H"});
  check_says(says({.pieces = {{q, k}}}, k, {.offset = -1}), {"attention", "query 0 is -1"});
  check_says(says({.pieces = {{q, k}}}, k, {.key_lengths = Ids({3}, {1, 1, 1})}),
             {"attention: key_lengths", "(3)", "(2)"});
  check_says(says({.pieces = {{q, k}}}, k, {.key_lengths = Ids({2}, {5, 6})}),
             {"attention: key_lengths[1] is 6", "0 to 5"});
  check_says(
      says({.pieces = {{q, k}}, .bias = ones({4, 2}), .pairs = Ids({1, 3, 5}, std::vector<int>(15, 4))}, k, last),
      {"attention", "row 4", "4"});
  check_says(
      says({.pieces = {{q, k}}, .bias = ones({4, 2}), .pairs = Ids({1, 5, 3}, std::vector<int>(15, 0))}, k, last),
      {"attention", "(1, 5, 3)", "(1 or 2, 3, 5)"});
  // Here too, each case fails exactly one condition.
  const auto of_pieces = [&](std::vector<Piece> pieces) { return says({.pieces = std::move(pieces)}, k, last); };
  check_says(of_pieces({{Tensor(), k}}), {"attention: q is absent with q absent and k (2, 5, 2, 8)"});
  check_says(of_pieces({{q, Tensor()}}), {"attention: q is (2, 3, 2, 8) with q (2, 3, 2, 8) and k absent"});
  check_says(of_pieces({{ones({2, 3, 16}), k}}), {"attention: q is (2, 3, 16)"});
  check_says(of_pieces({{q, ones({2, 5, 16})}}), {"and k (2, 5, 16)"});
  check_says(of_pieces({{q, ones({1, 5, 2, 8})}}), {"and k (1, 5, 2, 8)"});
  check_says(of_pieces({{q, ones({2, 5, 2, 4})}}), {"and k (2, 5, 2, 4)"});
  check_says(of_pieces({{q, k, 0}, {Tensor(), k, -far, 0}}), {"attention: q of a piece is absent"});
  check_says(of_pieces({{q, k, 0}, {ones({2, 3, 2, 4}), k, -far, 0}}), {"attention: q of a piece is (2, 3, 2, 4)"});
  check_says(of_pieces({{q, k, 0}, {q, Tensor(), -far, 0}}), {"attention: k of a piece is absent"});
  check_says(of_pieces({{q, k, 2}, {q, k, 1, 2}, {q, k, 0, 1}, {q, k, -1, 0}, {q, k, -far, -1}}),
             {"attention: 5 pieces; there must be 1 to 4"});
  check_says(says({.pieces = {{q, k}}}, {}, last), {"attention: v is absent"});
  for (const Shape& v : {Shape{2, 5, 16}, {1, 5, 2, 8}, {2, 5, 1, 8}})
    check_says(says({.pieces = {{q, k}}}, ones(v), last), {"attention: v is " + to_string(v)});
  const Tensor r = ones({9, 2, 8});
  check_says(says({.pieces = {{q, k}}, .r = r}, k, last), {"attention: q_rel is absent"});
  for (const Shape& x : {Shape{2, 3, 16}, {1, 3, 2, 8}, {2, 5, 2, 8}, {2, 3, 1, 8}})
    check_says(says({.pieces = {{q, k}}, .q_rel = ones(x), .r = r}, k, last), {"attention: q_rel is " + to_string(x)});
  for (const Shape& x : {Shape{9, 16}, {9, 1, 8}, {9, 2, 4}})
    check_says(says({.pieces = {{q, k}}, .q_rel = q, .r = ones(x)}, k, last), {"attention: r is " + to_string(x)});
  check_says(says({.pieces = {{q, k}}, .q_rel = q, .r = r}, k, last), {"no complaint"});
  check_says(says({.pieces = {{q, k}}, .bias = ones({18})}, k, last), {"attention: bias is (18)"});
  for (const Shape& x : {Shape{2, 3}, {3, 3, 2}, {2, 5, 2}})
    check_says(says({.pieces = {{q, k}}, .temperature = ones(x)}, k, last),
               {"attention: temperature is " + to_string(x)});
  for (const Shape& x : {Shape{15}, {3, 3, 5}, {1, 3, 4}})
    check_says(
        says({.pieces = {{q, k}}, .bias = ones({4, 2}), .pairs = Ids(x, std::vector<int>(size_t(size_of(x)), 0))}, k,
             last),
        {"attention: pairs is " + to_string(x)});
  check_says(says({.pieces = {{q, k}}, .scale = real(HUGE_VAL)}, k, last), {"attention: scale is inf"});
  check_says(says({.pieces = {{q, k}}, .scale = 0}, k, last), {"attention: scale is 0", "other than 0"});
  check_says(says({.pieces = {{q, k}}}, k, {.offset = far - 3}), {"attention: the slot of query 0 is"});
  check_says(says({.pieces = {{q, k}}}, k, {.key_lengths = Ids({2}, {-1, 5})}), {"attention: key_lengths[0] is -1"});
  check_says(complaint([&] { attention({}, k, last, {.q = ones({2, 8})}); }), {"attention: 0 pieces"});
  const auto biased = [&](const QueryBiases& add) {
    return complaint([&] { attention({.pieces = {{q, k}}}, k, last, add); });
  };
  check_says(complaint([&] {
               attention({.pieces = {{ones({2, 3, 16}), k}}}, k, last, {.q = ones({2, 8})});
             }),
             {"the bias of q is (2, 8) and q is (2, 3, 16)"});
  check_says(complaint([&] {
               attention({.pieces = {{Tensor(), k}}}, k, last, {.q = ones({2, 8})});
             }),
             {"the bias of q is (2, 8) and q is absent"});
  check_says(biased({.q = ones({2, 7})}), {"attention: the bias of q is (2, 7) and q is (2, 3, 2, 8)"});
  check_says(biased({.q_rel = ones({2, 8})}), {"attention: the bias of q_rel is (2, 8) and q_rel is absent"});
}

TEST_CASE("ops: an absent tensor that is needed is refused") {
  const std::string no_tensor = "tensor: an absent tensor has no values", no_ids = "ids: absent ids have no values";
  Tensor absent;
  for (const auto& op : {std::function<void()>([&] { absent.detach(); }),
                         {[&] { absent.require_grad(); }},
                         {[&] {
                           interpolate(absent, ones({2, 3}));
                         }},
                         {[&] {
                           interpolate(ones({2, 3}), absent);
                         }}})
    check_says(complaint(op), {no_tensor});
  check_says(complaint([] { gather(ones({3, 4}), Ids()); }), {no_ids});
  check_says(complaint([] { cross_entropy(ones({4}), Ids()); }), {no_ids});
}

}  // namespace poslab::test
