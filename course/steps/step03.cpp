// Step 3: softmax and cross-entropy. core/cpu/softmax.cpp, core/cpu/cross_entropy.cpp
#include <numeric>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "check.h"

using namespace poslab;
using namespace course;

namespace {

const Shape shape = {2, 3};
const Values x = {1, 2, 4, -1, 0.5, 0}, w = {1, -2, 3, 0.5, 4, -1};
constexpr int rows = 2, n = 3;

Values exponentials(const Values& of) {
  Values e(of.size());
  std::transform(of.begin(), of.end(), e.begin(), [](double v) { return std::exp(v); });
  return e;
}
double sum(const Values& of, int from, int count) {
  return std::accumulate(of.begin() + from, of.begin() + from + count, 0.);
}
Values each(const std::function<double(int i, int j, int at)>& f) {
  Values y;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < n; ++j) y.push_back(f(i, j, i * n + j));
  return y;
}
Values softmax_of(const Values& of) {
  const Values e = exponentials(of);
  return each([&](int i, int, int at) { return e[size_t(at)] / sum(e, i * n, n); });
}
Tensor leaf(const Values& all) { return Tensor::from(shape, all).require_grad(); }

// A leaf that had a gradient of 100s before it was cleared.
Tensor cleared_leaf(const Values& all) {
  const Tensor in = leaf(all);
  std::fill_n(in.grad_accumulator().at, in.size(), real(100));
  in.clear_grad();
  return in;
}
Mistake added_to_old(Values gives) {
  for (double& v : gives) v += 100;
  return {"+= is used although dx was empty, so its memory holds anything; use = there", gives};
}

}  // namespace

CASE("softmax of a row") {
  const Values e = exponentials(x);
  const double all = sum(e, 0, rows * n);
  check("y_ij = exp(x_ij) / sum_k exp(x_ik)", softmax(Tensor::from(shape, x)), softmax_of(x),
        {{"it is not divided by the sum of its row", e},
         {"it is not divided by the sum of its row",
          each([&](int i, int, int at) { return std::exp(x[size_t(at)] - (i == 0 ? 4 : 0.5)); })},
         {"the sum runs over the whole tensor; each row should have its own",
          each([&](int, int, int at) { return e[size_t(at)] / all; })},
         {"the sum runs down the columns; it should run along a row",
          each([&](int, int j, int at) { return e[size_t(at)] / (e[size_t(j)] + e[size_t(j + n)]); })},
         {"the first row alone is computed right: is the pointer moved by n for each row?",
          each([&](int, int j, int) { return e[size_t(j)] / sum(e, 0, n); })},
         {"exp is missing: x_ij / sum_k x_ik",
          each([&](int i, int, int at) { return x[size_t(at)] / sum(x, i * n, n); })}});
}

CASE("softmax of large numbers") {
  const Values large = {1000, 1001, 1003, -1001, -999.5, -1000};
  check(
      "exp(x - max) / sum exp(x - max), which is the same and never overflows", softmax(Tensor::from(shape, large)),
      softmax_of(x),
      {{"exp(1000) is infinite: subtract the row's largest number first",
        each([](int, int, int) { return std::nan(""); })},
       {"exp(1000) is infinite: subtract the row's largest number first",
        each([&](int i, int, int at) { return i == 0 ? std::nan("") : softmax_of(x)[size_t(at)]; })},
       {"a number above the row's largest is subtracted; exp(-2003) is 0, and 0 / 0 is no number. Each row has its "
        "own largest, which may be below 0",
        each([&](int i, int, int at) { return i == 1 ? std::nan("") : softmax_of(x)[size_t(at)]; })}});
  const Values middle = {-1000, 0, -1000, 1000, 2000, 1000};
  check("the same, where the largest number is in the middle", softmax(Tensor::from(shape, middle)), {0, 1, 0, 0, 1, 0},
        {{"exp(1000) is infinite: subtract the row's largest number, not its first or last one", not_finite}});
}

CASE("the derivative of softmax") {
  clear_tape();
  const Tensor in = cleared_leaf(x);
  backward(sum_all(softmax(in) * Tensor::from(shape, w)));
  const Values y = softmax_of(x);
  const auto dot = [&](int i) {
    double s = 0;
    for (int k = 0; k < n; ++k) s += w[size_t(i * n + k)] * y[size_t(i * n + k)];
    return s;
  };
  const Values expected = each([&](int i, int, int at) { return y[size_t(at)] * (w[size_t(at)] - dot(i)); });
  check("dx_ij = y_ij (dy_ij - sum_k dy_ik y_ik)", in.grad(), expected,
        {added_to_old(expected),
         {"the sum over the row is missing: all y of a row depend on each x of it",
          each([&](int, int, int at) { return y[size_t(at)] * w[size_t(at)]; })},
         {"that is the slope of a sigmoid, y (1 - y) dy: the other places of the row are missing",
          each([&](int, int, int at) { return y[size_t(at)] * (1 - y[size_t(at)]) * w[size_t(at)]; })},
         {"the factor y_ij is missing", each([&](int i, int, int at) { return w[size_t(at)] - dot(i); })},
         {"the sum has no y in it: it is sum_k dy_ik y_ik",
          each([&](int i, int, int at) { return y[size_t(at)] * (w[size_t(at)] - sum(w, i * n, n)); })},
         {"the sum goes on from row to row; it should begin at 0 in each row",
          each([&](int i, int, int at) { return y[size_t(at)] * (w[size_t(at)] - dot(0) - (i ? dot(1) : 0)); })},
         {"it is the sum of the dy_ik y_ik, not their mean",
          each([&](int i, int, int at) { return y[size_t(at)] * (w[size_t(at)] - dot(i) / n); })}});
}

