// Rotations by learned angles, or by angles that depend on content: golden values, the schemes that they equal in the
// limit, and their refusals.
#include <doctest/doctest.h>

#include <numbers>

#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

namespace {

const ModelShape shape{layers, H, C, false, 24, 0}, causal{layers, H, C, true, 24, 0};

void set_one(const Model& m, const std::string& name, int row, int column, double value) {
  const Tensor& x = m.params.at("encoding.layer1." + name);
  x.data()[row * x.dim(-1) + column] = real(value);
}

// Copies the parameters of `from` into `to`, which may have additional ones.
void copy(const Model& from, const Model& to) {
  for (const Params::Entry& e : from.params.entries())
    std::copy_n(e.tensor.data(), e.tensor.size(), to.params.at(e.name).data());
}

Positions at(const std::vector<double>& p) { return Positions::of_tokens(1, p); }
const std::vector<double> places = {0, 3, 4.5, 100, 1999, 2047};

// One sequence, in which all queries and keys are the same: channel c of each head is 1.
Heads one_channel(const Tensor& x, int c) {
  Tensor q = Tensor::full({1, x.dim(1), H, D}, 0);
  for (int64_t n = 0; n < q.size(); n += D) q.data()[n + c] = 1;
  return {q, q, x, x};
}
Tensor states(const std::vector<std::vector<double>>& slots) {   // (1, T, C); zeros follow the given numbers
  Tensor x = Tensor::full({1, int(slots.size()), C}, 0);
  for (size_t t = 0; t < slots.size(); ++t)
    for (size_t c = 0; c < slots[t].size(); ++c) x.data()[int64_t(t) * C + int64_t(c)] = real(slots[t][c]);
  return x;
}
Tensor logits_of(const Model& m, const Heads& in, const Positions& p = at({0, 1, 2, 3, 4, 5}), bool mask = false) {
  return m->logits(in, p, {.causal = mask});
}
Tensor random_logits(const Model& m, const Positions& p = at({0, 1, 2, 3, 4, 5}), bool mask = false) {
  return logits_of(m, Content().heads(m, p), p, mask);
}
double number(const Tensor& s, int head, int i, int j) {
  return double(s.data()[(int64_t(head) * s.dim(2) + i) * s.dim(3) + j]);
}

}  // namespace

TEST_CASE("carope: f(0) = 0.590616, and pair m turns by its m-th power in each slot") {
  const Model model(choose_encoding("carope"), shape);
  const Tensor nothing = Tensor::full({1, T, C}, 0);
  for (const int m : {1, 2}) {
    const Tensor s = logits_of(model, one_channel(nothing, m - 1));
    for (int i = 0; i < T; ++i)
      for (int j = 0; j < T; ++j)
        CHECK(2 * number(s, 1, i, j) == doctest::Approx(std::cos((i - j) * std::pow(0.590616, m))).epsilon(1e-5));
  }
}

TEST_CASE("selective_rope: where each token adds the same angle it is RoPE") {
  const Positions p = at({0, 1, 2, 3, 4, 5});
  const Tensor expected = random_logits(Model(choose_encoding("rope:pairing=half"), shape), p);
  for (const char* how : {"bias,base=10000", "bias,skip_conv,base=10000"}) {
    const Model model(choose_encoding(std::string("selective_rope:") + how), shape);
    set(model, "up", 0);
    CHECK(difference(random_logits(model, p), expected) < tolerance);
    set(model, "bias", std::log(2.));
    CHECK(difference(random_logits(model, p), expected) > 1e-3);
  }
  // Each 1 adds half a turn: the sign is the parity of the ones between two slots.
  const Model parity(choose_encoding("selective_rope:skip_conv,gate,bias,base=1,rank=1"), shape);
  set(parity, "up", 0), set(parity, "gate", 0), set(parity, "bias", std::log(std::numbers::pi));
  for (int h = 0; h < H; ++h) set_one(parity, "gate", 0, h, 100);
  set(parity, "gate_b", -50);
  const Tensor s = logits_of(parity, one_channel(states({{1}, {0, 1}, {1}, {1}, {0, 1}}), 0), at({0, 1, 2, 3, 4}));
  const double row3[] = {1, 1, -1, 1}, row4[] = {1, 1, -1, 1, 1};
  for (int j = 0; j < 4; ++j) CHECK(2 * number(s, 0, 3, j) == doctest::Approx(row3[j]).epsilon(1e-4));
  for (int j = 0; j < 5; ++j) CHECK(2 * number(s, 0, 4, j) == doctest::Approx(row4[j]).epsilon(1e-4));
}

