// Temperature policies, each with every scheme. The weights with a policy follow from those without it, a: softmax
// ignores a constant added to a row, so softmax(f log a) are the weights with the factor f.
#include "encodings/temperature.h"

#include <doctest/doctest.h>

#include "encodings/aligned.h"
#include "nn/transformer.h"
#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// Each policy with its defaults; unless only_plain, also each option at other values.
std::vector<Chosen<TemperaturePolicy>> policies(bool only_plain = false) {
  std::vector<Chosen<TemperaturePolicy>> all;
  for (const TemperaturePolicy& policy : all_temperatures()) {
    const Chosen<TemperaturePolicy> plain =
        choose_temperature(policy.name == "aligned" ? aligned_example : policy.name, trained_on(512));
    if (policy.make) all.push_back(plain);
    if (only_plain) continue;
    for (const Option& o : policy.options)
      for (const std::string& value : other_values(o)) {
        all.push_back(plain);
        all.back().choices.set(o.name, value);
      }
  }
  return all;
}

struct Sharpened {
  Params params{3};
  Temperature policy;
  explicit Sharpened(const Chosen<TemperaturePolicy>& p)
      : policy(temperature_layers(params, p, {.layers = 1, .heads = H, .d_model = C})[0]) {
    if (params.entries().empty()) return;
    params.pack();
    for (const Params::Entry& e : params.entries())   // by head; after the first H, small and negative
      for (int64_t i = 0; i < e.tensor.size(); ++i)
        e.tensor.data()[i] = real((0.3 + 0.4 * double(i % H)) * (i < H ? 1 : -0.1));
  }
  Heads prepared(const Heads& in) const { return policy.prepare ? policy.prepare(in) : in; }
};

Tensor factors(const std::string& policy, int queries, int keys, const Span& span) {
  const Heads in{Tensor({B, queries, H, D}), Tensor({B, keys, H, D}), Tensor({B, queries, C})};
  const Positions zeros = Positions::of_tokens(1, std::vector<double>(size_t(keys)));
  return Sharpened(choose_temperature(policy, trained_on(512))).policy.factor(in, zeros, span);
}

// a^f divided by its sum, row by row                                                    a: (B, H, Tq, Tk)
Tensor sharpened(const Tensor& a, const Tensor& f) {
  Tensor y(a.shape());
  const int Tq = a.dim(2), Tk = a.dim(3);
  for (int b = 0; b < a.dim(0); ++b)
    for (int h = 0; h < a.dim(1); ++h)
      for (int i = 0; i < Tq; ++i) {
        const int64_t row = ((int64_t(b) * a.dim(1) + h) * Tq + i) * Tk;
        const int64_t at = ((f.dim(0) == 1 ? 0 : int64_t(b)) * Tq + i) * f.dim(2) + (f.dim(2) == 1 ? 0 : h);
        double sum = 0;
        for (int j = 0; j < Tk; ++j)
          if (a.data()[row + j] > 0) sum += std::pow(double(a.data()[row + j]), double(f.data()[at]));
        for (int j = 0; j < Tk; ++j)
          y.data()[row + j] = a.data()[row + j] > 0
                                  ? real(std::pow(double(a.data()[row + j]), double(f.data()[at])) / sum) : 0;
      }
  return y;
}

std::vector<Setup> one_draw_each(bool causal) {
  std::vector<Setup> list = setups(causal);
  std::erase_if(list, [](const Setup& s) { return s.sampler->name != "sequential" || s.variant != "plain"; });
  return list;
}

}  // namespace

