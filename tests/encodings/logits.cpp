// Schemes whose logits depend on content and distance together, and schemes with their own logits or weights: golden
// values, limits in which they equal another scheme, and formulas written out a second time.
#include <doctest/doctest.h>

#include <cmath>

#include "autograd/composed.h"
#include "encodings/relative_vectors.h"
#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

namespace {

Model causal_model(const std::string& spelled) { return model_of(spelled, shape_of(H, true)); }
Tensor parameter(const Model& m, const std::string& name) { return m.params.at("encoding.layer1." + name); }

const Positions in_order = Positions::of_tokens(1, {0, 1, 2, 3, 4, 5});

// The weights of a model with one head and one channel, whose queries are 1 and whose keys are given.
Tensor weights_of_keys(const std::string& spelled, const std::vector<double>& keys, bool causal = false) {
  const int T = int(keys.size());
  const Model m(choose_encoding(spelled, trained_on(1024)), {layers, 1, 1, causal, 24, 0});
  std::vector<double> at;
  for (int t = 0; t < T; ++t) at.push_back(t);
  const Tensor ones = Tensor::full({1, T, 1, 1}, 1), x = Tensor::full({1, T, 1}, 0);
  return m->weights({ones, Tensor::from({1, T, 1, 1}, keys), x, x}, Positions::of_tokens(1, at), {.causal = causal});
}

void check_row(const Tensor& a, int row, const std::vector<double>& expected) {
  for (size_t j = 0; j < expected.size(); ++j)
    CHECK(double(a.data()[size_t(row) * expected.size() + j]) == doctest::Approx(expected[j]).epsilon(1e-4));
}

}  // namespace

TEST_CASE("entmax: golden weights, with ties and exact zeros") {
  check_row(weights_of_keys("entmax", {1, .5, 0, -1}), 0, {.62420, .29167, .08414, 0});
  check_row(weights_of_keys("entmax", {2, 1, 0, -1}), 3, {.83072, .16928, 0, 0});
  check_row(weights_of_keys("entmax:alpha=2", {1, .5, 0, -1}), 0, {.75, .25, 0, 0});
  check_row(weights_of_keys("entmax:alpha=2", {3, 3, 3, 3}), 2, {.25, .25, .25, .25});   // ties
  check_row(weights_of_keys("entmax", {0, 7, 0}, true), 1, {0, 1, 0});
  check_row(weights_of_keys("entmax", {5, 5, 9}, true), 1, {.5, .5, 0});
}

TEST_CASE("entmax: the support shrinks as logits grow; with a base, logits are those of that scheme") {
  const Content content;
  const Model none = model_of("entmax"), alibi = model_of("entmax:base=alibi"), plain = model_of("alibi");
  const Heads in = content.heads(none, in_order);
  Heads sharper = in;
  sharper.temperature = Tensor::full({1, T, 1}, 3);
  const Tensor a = none->weights(in, in_order, {}), b = none->weights(sharper, in_order, {});
  int more = 0;
  for (int64_t e = 0; e < a.size(); ++e) {
    CHECK_FALSE((a.data()[e] == 0 && b.data()[e] > 0));
    more += a.data()[e] > 0 && b.data()[e] == 0;
  }
  CHECK(more > 10);
  CHECK(difference(alibi->logits(in, in_order, {.causal = true}), plain->logits(in, in_order, {.causal = true})) <
        tolerance);
  CHECK_THROWS_AS(choose_encoding("entmax:alpha=3"), BadInput);
}

TEST_CASE("stick-breaking: each weight is a share of the rest, and a remainder prod (1 - beta) stays") {
  const Tensor half = weights_of_keys("stick_breaking", {0, 0, 0, 0}, true);
  check_row(half, 0, {0, 0, 0, 0});
  check_row(half, 3, {.125, .25, .5, 0});
  check_row(weights_of_keys("stick_breaking:rest=own", {0, 0, 0, 0}, true), 3, {.125, .25, .5, .125});
  const Model m = causal_model("stick_breaking");
  const Heads in = Content().heads(m, in_order);
  const Tensor a = m->weights(in, in_order, {.causal = true}), beta = sigmoid(products(in));
  for (int row = 0; row < B * H * T; ++row) {
    double left = 1, sum = 0;
    for (int j = 0; j < T; ++j) {
      if (j < row % T) left *= 1 - double(beta.data()[row * T + j]);
      sum += double(a.data()[row * T + j]);
    }
    CHECK(sum == doctest::Approx(1 - left).epsilon(1e-5));
  }
  CHECK_THROWS_WITH_AS(model_of("stick_breaking"), doctest::Contains("needs a causal mask"), BadInput);
}