TEST_CASE("path: parity in one head (bits 1 0 1 1 0), by beta and by reflections") {
  const std::vector<std::vector<double>> golden = {{1}, {1, 1}, {-1, -1, 1}, {1, 1, -1, 1}, {1, 1, -1, 1, 1}};
  const auto check = [&](const Tensor& s) {
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j <= i; ++j)
        CHECK(2 * number(s, 2, i, j) == doctest::Approx(golden[size_t(i)][size_t(j)]).epsilon(1e-5));
  };
  const Heads bits = one_channel(states({{1, 0}, {0, 1}, {1, 0}, {1, 0}, {0, 1}}), 0);
  const auto directions = [&](const Model& m, int of_zero) {   // a bit 1 uses the first channel
    for (const char* name : {"down", "up", "conv"}) set(m, name, 0);
    set_one(m, "down", 0, 0, 10), set_one(m, "down", 1, 1, 10);
    for (int h = 0; h < H; ++h) {
      set_one(m, "up", 0, h * D, 1), set_one(m, "up", 1, h * D + of_zero, 1);
      for (int d = 0; d < D; ++d) set_one(m, "conv", 0, h * D + d, 1);
    }
  };
  const Model free(choose_encoding("path"), causal), reflecting(choose_encoding("path:reflect"), causal);
  directions(free, 0);
  set(free, "v", 0), set(free, "b", -50);
  for (int h = 0; h < H; ++h) set_one(free, "v", 0, h, 100);
  check(logits_of(free, bits, at({0, 1, 2, 3, 4}), true));
  directions(reflecting, 1);
  check(logits_of(reflecting, bits, at({0, 1, 2, 3, 4}), true));
}

TEST_CASE("path: beta = 0 is NoPE; beta = 2 equals reflect, which turns queries and keys") {
  const Positions p = at({0, 1, 2, 3, 4, 5});
  const Model free(choose_encoding("path"), causal), reflecting(choose_encoding("path:reflect"), causal);
  copy(reflecting, free);
  set(free, "v", 0), set(free, "b", -100);
  CHECK(difference(random_logits(free, p, true), random_logits(Model(choose_encoding("none"), causal), p, true)) <
        tolerance);
  set(free, "b", 100);
  CHECK(difference(random_logits(free, p, true), random_logits(reflecting, p, true)) <
        1e-3);  // |w|^2 is off by 1e-6 / |y|^2
}

TEST_CASE("path: the released code divides the gate by sqrt(D), as it does the products") {
  const Positions p = at({0, 1, 2, 3, 4, 5});
  const Model plain(choose_encoding("path"), causal);
  const Tensor without = random_logits(plain, p);
  for (const auto& [how, factor] : {std::pair{"path:gate=paper", 1.}, {"path:gate=released", 0.5}}) {
    const Model model(choose_encoding(how), causal);
    copy(plain, model);
    set(model, "u", 0), set(model, "c", 0);   // each slot adds ln sigmoid(0)
    const Tensor with = random_logits(model, p);
    for (int i = 0; i < T; ++i)
      for (int j = 0; j <= i; ++j)
        CHECK(number(with, 3, i, j) - number(without, 3, i, j) ==
              doctest::Approx((i - j) * std::log(0.5) * factor).epsilon(1e-4));
  }
}

