// The row statistics of every scheme against its full weights and logits, and how a model captures them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "nn/transformer.h"
#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// max a and -sum a ln a; if there are logits, also their maximum, mean and variance. (B, H, T, 5)
Tensor written_out(const Tensor& a, const Tensor& s) {
  Tensor y({a.dim(0), a.dim(1), a.dim(2), statistics_per_row});
  const int keys = a.dim(3);
  for (int64_t row = 0; row < y.rows(); ++row) {
    double most = 0, entropy = 0, top = -INFINITY, sum = 0, squares = 0, count = 0;
    for (int j = 0; j < keys; ++j) {
      const double e = double(a.data()[row * keys + j]), x = s ? double(s.data()[row * keys + j]) : -INFINITY;
      most = std::max(most, e), entropy -= e > 0 ? e * std::log(e) : 0;
      if (x > -INFINITY) top = std::max(top, x), sum += x, squares += x * x, count += 1;
    }
    const double mean = count ? sum / count : 0,
                 all[] = {most, entropy, count ? top : 0, mean, count ? squares / count - mean * mean : 0};
    for (int n = 0; n < statistics_per_row; ++n) y.data()[row * statistics_per_row + n] = real(all[n]);
  }
  return y;
}

// The largest error of the first `n` numbers, relative to the number if that is above 1; infinite if one is NaN.
double off(const Tensor& a, const Tensor& b, int n) {
  double worst = 0;
  for (int64_t row = 0; row < a.rows(); ++row)
    for (int64_t e = row * statistics_per_row; e < row * statistics_per_row + n; ++e) {
      const double x = double(a.data()[e]), y = double(b.data()[e]);
      const double error = std::abs(x - y) / (1 + std::abs(y));
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  return worst;
}

}  // namespace

TEST_CASE("attention statistics: every scheme's equal those computed from its weights and logits") {
  int with_logits = 0;
  for (const bool causal : {false, true})
    for (const Setup& setup : setups(causal)) {
      if (setup.variant != "plain") continue;
      CAPTURE(setup.name());
      const Model model(setup);
      const Content content;
      const PositionSample draw = setup.draw();
      const Positions& p = draw.at_layer(1);
      const Span span{.causal = causal};
      const Heads heads = content.heads(model, draw.at_embedding());
      const Tensor found = model->statistics(heads, p, span), a = model->weights(heads, p, span);
      const std::vector<real> all = found.values();
      const bool logits = std::none_of(all.begin(), all.end(), [](real x) { return std::isnan(x); });
      const Tensor expected = written_out(a, logits ? model->logits(heads, p, span) : Tensor());
      CHECK(off(found, expected, 2) < 1e-4);
      if (!logits) continue;
      // A bias that hides a pair still counts in the mean and the variance (docs/align.md).
      const bool hides =
          setup.name().find("hard_alibi") != std::string::npos || setup.name().find("calibrated") != std::string::npos;
      bool counts = false;
      for (int64_t row = 0; row < found.rows(); ++row) counts |= found.data()[row * statistics_per_row + 4] > 1e6;
      CHECK(counts == hides);
      CHECK(off(found, expected, hides ? 3 : statistics_per_row) < 1e-4);
      if (!hides) ++with_logits;
    }
  CHECK(with_logits > 100);
}

TEST_CASE("attention statistics: a trace captures them, and logits of the last queries") {
  const Params params(5);
  const Transformer net(params, {.layers = 2, .heads = 2, .d_model = 16, .encoding = choose_encoding("alibi")});
  params.pack();
  std::vector<double> slots(9);
  for (size_t n = 0; n < slots.size(); ++n) slots[n] = double(n);
  const PositionSample positions(choose_sampler("sequential"), Resample::per_forward, {0, 1, 2}, 3, 9);
  Trace trace({"block1.attention.*"});
  trace.queries = 4;
  net(Ids({3, 9}, std::vector<int>(27, 1)), 9, {positions, {}, &trace});
  const Tensor &a = trace.captured.at("block1.attention.weights"), &s = trace.captured.at("block1.attention.logits");
  REQUIRE(s.shape() == Shape{3, 2, 4, 9});
  const Tensor last = slice(a, 2, 5, 9);
  CHECK(off(slice(trace.captured.at("block1.attention.statistics"), 2, 5, 9), written_out(last, s), 5) < 1e-4);
}
