// Weights in the number formats of files: every 16-bit number, and linear layers on every instruction set.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/backend.h"
#include "core/error.h"
#include "core/params.h"
#include "core/platform/isa.h"
#include "core/stored_matrix.h"
#include "encodings/checks/setup.h"
#include "nn/feed_forward.h"

using namespace poslab;

namespace {

// The value of a float16, by IEEE 754's definition.
double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1 + fraction / 1024., exponent - 15) : std::ldexp(fraction / 1024., -14));
}
double brain(uint16_t bits) { return double(std::bit_cast<float>(uint32_t(bits) << 16)); }

struct EveryIsa {
  const std::string before = isa();
  ~EveryIsa() { use_isa(before); }
};

const std::vector<std::pair<StoredAs, double (*)(uint16_t)>> of_16_bits = {{StoredAs::float16, half},
                                                                           {StoredAs::bfloat16, brain}};

}  // namespace

TEST_CASE("stored: each of the 65,536 numbers in each 16-bit format has the value that its bits say") {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = uint16_t(i);
  const EveryIsa after;
  for (const std::string& name : available_isas())
    for (const auto& [as, value] : of_16_bits) {
      INFO(name);
      use_isa(name);
      const Tensor y = gather(StoredMatrix{as, all.data(), 1, 65536}, Ids({1}, {0}));
      int wrong = 0;
      for (int i = 0; i < 65536; ++i) {
        const double expected = value(uint16_t(i)), got = y.data()[i];
        wrong +=
            std::isnan(expected) ? !std::isnan(got) : expected != got || std::signbit(expected) != std::signbit(got);
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("stored: a linear layer equals one with the weights widened and transposed, for few rows and many") {
  const EveryIsa after;
  for (const std::string& name : available_isas())
    for (const auto& [in, out] : {std::pair{1, 1}, {33, 7}, {64, 96}, {70, 130}, {1100, 65}})
      for (const int rows : {1, 4, 5, 37}) {
        INFO(name, ": ", rows, " rows of ", in, " to ", out);
        use_isa(name);
        const Tensor x = checks::random_tensor({rows, in}, 1), b = checks::random_tensor({out}, 2);
        Tensor w({in, out});
        std::vector<uint16_t> bits;
        std::vector<float> whole;
        const Tensor drawn = checks::random_tensor({out, in}, 3);
        for (int o = 0; o < out; ++o)
          for (int i = 0; i < in; ++i) {
            whole.push_back(float(drawn.data()[int64_t(o) * in + i]));
            bits.push_back(uint16_t(std::bit_cast<uint32_t>(whole.back()) >> 16));
            w.data()[int64_t(i) * out + o] = real(brain(bits.back()));
          }
        const StoredMatrix narrow{StoredAs::bfloat16, bits.data(), out, in};
        CHECK(checks::difference(linear(x, narrow), linear(x, w)) < checks::tolerance);
        CHECK(checks::difference(linear(x, narrow, b), linear(x, w, b)) < checks::tolerance);
        for (int o = 0; o < out; ++o)
          for (int i = 0; i < in; ++i) w.data()[int64_t(i) * out + o] = real(whole[size_t(o) * size_t(in) + size_t(i)]);
        CHECK(checks::difference(linear(x, StoredMatrix{StoredAs::float32, whole.data(), out, in}, b),
                                 linear(x, w, b)) < checks::tolerance);
      }
}

// A float32 weight is rounded to bf16 as a parameter is. Then both layers have the same bits, because they add in the
// same order if the inner index fits one block. Weights that are stored in bf16 are not rounded again.
TEST_CASE("stored: with products in bf16 a linear layer of many rows has the bits of a layer of parameters") {
  if (sizeof(real) != sizeof(float)) return;
  const EveryIsa after;
  for (const std::string& name : available_isas())
    for (const auto& [in, out] : {std::pair{2, 1}, {33, 7}, {64, 96}, {70, 130}, {512, 65}}) {
      INFO(name, ": ", in, " to ", out);
      use_isa(name);
      const Tensor x = checks::random_tensor({37, in}, 1), b = checks::random_tensor({out}, 2),
                   w = checks::random_tensor({in, out}, 3);
      std::vector<float> whole;
      for (int o = 0; o < out; ++o)
        for (int i = 0; i < in; ++i) whole.push_back(float(w.data()[int64_t(i) * out + o]));
      const StoredMatrix stored{StoredAs::float32, whole.data(), out, in};
      const Tensor exact = linear(x, stored, b);
      const MatmulPrecision as(Device::cpu, Rounding::bf16);
      const Tensor rough = linear(x, stored, b);
      CHECK(rough.values() == linear(x, w, b).values());
      CHECK(rough.values() != exact.values());
      CHECK(checks::difference(rough, exact) < 0.02);
    }
  std::vector<float> one(64 * 1100, 1.f);  // the inner index has three blocks: 1100 = 512 + 512 + 76
  const MatmulPrecision as(Device::cpu, Rounding::bf16);
  const Tensor sums = linear(Tensor::full({9, 1100}, 1), StoredMatrix{StoredAs::float32, one.data(), 64, 1100});
  for (const real sum : sums.values()) CHECK(sum == 1100);
}

TEST_CASE("stored: a feed-forward network on a long text, computed in parts, equals a network of parameters") {
  const NoGrad no_grad;
  const auto at = [](const Params& p, const char* name) {  // transposed, as in files
    const Tensor &w = p.at(name), rows = transpose(w);
    return std::vector<float>(rows.data(), rows.data() + rows.size());
  };
  const int C = 4, d_ff = 6;
  for (const bool gated : {false, true}) {
    Params own(5);
    const FeedForwardSpec spec{C, d_ff, gated, Activation::silu};
    const FeedForward of_parameters(own, spec);
    std::map<std::string, std::vector<float>> files;
    for (const Params::Entry& e : own.entries()) files[e.name] = at(own, e.name.c_str());
    const Params::StoredWeights stored = [&](const std::string& name, int rows, int columns) {
      return StoredMatrix{StoredAs::float32, files.at(name).data(), rows, columns};
    };
    const FeedForward of_files(Params{stored}, spec);
    for (const int T : {1, 1023, 1024, 1025, 2048, 2500, 3072}) {  // one part has 1024 slots
      INFO(T);
      const Tensor x = checks::random_tensor({2, T, C}, 1), y = of_files(x);
      CHECK(y.shape() == x.shape());
      CHECK(checks::difference(y, of_parameters(x)) < (sizeof(real) == 8 ? 1e-6 : checks::tolerance));
    }
  }
}

TEST_CASE("stored: arguments that do not fit are refused") {
  const std::vector<float> w(6, 1.f);
  const StoredMatrix m{StoredAs::float32, w.data(), 2, 3};
  CHECK_THROWS_WITH_AS(linear(Tensor::full({1, 2}, 1), m),
                       "linear: x is (1, 2), the stored w (2, 3), b absent; they must be (..., in), (out, in), (out)",
                       BadInput);
  CHECK_THROWS_WITH_AS(linear(Tensor::full({1, 3}, 1), m, Tensor::full({3}, 1)),
                       "linear: x is (1, 3), the stored w (2, 3), b (3); they must be (..., in), (out, in), (out)",
                       BadInput);
  CHECK_THROWS_WITH_AS(gather(m, Ids({1}, {2})), "gather: row 2 of a table of 2 rows", BadInput);
  CHECK_THROWS_WITH_AS(gather(m, Ids({1}, {-1})), "gather: row -1 of a table of 2 rows", BadInput);
  Tensor x = Tensor::full({1, 3}, 1);
  x.require_grad();
  CHECK_THROWS_AS(linear(x, m), BadInput);
  const Params given([&](const std::string&, int, int) { return m; });
  CHECK(given.stored("w", 2, 3).columns == 3);
  CHECK_THROWS_AS(given.full("w", {2, 3, 1}, 0), BadInput);
}

TEST_CASE("attention: a sliding window masks keys in fused and composed attention, however it is cut into pieces") {
  for (const char* name : {"none", "rope", "rerope:window=3", "rerope:window=4,leaky=8", "alibi"})
    for (const int window : {1, 2, 3, 5, 64}) {
      INFO(name, " ", window);
      const checks::Setup setup{
          choose_encoding(name, trained_on(1024)), {2, 4, 16, true, 64, 0}, "plain", choose_sampler("sequential"),
          Resample::per_forward};
      const checks::Model model(setup);
      const PositionSample draw = setup.draw(64, 9);
      const Positions& p = draw.at_layer(1);
      const Tensor q = checks::random_tensor({2, 9, 4, 4}, 1), k = checks::random_tensor({2, 9, 4, 4}, 2),
                   v = checks::random_tensor({2, 9, 4, 4}, 3);
      const Heads in{q, k, checks::random_tensor({2, 9, 16}, 4)};
      const Span span{.causal = true, .window = window}, all{.causal = true};
      const Tensor seen = model->logits(in, p, span), every = model->logits(in, p, all);
      for (int i = 0; i < 9; ++i)
        for (int j = 0; j < 9; ++j) {
          const real s = seen.data()[i * 9 + j], e = every.data()[i * 9 + j];
          CHECK(s == (i - j < window ? e : -INFINITY));
        }
      // weights: a softmax over the keys seen
      const Tensor o = model->attend(in, v, p, span);
      const Tensor expected = permute(matmul(softmax(seen), permute(v, {0, 2, 1, 3})), {0, 2, 1, 3});
      CHECK(checks::difference(o, expected) < checks::tolerance);
    }
}