TEST_CASE("pope: the formula, at any positions and learned angles") {
  const Model model(choose_encoding("pope"), shape);
  const Heads in = Content().heads(model, at(places));
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const auto largest_error = [&](double delta) {
    set(model, "delta", delta);
    const Tensor s = model->logits(in, at(places), {});
    double most = 0;
    for (int i = 0; i < T; ++i)
      for (int j = 0; j < T; ++j) {
        double expected = 0;
        for (int m = 0; m < D; ++m)
          expected += softplus(double(in.q.data()[(i * H + 1) * D + m])) *
                      softplus(double(in.k.data()[(j * H + 1) * D + m])) *
                      std::cos((places[size_t(j)] - places[size_t(i)]) * std::pow(10000., -double(m) / D) + delta) / 2;
        most = std::max(most, std::abs(number(s, 1, i, j) - expected));
      }
    return most;
  };
  CHECK(largest_error(0) < 3 * tolerance);
  CHECK(largest_error(-1) < 3 * tolerance);
  CHECK(largest_error(-2 * std::numbers::pi) < 3 * tolerance);
}

TEST_CASE("learned frequencies: RoPE before training, at any position; doubled, they are RoPE at twice the positions") {
  const Model rope(choose_encoding("rope:pairing=half"), shape);
  const Tensor once = random_logits(rope, at(places));
  std::vector<double> twice = places;
  for (double& p : twice) p *= 2;
  for (const auto& [how, name, two] : {std::tuple{"lerope", "a", 2.}, {"lerope:per_head", "a", 2.},
                                       {"grape", "o", std::log(2.)}}) {
    CAPTURE(how);
    const Model model(choose_encoding(how), shape);
    CHECK(difference(random_logits(model, at(places)), once) < tolerance);
    set(model, name, two);
    CHECK(difference(random_logits(model, at(places)), random_logits(rope, at(twice))) <
          1e-3);  // in float, at angles up to 4094 radians
  }
}

TEST_CASE("grape: without content a is ALiBi times 2 ln 2, ap times ln 2; with turns=both ap ignores a shift") {
  const double slope[] = {0.25, 0.0625, 0.015625, 0.00390625};
  const std::vector<double> p = {0, 1, 3, 4, 8, 9};
  const Heads nothing{Tensor::full({1, T, H, D}, 0), Tensor::full({1, T, H, D}, 0), Tensor::full({1, T, C}, 0),
                      Tensor::full({1, T, C}, 0)};
  const Tensor a = logits_of(Model(choose_encoding("grape:form=a"), causal), nothing, at(p)),
               ap = logits_of(Model(choose_encoding("grape:form=ap"), causal), nothing, at(p));
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < T; ++i)
      for (int j = 0; j <= i; ++j) {
        const double distance = p[size_t(i)] - p[size_t(j)];
        CHECK(number(a, h, i, j) == doctest::Approx(-distance * slope[h] * 2 * std::log(2.)).epsilon(1e-5));
        CHECK(number(ap, h, i, j) == doctest::Approx(-(i - j) * slope[h] * std::log(2.)).epsilon(1e-5));
      }
  for (const auto& [turns, moves] : {std::pair{"keys", true}, {"both", false}}) {
    const Model model(choose_encoding(std::string("grape:form=ap,turns=") + turns), causal);
    const double by = difference(random_logits(model), random_logits(model, at({7, 8, 9, 10, 11, 12})));
    CHECK((moves ? by > 1e-4 : by < tolerance));
  }
}

TEST_CASE("grape:form=a: positions that begin at a million give the logits of those that begin at 0") {
  const Model model(choose_encoding("grape:form=a"), causal);
  std::vector<double> far = places;
  for (double& p : far) p += 1e6;
  const Tensor near = random_logits(model, at(places)), there = random_logits(model, at(far));
  CHECK(difference(there, near) < 10 * tolerance);
}