TEST_CASE("temperature: the factors of the specification, by the number of keys that a query sees") {
  const auto all = [](const std::string& policy, int n) {
    const Tensor f = factors(policy, 1, n, {});
    return double(f.data()[0]);
  };
  CHECK(all("log_n", 256) == doctest::Approx(.8889).epsilon(1e-4));
  CHECK(all("log_n", 1024) == doctest::Approx(1.1111).epsilon(1e-4));
  CHECK(all("log_n", 4096) == doctest::Approx(1.3333).epsilon(1e-4));
  CHECK(all("log_n:only_longer", 256) == 1);
  CHECK(1 / all("log_n", 15000) == doctest::Approx(.6488).epsilon(1e-4));     // the log rule's tau
  CHECK(all("constant:tau=0.5", 7) == 2);
  CHECK(all("yarn:scale=16", 7) == doctest::Approx(1.277259 * 1.277259).epsilon(1e-5));
  CHECK(all("llama4:length=10", 9) == 1);
  CHECK(all("llama4:length=10,scale=0.5", 25) == doctest::Approx(1 + 0.5 * std::log(3)));
  CHECK(all("ssmax", 12) == doctest::Approx(0.3 * std::log(12)));
  CHECK(all("head_scale", 12) == doctest::Approx(0.3));
  CHECK(all("uniform_scale", 12) == doctest::Approx(1.2));
  CHECK(all("cosine", 12) == doctest::Approx(4 * std::log(12)));
  const Tensor causal = factors("log_n:length=4", 3, 6, {.causal = true, .offset = 3});   // slots 3, 4, 5 see 4, 5, 6
  for (int i = 0; i < 3; ++i) CHECK(causal.data()[i] == doctest::Approx(std::log(4. + i) / std::log(4)));
  CHECK(factors("log_n", 6, 6, {.causal = true}).data()[0] == 0);             // one key: no factor changes its weight
  const Tensor padded = factors("log_n:length=4", 2, 6, {.key_lengths = Ids({B}, {4, 2})});
  REQUIRE(padded.shape() == Shape{B, 2, 1});
  CHECK(padded.data()[0] == 1);
  CHECK(padded.data()[2] == 0.5);
}

TEST_CASE("temperature: every policy sharpens the weights of every scheme") {
  for (const bool causal : {false, true})
    for (size_t n = 0; const Setup& setup : one_draw_each(causal))
      for (const Chosen<TemperaturePolicy>& policy : policies(n++ % 8)) {   // every eighth scheme with other values too
        CAPTURE(setup.name());
        CAPTURE(policy.spelled());
        const Model model(setup);
        const Sharpened sharp(policy);
        const Content content;
        const PositionSample draw = setup.draw();
        const Positions& p = draw.at_layer(1);
        const Span span{.causal = causal};
        const Heads given = content.heads(model, draw.at_embedding()), plain = sharp.prepared(given),
                    with = sharp.policy(given, p, span);
        if (setup.laws().softmax && with.temperature) {
          const Tensor expected = sharpened(model->weights(plain, p, span), with.temperature);
          CHECK(difference(model->weights(with, p, span), expected) < 1e-5);
        }
        CHECK(difference(model->attend(with, content.v, p, span),
                         composed_attend(*model, model.params, "encoding.layer1", with, content.v, p, span)) <
              tolerance);
        if (policy.thing.name == "constant" && policy.choices.number("tau") == 1)
          CHECK(difference(model->attend(with, content.v, p, span), model->attend(plain, content.v, p, span)) <
                tolerance);
      }
}

TEST_CASE("temperature: the last queries against the first slots give the rows of one causal pass") {
  for (const Chosen<TemperaturePolicy>& policy : policies()) {
    CAPTURE(policy.spelled());
    const Setup setup = one_draw_each(true)[0];
    const Model model(setup);
    const Sharpened sharp(policy);
    const Content content;
    const PositionSample draw = setup.draw();
    const auto attend = [&](int queries) {
      const Span span{.causal = true, .offset = T - queries};
      return model->attend(sharp.policy(content.heads(model, draw.at_embedding(), queries), draw.at_layer(1), span),
                           content.v, draw.at_layer(1), span);
    };
    CHECK(difference(attend(2), slice(attend(T), 1, T - 2, T)) < tolerance);
  }
}