CASE("the derivative of softmax is added to an earlier gradient") {
  clear_tape();
  const Tensor in = leaf(x);
  const Tensor first = sum_all(softmax(in) * Tensor::from(shape, w)), later = sum_all(in);  // its gradient comes first
  backward(first + later);
  const Tensor alone = leaf(x);
  backward(sum_all(softmax(alone) * Tensor::from(shape, w)));
  Values both = values(alone.grad()), only = both;
  for (double& v : both) v += 1;
  check("dx += ..., but dx = ... where dx.empty", in.grad(), both,
        {{"= in place of +=: the earlier gradient of x is overwritten", only}});
}

namespace {

constexpr int right[] = {2, 0};  // the answers of both rows
Ids targets() { return Ids({2}, {2, 0}); }
double loss_of(const Values& of, int i, int target) {
  return std::log(sum(exponentials(of), i * n, n)) - of[size_t(i * n + target)];
}

}  // namespace

CASE("cross-entropy of two rows") {
  const Tensor loss = cross_entropy(Tensor::from(shape, x), targets());
  const double a = loss_of(x, 0, 2), b = loss_of(x, 1, 0);
  check("loss = mean_i (ln sum_j exp(x_ij) - x_i,target)", double(loss.item()), (a + b) / 2,
        {{"it is the sum over the rows; it should be their mean", {a + b}},
         {"the sum is divided by the number of classes; it should be the mean over rows", {(a + b) / n}},
         {"the sign is reversed: the loss is -ln p", {-(a + b) / 2}},
         {"the logarithm is to base 2; it should be the natural one", {(a + b) / 2 / std::log(2.)}},
         {"the target is read from the first row; it should be the target of its own row, x[i n + target_i]",
          {(a + b + x[3] - x[0]) / 2}},
         {"it is the last row alone", {b}},
         {"it is the first row alone", {a}},
         {"the mean of p at the target; its logarithm is missing", {(std::exp(-a) + std::exp(-b)) / 2}}});
}

CASE("cross-entropy of large numbers") {
  const Values large = {1000, 1001, 1003, -1001, -999.5, -1000};
  const double expected = (loss_of(x, 0, 2) + loss_of(x, 1, 0)) / 2;
  check("ln sum_j exp(x_ij - max) - (x_i,target - max)",
        double(cross_entropy(Tensor::from(shape, large), targets()).item()), expected,
        {{"exp(1000) is infinite: subtract the row's largest number first", {std::nan("")}},
         {"exp(1000) is infinite: subtract the row's largest number first", {INFINITY}},
         {"the largest number is subtracted in the sum and not at the target", {expected - 1003 / 2. + 999.5 / 2}}});
  const Values sure = {0, 0, 200, -200, 0, 0};
  check(
      "a row that is confident and wrong has a large loss, but not an infinite one",
      double(cross_entropy(Tensor::from(shape, sure), Ids({2}, {0, 0})).item()), (200 + 200 + std::log(2.)) / 2,
      {{"the logarithm is taken of a p that is 0: compute ln sum exp - x instead", {INFINITY}},
       {"a small number is added to a p that is 0, which limits the loss: compute ln sum exp - x instead",
        {std::log(1e9)}}});
}

CASE("the derivative of cross-entropy") {
  clear_tape();
  const Tensor in = cleared_leaf(x);
  backward(cross_entropy(in, targets()) * 3);
  const Values p = softmax_of(x);
  const auto slope = [&](double factor, bool one) {
    return each([&](int i, int j, int at) { return factor * (p[size_t(at)] - (one && j == right[i] ? 1 : 0)); });
  };
  check("dx_ij = dloss (p_ij - [j = target_i]) / rows", in.grad(), slope(1.5, true),
        {added_to_old(slope(1.5, true)),
         {"the loss is a mean: divide by the number of rows", slope(3, true)},
         {"dloss is missing: the loss may be multiplied by something", slope(0.5, true)},
         {"the 1 at the target is missing", slope(1.5, false)},
         {"it is divided by the number of classes; it should be the number of rows", slope(1, true)},
         {"p is not divided by its sum: the forward pass has to do that", each([&](int i, int j, int at) {
            const double top = i == 0 ? 4 : 0.5;
            return 1.5 * (std::exp(x[size_t(at)] - top) - (j == right[i] ? 1 : 0));
          })},
         {"the target is that of the first row; it should be the target of its own row, dx[i n + target_i]",
          each([&](int i, int j, int at) { return 1.5 * (p[size_t(at)] - (i == 0 && j != 1 ? 1 : 0)); })},
         {"the sign is reversed: it is p - 1 at the target", slope(-1.5, true)},
         {"the 1 at the target has to be multiplied by dloss / rows as well",
          each([&](int i, int j, int at) { return 1.5 * p[size_t(at)] - (j == right[i] ? 1 : 0); })}});
}

CASE("the derivative of cross-entropy is added to an earlier gradient") {
  clear_tape();
  const Tensor in = leaf(x), alone = leaf(x);
  const Tensor first = cross_entropy(in, targets()), later = sum_all(in);  // its gradient comes first
  backward(first + later);
  backward(cross_entropy(alone, targets()));
  Values both = values(alone.grad()), only = both;
  for (double& v : both) v += 1;
  check("dx += ..., but dx = ... where dx.empty", in.grad(), both,
        {{"= in place of +=: the earlier gradient of x is overwritten", only}});
}