TEST_CASE("forgetting: a gate of 1/2 halves, and constant gates are ALiBi with the slope -ln f, on both sides") {
  for (const bool causal : {false, true}) {
    const ModelShape shape = shape_of(H, causal);
    const Model gates = model_of("forgetting:content=off", shape), alibi = model_of("alibi:symmetric", shape);
    for (int h = 0; h < H; ++h) {   // ln sigmoid(b) = -slope
      const double f = std::exp(-std::exp2(-8.0 * (h + 1) / H));
      parameter(gates, "b").data()[h] = real(std::log(f / (1 - f)));
    }
    const Content content;
    const Heads in = content.heads(gates, in_order);
    const Span span{.causal = causal};
    CHECK(difference(gates->logits(in, in_order, span), alibi->logits(in, in_order, span)) < 1e-5);
    CHECK(difference(content.attend(gates, in_order, span), content.attend(alibi, in_order, span)) < 1e-5);
  }
  const Model half = causal_model("forgetting:init=0,content=off");
  const Tensor bias = position_matrix(half.scheme, {layers, H, C, true, 24, 0}, in_order);
  check_row(slice(slice(bias, 0, 0, 1), 2, 0, 4), 3, {-2.07944, -1.38629, -.69315, 0});
}

TEST_CASE("cable: forgetting gates, with weights of the opposite sign") {
  const Model cable = causal_model("cable"), gates = causal_model("forgetting:init=0");
  const Tensor w = parameter(cable, "w"), v = parameter(gates, "w");
  for (int64_t e = 0; e < w.size(); ++e) v.data()[e] = -w.data()[e];
  const Content content;
  CHECK(difference(content.attend(cable, in_order, {.causal = true}),
                   content.attend(gates, in_order, {.causal = true})) < tolerance);
}

TEST_CASE("cope: without vectors it changes nothing; with vectors on a line it counts the open gates") {
  const Model cope = causal_model("cope"), none = causal_model("none");
  const Content content;
  const Heads in = content.heads(cope, in_order);
  CHECK(difference(cope->logits(in, in_order, {.causal = true}), none->logits(in, in_order, {.causal = true})) <
        tolerance);
  for (const bool up_and_down : {false, true}) {
    const Model line = causal_model(up_and_down ? "cope:signed" : "cope");
    const Tensor e = parameter(line, "rows");
    for (int n = 0; n < e.dim(0); ++n)                       // e_n = (n, 0, 0, 0); n begins at -15 if signed
      e.data()[n * D] = real(up_and_down ? n - 15 : n);
    const Tensor s = line->logits(in, in_order, {.causal = true}), z = products(in), q = by_head(in.q);
    double worst = 0;
    for (int row = 0; row < B * H * T; ++row) {
      double at = 0;
      for (int j = row % T; j >= 0; --j) {
        const double content_logit = double(z.data()[row * T + j]);
        at += up_and_down ? std::tanh(content_logit) : 1 / (1 + std::exp(-content_logit));
        const double added = double(s.data()[row * T + j]) - content_logit;
        worst = std::max(worst, std::abs(added - at * double(q.data()[row * D])));
      }
    }
    CHECK(worst < 1e-4);
  }
}

TEST_CASE("cope: positions end at npos - 1") {
  const Model cope = causal_model("cope:npos=2");
  const Tensor e = parameter(cope, "rows");
  e.data()[D] = 1;                                           // e_0 = 0, e_1 = (1, 0, 0, 0)
  const Tensor big = Tensor::full({1, T, H, D}, 3), x = Tensor::full({1, T, C}, 0);    // gates of 1
  const Heads in{big, big, x, x};
  const Tensor added = cope->logits(in, in_order, {.causal = true}) - products(in);
  for (int j = 0; j < T; ++j) CHECK(double(added.data()[(T - 1) * T + j]) == doctest::Approx(3).epsilon(1e-4));
}

TEST_CASE("shaw: the formula for each pair, clipped, and the mean of two rows between whole distances") {
  const Model m = model_of("shaw:clip=2"), keys = model_of("shaw:clip=2,values=off");
  const Positions p = Positions::of_tokens(1, {0, 1, 1.5, 4, 5, 9});
  const Content content;
  const Heads in = content.heads(m, p);
  const Tensor a = parameter(m, "keys"), c = parameter(m, "values");
  const Tensor s = m->logits(in, p, {}), w = m->weights(in, p, {}), o = m->attend(in, content.v, p, {});
  const auto row = [&](const Tensor& table, int i, int j, int d) {
    const double at = std::clamp(p.tokens("t")[size_t(j)] - p.tokens("t")[size_t(i)], -2., 2.) + 2;
    const int n = std::min(int(at), 3);
    return (n + 1 - at) * double(table.data()[n * D + d]) + (at - n) * double(table.data()[(n + 1) * D + d]);
  };
  double worst = 0;
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < T; ++i) {
        std::vector<double> sum(D);
        for (int j = 0; j < T; ++j) {
          double logit = 0;
          for (int d = 0; d < D; ++d) {
            logit += double(in.q.data()[((b * T + i) * H + h) * D + d]) *
                     (double(in.k.data()[((b * T + j) * H + h) * D + d]) + row(a, i, j, d)) / std::sqrt(double(D));
            sum[size_t(d)] += double(w.data()[((b * H + h) * T + i) * T + j]) *
                              (double(content.v.data()[((b * T + j) * H + h) * D + d]) + row(c, i, j, d));
          }
          worst = std::max(worst, std::abs(logit - double(s.data()[((b * H + h) * T + i) * T + j])));
        }
        for (int d = 0; d < D; ++d)
          worst = std::max(worst, std::abs(sum[size_t(d)] - double(o.data()[((b * T + i) * H + h) * D + d])));
      }
  CHECK(worst < 1e-4);
  std::copy_n(a.data(), a.size(), parameter(keys, "keys").data());
  CHECK(difference(keys->logits(in, p, {}), s) < tolerance);
}