TEST_CASE("temperature: gradients equal those of the composed form, for inputs and the policy's parameters") {
  for (const char* policy : {"ssmax", "asentmax", "head_scale", "cosine"})
    for (const Setup& setup : one_draw_each(false)) {
      CAPTURE(policy);
      CAPTURE(setup.name());
      std::vector<std::vector<Tensor>> grads;
      for (const bool fused : {true, false}) {
        const Model model(setup);
        Sharpened sharp(choose_temperature(policy, trained_on(512)));
        Content content;
        for (Tensor* t : {&content.x, &content.q, &content.k, &content.v}) t->require_grad();
        const PositionSample draw = setup.draw();
        const Positions& p = draw.at_layer(1);
        const Heads heads = sharp.policy(content.heads(model, draw.at_embedding()), p, {});
        const Tensor o = fused ? model->attend(heads, content.v, p, {})
                               : composed_attend(*model, model.params, "encoding.layer1", heads, content.v, p, {});
        backward(sum_all(o * random_tensor(o.shape(), 99)));
        grads.push_back({content.q.grad(), content.k.grad(), content.v.grad()});
        for (const Params::Entry& e : sharp.params.entries()) grads.back().push_back(e.tensor.grad());
      }
      for (size_t n = 0; n < grads[0].size(); ++n) {
        double largest = 0;
        CHECK(difference(grads[0][n], grads[1][n]) < 10 * tolerance);
        for (const real x : grads[1][n].values()) largest = std::max(largest, std::abs(double(x)));
        CHECK(largest > 1e-3);
      }
    }
}

// The logits of NoPE under a policy, computed pair by pair.
TEST_CASE("temperature: policies of the lengths of queries and keys, and of the state, by their formulas") {
  const std::vector<Setup> all = one_draw_each(true);
  const Setup setup = *std::find_if(all.begin(), all.end(), [](const Setup& s) { return s.scheme->name == "none"; });
  const Model model(setup);
  const Content content;
  const PositionSample draw = setup.draw();
  const Positions& p = draw.at_layer(1);
  const Heads in = content.heads(model, draw.at_embedding());
  const auto at = [](const Tensor& t, int b, int i, int h, int d) {
    return double(t.data()[((int64_t(b) * T + i) * H + h) * D + d]);
  };
  const auto length = [&](const Tensor& t, int b, int i, int h) {
    double sum = 0;
    for (int d = 0; d < D; ++d) sum += at(t, b, i, h, d) * at(t, b, i, h, d);
    return std::sqrt(sum);
  };
  using Logit = std::function<double(const Sharpened&, double dot, double q, double k, int b, int i, int h)>;
  const auto check = [&](const std::string& policy, const Logit& expected) {
    CAPTURE(policy);
    const Sharpened sharp(choose_temperature(policy, trained_on(512)));
    const Tensor logits = model->logits(sharp.policy(in, p, {.causal = true}), p, {.causal = true});
    for (int b = 0; b < B; ++b)
      for (int h = 0; h < H; ++h)
        for (int i = 0; i < T; ++i)
          for (int j = 0; j <= i; ++j) {
            double dot = 0;
            for (int d = 0; d < D; ++d) dot += at(in.q, b, i, h, d) * at(in.k, b, j, h, d);
            CHECK(double(logits.data()[((int64_t(b) * H + h) * T + i) * T + j]) ==
                  doctest::Approx(expected(sharp, dot, length(in.q, b, i, h), length(in.k, b, j, h), b, i, h))
                      .epsilon(1e-4).scale(0.1));
          }
  };
  const double root = std::sqrt(double(D));
  check("key_norm", [](auto&, double dot, double, double k, int, int, int) { return dot / k; });
  check("query_norm", [](auto&, double dot, double q, double, int, int, int) { return dot / q; });
  check("cosine", [](auto&, double dot, double q, double k, int, int i, int) {
    return 4 * std::log(i + 1.) * dot / (q * k);
  });
  check("cosine:log_n=off,scale=3", [](auto&, double dot, double q, double k, int, int, int) {
    return 3 * dot / (q * k);
  });
  check("uniform_scale:scale=1.5", [&](auto&, double dot, double, double, int, int, int) { return 1.5 * dot / root; });
  check("head_scale", [&](auto&, double dot, double, double, int, int, int h) { return (0.3 + 0.4 * h) * dot / root; });
  for (const bool one_more : {true, false})
    check(one_more ? "asentmax" : "asentmax:delta=0.5,range=1,one_more=off",
          [&](const Sharpened& sharp, double dot, double, double, int b, int i, int h) {
            double beta = 0, gamma = 0;
            for (int c = 0; c < C; ++c) {
              const double x = double(in.x.data()[(b * T + i) * C + c]);
              beta += x * double(sharp.params.at("layer0.beta").data()[c * H + h]);
              gamma += x * double(sharp.params.at("layer0.gamma").data()[c * H + h]);
            }
            const double n = one_more ? i + 2. : std::max(i + 1., 2.), range = one_more ? 2 : 1;
            const double power = std::pow(std::log(n), range * std::tanh(gamma));
            return ((one_more ? 1 : 0.5) + std::log1p(std::exp(beta)) * power) * dot / root;
          });
}