TEST_CASE("hope_hyp: boosts add up, and far positions overflow nothing") {
  const Model model(choose_encoding("hope_hyp:decay=1.25"), shape);
  const auto at_distance = [&](double d, int channel) {   // f = 1 and 0.01
    return 2 * number(logits_of(model, one_channel(Tensor::full({1, 2, C}, 0), channel), at({0, d})), 0, 1, 0);
  };
  for (const double d : {0., 1., 2.5, -3.}) {
    CHECK(at_distance(d, 0) == doctest::Approx(std::cosh(d) * std::exp(-1.25 * std::abs(d))).epsilon(1e-5));
    CHECK(at_distance(d, 3) == doctest::Approx(std::cosh(0.01 * d) * std::exp(-1.25 * std::abs(d))).epsilon(1e-5));
  }
  CHECK(at_distance(5000, 0) == doctest::Approx(0));
  CHECK(at_distance(-5000, 0) == doctest::Approx(0));
  CHECK_THROWS_AS(choose_encoding("hope_hyp:decay=1"), BadInput);   // as fast as the boosts grow
}

TEST_CASE("repo: with all tokens at one position it is NoPE") {
  const Model model(choose_encoding("repo"), shape), none(choose_encoding("none"), shape);
  CHECK(difference(random_logits(model), random_logits(none)) > 1e-3);
  set(model, "out", 0);
  CHECK(difference(random_logits(model), random_logits(none)) < tolerance);
}

TEST_CASE("scaled_sincos is sincos times a number, C^-1/2 at first; learned_fourier equals its formula at a position") {
  const Model scaled(choose_encoding("scaled_sincos"), shape), plain(choose_encoding("sincos"), shape);
  const Tensor x = random_tensor({B, T, C}, 3), &scale = scaled.params.at("encoding.scale");
  CHECK(double(scale.item()) == doctest::Approx(0.25));
  CHECK(difference(scaled.embed(x, at(places)) - x, (plain.embed(x, at(places)) - x) * 0.25) < tolerance);
  scale.data()[0] = 1;
  CHECK(difference(scaled.embed(x, at(places)), plain.embed(x, at(places))) < tolerance);

  const Model fourier(choose_encoding("learned_fourier:waves=1,hidden=1"), shape);
  const auto one = [&](const char* name, double value) {
    const Tensor& t = fourier.params.at(std::string("encoding.") + name);
    std::fill_n(t.data(), t.size(), real(value));
  };
  one("f", 0.5), one("w1", 2), one("b1", 0.25), one("w2", 3), one("b2", -1);
  const double h = 2 * (std::cos(1.5) + std::sin(1.5)) / std::sqrt(2.) + 0.25;
  const double y = 3 * h * std::erfc(-h / std::sqrt(2.)) / 2 - 1;
  const Tensor added = fourier.embed(Tensor::full({1, 1, C}, 0), at({3}));
  for (const real v : added.values()) CHECK(double(v) == doctest::Approx(y).epsilon(1e-5));
}

TEST_CASE("phases: invalid arguments are refused") {
  const auto refused = [](const std::string& spelled, ModelShape m) {
    try {
      Params params(1);
      const PositionLayers built(params, choose_encoding(spelled), m);
      return std::string();
    } catch (const BadInput& e) { return std::string(e.what()); }
  };
  const ModelShape odd{1, 4, 12, false, 24, 0}, twos{1, 4, 8, false, 24, 0};
  for (const std::string name : {"selective_rope", "carope", "repo", "lerope", "grape", "hope_hyp"})
    CHECK(refused(name, odd) == name + " rotates channels in pairs, but a head has (d_model = 12) / (heads = 4) = 3, "
                                       "an odd number of channels; make the head size even");
  CHECK(refused("pope", odd).empty());
  CHECK(refused("path", odd) ==
        "path needs a causal mask: its products run from a key to a later query; add --causal (Python: causal=True)");
  CHECK(refused("path:reflect", odd).empty());
  CHECK(refused("path:reflect,gate=paper", odd) ==
        "path: reflect has no gate, but gate is paper; leave one of them out");
  CHECK(refused("grape:form=a", twos) ==
        "grape:form=a needs a causal mask: its bias is for keys before the query; add --causal (Python: causal=True)");
  CHECK(refused("selective_rope:table=rfa", twos) ==
        "selective_rope: with table = rfa the first factor is 0, and a head of 2 channels has no other; use table = "
        "rope, or 4 channels or more");
}