TEST_CASE("shaw, music, bert_relative: the same scheme if their tables hold the same vectors") {
  const Model shaw = model_of("shaw:values=off"), music = model_of("music:clip=16"), bert = model_of("bert_relative");
  const Tensor a = parameter(shaw, "keys"), of_heads = parameter(music, "keys"), mirrored = parameter(bert, "keys");
  for (int d = -16; d <= 16; ++d)
    for (int n = 0; n < D; ++n) {
      for (int h = 0; h < H; ++h) of_heads.data()[((d + 16) * H + h) * D + n] = a.data()[(d + 16) * D + n];
      mirrored.data()[(23 - d) * D + n] = a.data()[(d + 16) * D + n];
    }
  const Content content;
  const Positions p = Positions::of_tokens(1, {0, 1, 3, 7, 8, 15});
  CHECK(difference(content.attend(music, p, {}), content.attend(shaw, p, {})) < tolerance);
  CHECK(difference(content.attend(bert, p, {}), content.attend(shaw, p, {})) < tolerance);
  CHECK_THROWS_WITH_AS(content.attend(bert, Positions::of_tokens(1, {0, 1, 2, 3, 4, 24}), {}),
                       doctest::Contains("distance 24 is not in the table of max_position = 24"), BadInput);
}

TEST_CASE("deberta: without its terms it is NoPE; the scale depends on the number of terms") {
  const Content content;
  const Model off = model_of("deberta:c2p=off,p2c=off"), none = model_of("none"), both = model_of("deberta");
  CHECK(difference(content.attend(off, in_order, {}), content.attend(none, in_order, {})) < tolerance);
  set(both, "rows", 0);
  const Heads in = content.heads(both, in_order);
  CHECK(difference(both->logits(in, in_order, {}), products(in) / std::sqrt(3.0)) < tolerance);
}

TEST_CASE("dape: with a network of zeros it is the bias alone, in version 1 and version 2") {
  const Content content;
  for (const char* version : {"dape:base=alibi", "dape:base=alibi,version=2"}) {
    const Model dape = causal_model(version), alibi = causal_model("alibi:symmetric");
    set(dape, "w2", 0);
    CHECK(difference(content.attend(dape, in_order, {.causal = true}),
                     content.attend(alibi, in_order, {.causal = true})) < tolerance);
  }
}

TEST_CASE("dape: the released version 2 changes in a cache, and the masked one does not") {
  const Content content;
  for (const bool released : {false, true}) {
    const Model m = causal_model(released ? "dape:version=2,border=released" : "dape:version=2");
    const Tensor all = content.attend(m, in_order, {.causal = true});
    Content first;
    for (Tensor Content::*t : {&Content::x, &Content::q, &Content::k, &Content::v})
      first.*t = slice(content.*t, 1, 0, T - 1);
    const Tensor part = first.attend(m, Positions::of_tokens(1, {0, 1, 2, 3, 4}), {.causal = true});
    const double change = difference(part, slice(all, 1, 0, T - 1));
    CHECK((released ? change > 1e-3 : change < tolerance));
  }
}

TEST_CASE("tupe: positions attend to positions; without their projections it is NoPE at 1 / sqrt(2)") {
  const Content content;
  const Model tupe = model_of("tupe");
  set(tupe, "queries", 0);
  const Heads in = content.heads(tupe, in_order);
  CHECK(difference(tupe->logits(in, in_order, {}), products(in) / std::sqrt(2.0)) < tolerance);
  CHECK_THROWS_WITH_AS(content.attend(tupe, Positions::of_tokens(1, {0, 1, 2, 3, 4, 24}), {}),
                       doctest::Contains("position 24 is not in the table of 24 rows from position 0 on"), BadInput);
}

TEST_CASE("projection_bank: keys ahead or beyond the reach get no bias") {
  const Model m = model_of("projection_bank:reach=4"), none = model_of("none");
  const Content content;
  const Heads in = content.heads(m, in_order);
  const Tensor bias = m->logits(in, in_order, {}) - none->logits(in, in_order, {});
  for (int row = 0; row < B * H * T; ++row)
    for (int j = 0; j < T; ++j) {
      const int back = row % T - j;
      CHECK((std::abs(double(bias.data()[row * T + j])) > 1e-5) == (back >= 0 && back < 4));
    }
}