TEST_CASE("temperature: asentmax:heads=second_half leaves the first half unchanged, and has no parameters for it") {
  Params params(3);
  const Temperature half = temperature_layers(params, choose_temperature("asentmax:heads=second_half"),
                                              {.layers = 1, .heads = 5, .d_model = C})[0];
  Params of_three(3);
  const Temperature three = temperature_layers(of_three, choose_temperature("asentmax"),
                                               {.layers = 1, .heads = 3, .d_model = C})[0];
  params.pack(), of_three.pack();
  CHECK(params.at("layer0.beta").shape() == Shape{C, 3});
  for (const char* name : {"layer0.beta", "layer0.gamma"}) {
    const Tensor values = random_tensor({C, 3}, 5);
    params.at(name).set(values.data()), of_three.at(name).set(values.data());
  }
  const Heads in{Tensor({B, T, 5, D}), Tensor({B, T, 5, D}), random_tensor({B, T, C}, 6)};
  const Positions zeros = Positions::of_tokens(1, std::vector<double>(size_t(T)));
  const Tensor f = half.factor(in, zeros, {.causal = true}), own = three.factor(in, zeros, {.causal = true});
  CHECK(difference(slice(f, 2, 0, 2), Tensor::full({B, T, 2}, 1)) == 0);
  CHECK(difference(slice(f, 2, 2, 5), own) == 0);
  CHECK(difference(own, Tensor::full({B, T, 3}, 1)) > 1e-3);
}

TEST_CASE("temperature: a model can get a policy at test, sharing its weights, unless the policy has parameters") {
  Params params(1);
  TransformerSpec spec;
  spec.layers = 2;
  const Transformer net(params, spec);
  params.pack();
  const NoGrad no_grad;
  const PositionSample draw({Positions::of_tokens(1, {0, 1, 2, 3, 4, 5})});
  const Ids tokens({1, 6}, {0, 1, 1, 0, 2, 2});
  const auto answer = [&](const Transformer& n) { return n(tokens, 2, {draw, {}}); };
  const Tensor plain = answer(net);
  CHECK(difference(answer(net.at_temperature(choose_temperature("none"))), plain) == 0);
  CHECK(difference(answer(net.at_temperature(choose_temperature("constant"))), plain) < tolerance);
  CHECK(difference(answer(net.at_temperature(choose_temperature("constant:tau=0.01"))), plain) > 1e-3);
  CHECK(difference(answer(net), plain) == 0);
  CHECK_THROWS_AS(net.at_temperature(choose_temperature("ssmax")), BadInput);
  Params of_ssmax(1);
  spec.temperature = choose_temperature("ssmax:init=0.5");
  const Transformer sharp(of_ssmax, spec);
  CHECK(of_ssmax.at("temperature.layer1.s").shape() == Shape{1, 1, spec.heads});
  CHECK(of_ssmax.count() == params.count() + 2 * spec.heads);
}
