// A result below the smallest normal number costs Intel's processors about 150 cycles a vector. The processor's
// underflow flag reports such a result in any lane, even in lanes after a row's end, which no tensor shows.
#include <doctest/doctest.h>

#include <cfenv>
#include <cmath>
#include <limits>

#include "autograd/tape.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "nn/adam.h"
#include "tests/op_cases/op_case.h"

namespace poslab::test {
namespace {

const auto floats_alone = doctest::skip(sizeof(real) != sizeof(float));      // double kernels allow subnormals

// Numbers near -200, 0 or 200: minus the row's maximum, their exponentials are 0 or near 1, and no product underflows.
Tensor wide(const Shape& shape, uint32_t site) {
  Tensor x(shape);
  const std::vector<int> steps = random_ids(x.size(), 9, site);
  for (int64_t e = 0; e < x.size(); ++e) {
    const int step = steps[size_t(e)], third = step / 3;
    x.data()[e] = real(200 * (step % 3 - 1) + third);
  }
  return x;
}
Tensor ones_and_more(const Shape& shape, uint32_t site) {
  Tensor x(shape);
  const std::vector<int> steps = random_ids(x.size(), 17, site);
  for (int64_t e = 0; e < x.size(); ++e) x.data()[e] = real(1 + 0.1 * steps[size_t(e)]);
  return x;
}

// Whether op on x, or its gradient, underflows in this thread.
bool underflows(Tensors x, const std::function<Tensor(const Tensors&)>& op, bool differentiable = true) {
  if (differentiable)
    for (Tensor& xi : x) xi.require_grad();
  std::feclearexcept(FE_ALL_EXCEPT);
  const Tensor y = op(x);
  const bool forward = std::fetestexcept(FE_UNDERFLOW);
  if (!differentiable) return forward;
  const Tensor loss = sum_all(y * ones_and_more(y.shape(), 3));
  std::feclearexcept(FE_ALL_EXCEPT);
  backward(loss);
  return forward || std::fetestexcept(FE_UNDERFLOW);
}

}  // namespace

TEST_CASE("no lane, masked or not, gives a subnormal number: attention, softmax, cross_entropy, geometric" *
          floats_alone) {
  const std::string set_before = isa();
  const int threads_before = threads();
  set_threads(1);
  volatile real tiny = std::numeric_limits<real>::min();
  std::feclearexcept(FE_ALL_EXCEPT);
  tiny = tiny * real(0.3);
  CHECK(std::fetestexcept(FE_UNDERFLOW));   // the flag works
  for (const std::string& set : available_isas()) {
    use_isa(set);
    for (int n = 1; n <= 66; ++n) {
      INFO("rows of " << n << " on " << set);
      const Tensor x = wide({3, n}, 5);
      CHECK(!underflows({x}, [](auto& t) { return softmax(t[0]); }));
      CHECK(!underflows({x}, [&](auto& t) { return cross_entropy(t[0], Ids({3}, random_ids(3, n, 7))); }));
      for (const bool causal : {false, true}) {
        const Span span{.causal = causal};
        const Tensors sides = {wide({1, 2, n, n}, 9), wide({1, 2, n, 2}, 11)};
        if (n <= 50)   // with more factors the product itself may underflow
          CHECK(!underflows(sides, [=](auto& t) { return geometric(t[0], t[1], span); }));
        // channel 0 of the queries is 1 and the others 0, so the logits are channel 0 of the keys plus the bias
        const auto queries_and_keys = [&](int D) {
          Tensor q = Tensor::full({1, n, 2, D}, 0), k = ones_and_more({1, n, 2, D}, 13);
          const Tensor logits = wide({n, 2}, 15);
          for (int e = 0; e < 2 * n; ++e) q.data()[D * e] = 1, k.data()[D * e] = logits.data()[e];
          return std::pair{q, k};
        };
        const auto scores = [](const Tensors& t) {
          const Tensor bias = t.size() > 3 ? t[3] : Tensor();
          return Scores{.pieces = {{t[0], t[1]}}, .bias = bias};
        };
        for (const auto& [bias, D] : {std::pair{false, 8}, {true, 8}, {false, 16}}) {
          const auto [q, k] = queries_and_keys(D);
          Tensors t = {q, k, ones_and_more({1, n, 2, D}, 17)};
          if (bias) t.push_back(wide({2 * n - 1, 2}, 19));
          CHECK(!underflows(t, [=](auto& t) { return attention(scores(t), t[2], span); }));
          CHECK(!underflows(t, [=](auto& t) { return attention_weights(scores(t), span); }, false));
        }
      }
    }
  }
  use_isa(set_before);
  set_threads(threads_before);
}

TEST_CASE("no subnormal moments in Adam: gradients that became zero, and tiny ones" * floats_alone) {
  const std::string set_before = isa();
  const int threads_before = threads();
  set_threads(1);
  for (const std::string& set : available_isas()) {
    use_isa(set);
    const Params p(1);
    p.full("w", {100}, 1);
    p.pack();
    Adam adam(p, 1e-3);
    std::feclearexcept(FE_ALL_EXCEPT);
    for (; adam.step < 2000; ++adam.step) {
      for (int e = 0; e < 100; ++e)
        p.grads()[e] = adam.step == 0 ? real(1e-3) : e % 2 ? real(std::pow(10., -e / 3)) : 0;
      adam.update(p);
    }
    INFO("on " << set);
    CHECK(!std::fetestexcept(FE_UNDERFLOW));
    CHECK(adam.m.data()[0] == 0);
  }
  use_isa(set_before);
  set_threads(threads_before);
}

#ifndef POSLAB_DOUBLE
TEST_CASE("exp: exactly zero where the result would be subnormal, accurate elsewhere, and NaN stays NaN" *
          floats_alone) {
  const std::string before = isa();
  for (const std::string& set : available_isas()) {
    INFO("on " << set);
    use_isa(set);
    const Tensor y = exp(Tensor::from<real>({6}, {-87.32f, -87.34f, -104, -1e30f, -INFINITY, NAN}));
    CHECK(y.data()[0] == doctest::Approx(std::exp(-87.32)).epsilon(1e-6));
    CHECK(y.data()[0] >= std::numeric_limits<real>::min());
    for (int i = 1; i < 5; ++i) CHECK(y.data()[i] == 0);
    CHECK(std::isnan(y.data()[5]));
  }
  use_isa(before);
}
#endif

}  // namespace poslab::test
