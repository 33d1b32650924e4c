// Golden values of the schemes (spec A.7), their formulas written out a second time, and refusals.
#include <doctest/doctest.h>

#include <set>

#include "encodings/picture.h"
#include "encodings/sinusoid.h"
#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// ALiBi's bias at distances -1, 0, 1: (3, H)
Tensor alibi_bias(const std::string& spelled, const ModelShape& shape) {
  const Heads in{random_tensor({1, 2, shape.heads, 2}, 1), random_tensor({1, 2, shape.heads, 2}, 2), {}};
  return model_of(spelled, shape)->scores(in, Positions::of_tokens(1, {0, 1})).bias;
}

int64_t count(const std::string& spelled) { return model_of(spelled, {}).params.count(); }

}  // namespace

TEST_CASE("encodings: names are unique, and each option accepts its default") {
  std::set<std::string> names;
  for (const Scheme& s : all_encodings()) {
    CHECK_MESSAGE(names.insert(s.name).second, s.name, " stands in the list twice");
    for (const Option& o : s.options) CHECK_NOTHROW_MESSAGE(o.value(o.standard), s.name, ": ", o.name);
  }
}

TEST_CASE("sinusoid: golden values, sine half first") {
  const Tensor y = sinusoid({1, 3, -3}, 4);
  const double expected[] = {0.841471,  0.01,    0.540302, 0.99995,   0.14112,   0.029996,
                             -0.989992, 0.99955, -0.14112, -0.029996, -0.989992, 0.99955};
  for (int i = 0; i < 12; ++i) CHECK(double(y.data()[i]) == doctest::Approx(expected[i]).epsilon(1e-5));
  CHECK_THROWS_AS(sinusoid({1}, 5), BadInput);
}

TEST_CASE("alibi: golden slopes for 1, 2, 6, 8 and 12 heads, and the half that distinguishes left and right") {
  const std::vector<std::vector<double>> golden = {
      {.00390625}, {.0625, .00390625}, {.25, .0625, .015625, .00390625, .5, .125},
      {.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625},
      {.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625, .70710678, .35355339, .1767767, .08838835}};
  for (const auto& m : golden) {
    const int heads = int(m.size());
    ModelShape shape{layers, heads, 2 * heads, false, 24, 0}, causal = shape;
    causal.causal = true;
    const Tensor both = alibi_bias("alibi", shape), even = alibi_bias("alibi:symmetric", shape),
                 past = alibi_bias("alibi", causal);
    for (int h = 0; h < heads; ++h) {
      CHECK(double(both.data()[h]) == doctest::Approx(-0.5 * m[size_t(h)]).epsilon(1e-7));
      CHECK(double(both.data()[heads + h]) == 0);
      CHECK(double(both.data()[2 * heads + h]) == doctest::Approx(-m[size_t(h)]).epsilon(1e-7));
      CHECK(double(even.data()[h]) == doctest::Approx(-m[size_t(h)]).epsilon(1e-7));
      CHECK(double(past.data()[h]) == doctest::Approx(-m[size_t(h)]).epsilon(1e-7));
    }
  }
}

TEST_CASE("parameters: names, shapes and counts") {
  CHECK(count("relative") == 270146 - 249026);   // spec A.7
  CHECK(count("learned") == 2048 * 64);
  CHECK(count("geometric") == 5 * (64 + 3 + 64 * 16 + 16));
  for (const char* name : {"none", "sincos", "alibi", "rope"}) CHECK(count(name) == 0);
  const Model model = model_of("relative");
  CHECK(model.params.at("encoding.layer1.u").shape() == Shape{H, D});
  CHECK(model.params.at("encoding.layer0.v").shape() == Shape{H, D});
  CHECK(model.params.at("encoding.layer1.w").shape() == Shape{C, C});
  CHECK(model_of("learned").params.at("encoding.table").shape() == Shape{24, C});
}

TEST_CASE("initial values: learned N(0, 1) within 2, u and v N(0, 0.02^2), W_R 1 / sqrt(C) within 2") {
  const auto moments = [](const Tensor& x) {
    double sum = 0, squares = 0, most = 0;
    for (real v : x.values())
      sum += double(v), squares += double(v) * double(v), most = std::max(most, std::abs(double(v)));
    return std::array{sum / double(x.size()), std::sqrt(squares / double(x.size())), most};
  };
  const ModelShape paper;   // the paper's sizes: enough numbers to test a distribution
  const auto table = moments(model_of("learned", paper).params.at("encoding.table"));
  constexpr double cut = 0.8796;   // the standard deviation of N(0, 1) given |x| < 2
  CHECK((std::abs(table[0]) < 0.01 && std::abs(table[1] - cut) < 0.01 && table[2] < 2));
  const Model model = model_of("relative", paper);
  const auto w = moments(model.params.at("encoding.layer4.w")), u = moments(model.params.at("encoding.layer4.u"));
  CHECK((std::abs(w[1] - cut / 8) < 0.005 && w[2] < 2.0 / 8));
  CHECK((u[1] > 0.013 && u[1] < 0.027));
}

TEST_CASE("relative: the formula, and its form as a rotation in disguise (spec A.1), for positions of any kind") {
  for (const std::vector<double>& p : {std::vector<double>{0, 1, 2, 3, 4, 5}, std::vector<double>{1, 2, 5, 11, 12, 20},
                                       std::vector<double>{0.5, 7, 3, 3.25, 9, 2}}) {
    const Model model = model_of("relative");
    const Content content;
    const Tensor s = composed::logits(content.scores(model, Positions::of_tokens(1, p)), {});
    const Tensor &u = model.params.at("encoding.layer1.u"), &v = model.params.at("encoding.layer1.v"),
                 &w = model.params.at("encoding.layer1.w");
    const std::vector<double> f = frequencies(C);
    const auto pe = [&](double at, int c) {
      return c < C / 2 ? std::sin(at * f[size_t(c)]) : std::cos(at * f[size_t(c - C / 2)]);
    };
    double formula_apart = 0, rotation_apart = 0;
    for (int b = 0; b < B; ++b)
      for (int h = 0; h < H; ++h)
        for (int i = 0; i < T; ++i) {
          const int64_t qi = (int64_t(b * T + i) * H + h) * D;
          std::vector<double> a(C, 0), turned(C);   // a = W_R^T (q + v): the query's coefficients of PE's channels
          for (int c = 0; c < C; ++c)
            for (int d = 0; d < D; ++d)
              a[size_t(c)] += double(w.data()[c * C + h * D + d]) *
                              double(content.q.data()[qi + d] + content.x.data()[(b * T + i) * C + h * D + d] +
                                     v.data()[h * D + d]);
          for (int m = 0; m < C / 2; ++m) {
            const double cosine = std::cos(p[size_t(i)] * f[size_t(m)]), sine = std::sin(p[size_t(i)] * f[size_t(m)]);
            const double as = a[size_t(m)], ac = a[size_t(m + C / 2)];
            turned[size_t(m)] = as * cosine + ac * sine, turned[size_t(m + C / 2)] = ac * cosine - as * sine;
          }
          for (int j = 0; j < T; ++j) {
            double both = 0, formula = 0, rotation = 0;
            for (int d = 0; d < D; ++d)
              both += double(content.q.data()[qi + d] + content.x.data()[(b * T + i) * C + h * D + d] +
                             u.data()[h * D + d]) *
                      double(content.k.data()[(int64_t(b * T + j) * H + h) * D + d] +
                             content.x.data()[(b * T + j) * C + h * D + d]);
            for (int c = 0; c < C; ++c) {
              formula += a[size_t(c)] * pe(p[size_t(j)] - p[size_t(i)], c);
              rotation += turned[size_t(c)] * pe(p[size_t(j)], c);   // keys PE(p_j): one more product of width C
            }
            const double ours = double(s.data()[((b * H + h) * T + i) * T + j]);
            formula_apart = std::max(formula_apart, std::abs(ours - (both + formula) / std::sqrt(double(D))));
            rotation_apart = std::max(rotation_apart, std::abs(ours - (both + rotation) / std::sqrt(double(D))));
          }
        }
    CHECK(formula_apart < 3 * tolerance);
    CHECK(rotation_apart < 3 * tolerance);
  }
}

TEST_CASE("relative, released: all offsets on the right are equal, on the left -r reads N - r (spec, finding 1)") {
  const Model released = model_of("relative:mode=released");
  const Heads in{random_tensor({1, 3, H, D}, 1), random_tensor({1, 3, H, D}, 2), {}};
  const Tensor r = released->scores(in, Positions::of_offsets(1, {-9, -4, 0, 4, 9})).r;
  const Tensor& w = released.params.at("encoding.layer1.w");
  const Tensor expected =
      composed::linear(sinusoid({24 - 9, 24 - 4, 23, 23, 23}, C), w, {}).reshape({5, H, D});
  CHECK(difference(r, expected) < tolerance);
  CHECK_THROWS_AS(released->scores(in, Positions::of_offsets(1, {-24, -4, 0, 4, 24})), BadInput);
}

TEST_CASE("geometric: golden weights for T = 5 and P = 1/2 (spec A.7), normalized") {
  const Tensor half = Tensor::full({5, 5}, 0), side = Tensor::full({5, 2}, 0);
  const std::vector<real> a = geometric(half, side, {}).values();
  const double row0[] = {0, .5, .25, .125, .0625}, row2[] = {.0625, .25, 0, .5, .125};
  for (size_t j = 0; j < 5; ++j) {
    CHECK(double(a[j]) == doctest::Approx(row0[j] / .9375).epsilon(tolerance));
    CHECK(double(a[10 + j]) == doctest::Approx(row2[j] / .9375).epsilon(tolerance));
  }
}

// Pair by pair from the parameters, by the formula of spec A.1 (14): O(T^3), without logarithms.
TEST_CASE("geometric: the scheme equals the product formula, causal or not, with positions of any kind") {
  const Model model = model_of("geometric");
  const auto of = [&](const char* name) { return model.params.at(fmt::format("encoding.layer1.{}", name)).values(); };
  for (const char* name : {"c", "alpha", "beta", "gamma", "b"}) {   // these are moved away from their initial values
    Tensor t = model.params.at(fmt::format("encoding.layer1.{}", name));
    const Tensor more = random_tensor(t.shape(), uint32_t(name[0]), 0.5);
    for (int64_t e = 0; e < t.size(); ++e) t.data()[e] += more.data()[e];
  }
  const std::vector<real> c = of("c"), alpha = of("alpha"), beta = of("beta"), gamma = of("gamma");
  const std::vector<real> w = of("w"), b = of("b");
  const Positions p = Positions::of_tokens(1, {3, 4, 9, 1, 0, 50});
  const Heads in = Content().heads(model, p);
  for (const bool causal : {false, true}) {
    const Tensor ours = model->weights(in, p, {.causal = causal});
    double worst = 0;
    for (int n = 0; n < B * H * T; ++n) {
      const int s = n / (H * T), h = n / T % H, i = n % T, last = causal ? i : T;
      const auto logit = [&](int j) {
        double match = 0, direction = double(b[size_t(2 * h + (j < i))]);
        for (int d = 0; d < D; ++d)
          match += (double(in.q.data()[((s * T + i) * H + h) * D + d]) + double(c[size_t(h * D + d)])) *
                   double(in.k.data()[((s * T + j) * H + h) * D + d]);
        for (int e = 0; e < C; ++e)
          direction += double(in.x.data()[(s * T + i) * C + e]) * double(w[size_t(e * 2 * H + 2 * h + (j < i))]);
        return double(alpha[0]) * match + double(beta[0]) * direction + double(gamma[0]);
      };
      std::vector<double> a(T, 0);
      double sum = 0;
      for (int j = 0; j < last; ++j) {
        if (j == i) continue;
        a[size_t(j)] = 1 / (1 + std::exp(-logit(j)));
        for (int k = 0; k < last; ++k)
          if (k != i && (std::abs(i - k) < std::abs(i - j) || (j < i && k == 2 * i - j)))
            a[size_t(j)] *= 1 / (1 + std::exp(logit(k)));
        sum += a[size_t(j)];
      }
      for (int j = 0; j < T; ++j)
        worst = std::max(worst, std::abs(double(ours.data()[n * T + j]) - (sum > 0 ? a[size_t(j)] / sum : 0)));
    }
    CHECK(worst < tolerance);
  }
}

TEST_CASE("geometric: without a gradient a large batch is computed in parts, with the same result") {
  const Model model = model_of("geometric");
  const int sequences = 3, time = 1100;      // 4 x 1100 x 1100 weights each: every sequence is one part
  const Shape shape{sequences, time, H, D};
  const Heads in{random_tensor(shape, 1), random_tensor(shape, 2), random_tensor({sequences, time, C}, 3)};
  const Tensor v = random_tensor(shape, 4);
  const Positions p = Positions::of_tokens(1, std::vector<double>(size_t(time), 0));
  const NoGrad off;
  const Tensor parts = model->attend(in, v, p, {});
  const Tensor a = model->weights(in, p, {});
  CHECK(difference(parts, permute(matmul(a, permute(v, {0, 2, 1, 3})), {0, 2, 1, 3})) < tolerance);
}

TEST_CASE("learned: rows from `first` on, the mean of two rows between them, and no row beyond the table") {
  ModelShape shape = shape_of();
  shape.pool = 8, shape.first = 1;
  const Model model = model_of("learned", shape);
  const Tensor x = Tensor::full({1, 3, C}, 0), table = model.params.at("encoding.table");
  CHECK(difference(model.embed(x, Positions::of_tokens(1, {1, 2, 8})), gather(table, Ids({1, 3}, {0, 1, 7}))) == 0);
  const auto between = [](const Tensor& two, const std::vector<double>& part) {
    const Tensor f = Tensor::from({1, 3, 1}, part);
    return slice(two, 1, 0, 3) * (1 - f) + slice(two, 1, 3, 6) * f;
  };
  CHECK(difference(model.embed(x, Positions::of_tokens(1, {1.5, 2.25, 7.75})),
                   between(gather(table, Ids({1, 6}, {0, 1, 6, 1, 2, 7})), {0.5, 0.25, 0.75})) < tolerance);
  CHECK_THROWS_WITH_AS(model.embed(x, Positions::of_tokens(1, {1, 2, 9})),
                       "learned: position 9 is not in the table of 8 rows from position 1 on; raise max_position",
                       BadInput);
  for (const double outside : {0., 0.9, 8.1})
    CHECK_THROWS_AS(model.embed(x, Positions::of_tokens(1, {1, outside, 2})), BadInput);
}

TEST_CASE("a learned table is interpolated: a quarter of a position changes the result, without jumps") {
  for (const char* spelled : {"learned", "bipe", "bipe:between=alibi", "tupe", "relative_bias", "shaw", "bert_relative",
                              "projection_bank", "deberta", "music"}) {
    CAPTURE(spelled);
    const Model model = model_of(spelled);
    for (const Params::Entry& e : model.params.entries()) {  // some would be 0 otherwise
      const Tensor more = random_tensor(e.tensor.shape(), uint32_t(e.tensor.size()), 0.5);
      for (int64_t i = 0; i < more.size(); ++i) e.tensor.data()[i] += more.data()[i];
    }
    const NoGrad off;
    const auto at = [&](double p) { return Content(3).attend(model, Positions::of_tokens(1, {1, 2, p}), {}); };
    const double quarter = difference(at(3.25), at(3));
    CHECK(quarter > 1e-4);
    CHECK(difference(at(3.75), at(4)) > 1e-4);
    for (const double p : {3., 3.5, 4.}) CHECK(difference(at(p - 0.001), at(p + 0.001)) < 0.1 * quarter);
  }
}

TEST_CASE("schemes refuse impossible sizes, and positions that they cannot read") {
  CHECK_THROWS_WITH_AS(
      model_of("rope", {layers, 4, 12, false, 24, 0}),
      "rope rotates channels in pairs, but a head has (d_model = 12) / (heads = 4) = 3, an odd number of channels; "
      "make the head size even",
      BadInput);
  CHECK_THROWS_AS(model_of("sincos", {layers, 1, 7, false, 24, 0}), BadInput);
  CHECK_THROWS_AS(model_of("relative", {layers, 1, 7, false, 24, 0}), BadInput);
  CHECK_THROWS_WITH(choose_encoding("ropo"), doctest::Contains("unknown encoding \"ropo\"; did you mean \"rope\"?"));
  int refused = 0;
  for (const Setup& setup : all_setups()) {
    if (setup.fits()) continue;
    CAPTURE(setup.name());
    const Model model(setup);
    const PositionSample draw = setup.draw();
    if (!setup.reads_positions()) {
      CHECK_NOTHROW(Content().attend(model, draw.at_layer(1), {}));   // it does not read positions
      continue;
    }
    CHECK_THROWS_AS(Content().attend(model, draw.at_layer(1), {}), BadInput);
    ++refused;
  }
  CHECK(refused > 10);
}

TEST_CASE("compositions: parts apply where they belong, parameters are named by layer and group, errors are clear") {
  const Model layers_of = model_of("none|relative");
  CHECK(layers_of.params.entries().size() == 3);
  CHECK(layers_of.params.at("encoding.layer1.u").shape() == Shape{H, D});
  const Model groups = model_of("none*1+relative:mode=offset_table*3");
  CHECK(groups.params.entries().size() == 6);
  CHECK(groups.params.at("encoding.layer0.group1.u").shape() == Shape{3, D});

  // A group computes the same as a layer that has its number of heads.
  const ModelShape three = shape_of(3);
  const Positions p = Positions::of_tokens(1, {0, 1, 2, 3, 4, 5});
  const Content c;
  const Heads all = c.heads(model_of("none*1+alibi*3"), p);
  const auto last = [](const Tensor& x) { return slice(x, 2, 1, H); };
  const Tensor o = model_of("none*1+alibi*3")->attend(all, c.v, p, {});
  CHECK(difference(last(o), model_of("alibi", three)->attend({last(all.q), last(all.k), all.x}, last(c.v), p, {})) <
        tolerance);
  CHECK(difference(slice(o, 2, 0, 1), slice(model_of("none")->attend(all, c.v, p, {}), 2, 0, 1)) < tolerance);

  const auto refused = [](const char* text) {
    try {
      model_of(text);
      return std::string();
    } catch (const BadInput& e) { return std::string(e.what()); }
  };
  CHECK(choose_encoding(" rope : pairing=half| none *2+ alibi*2").spelled() == "rope:pairing=half|none*2+alibi*2");
  CHECK(refused("none*2+alibi*3") ==
        "none*2+alibi*3 is for 5 heads, but the model has heads = 4; make the groups add up to that");
  CHECK(refused("none*2+alibi") ==
        "none*2+alibi: how many heads are in \"alibi\"? A group is spelled SCHEME*HEADS, as in none*4+alibi*4");
  CHECK(refused("none*2+alibi*two").find("is not a whole number; it takes 1 .. 1024") != std::string::npos);
  CHECK(refused("rope|sincos") ==
        "rope|sincos: sincos adds to the embedding, which is before all layers and heads; put it before all others, as "
        "in sincos&alibi");
  CHECK(choose_encoding("sincos&alibi:symmetric").spelled() == "sincos&alibi:symmetric");
  CHECK(choose_encoding("learned & rope|none*2+alibi*2").spelled() == "learned&rope|none*2+alibi*2");
  CHECK(refused("alibi&rope") ==
        "alibi&rope: alibi adds nothing to the embedding; put a scheme that does, such as sincos, before &");
  CHECK(refused("sincos&learned") ==
        "sincos&learned: learned adds to the embedding too; put a scheme of the logits, such as alibi, after &");
  CHECK(refused("sincos&") == "\"sincos&\" has no encoding on one side of &; name one there, or leave & out");
  CHECK(refused("rope| |none") == "\"rope| |none\" has no encoding on one side of |; name one there, or leave | out");
  CHECK(refused("*4") == "*4: an encoding is missing; groups of heads are spelled as in none*4+alibi*4");
  CHECK(refused("rope|ropo").find("did you mean \"rope\"?") != std::string::npos);
  CHECK_THROWS_WITH_AS(
      sampler_for(choose_encoding("rope|alibi"), choose_sampler("randomized")),
      "rope|alibi: one part reads a table of random offsets and another positions, but randomized draws only one of "
      "the two; choose parts that read the same",
      BadInput);
  CHECK(sampler_for(choose_encoding("rope|alibi"), choose_sampler("sequential")).spelled() == "sequential");
}

TEST_CASE("compositions: an embedding and the logits of another scheme, each as it is alone") {
  const NoGrad still;
  const Positions p = Positions::of_tokens(1, {0, 1, 2, 3, 4, 5});
  const Content c;
  const Model both = model_of("sincos&alibi"), logits = model_of("alibi"), added = model_of("sincos");
  const Tensor x = Tensor::full({1, T, C}, 1);
  CHECK(difference(both.embed(x, p), added.embed(x, p)) == 0);
  const Heads heads = c.heads(logits, p);
  CHECK(difference(both->attend(heads, c.v, p, {}), logits->attend(heads, c.v, p, {})) == 0);
}

TEST_CASE("compositions: frequencies and distances are those of the part of a head, or of the layer that is shown") {
  const Positions p = Positions::of_tokens(1, {0, 1, 2, 3, 4, 5});
  const ModelShape causal{layers, H, C, true, 24, 0};
  const auto of_heads = choose_encoding("none*1+rerope:window=2*2+nape*1");
  CHECK(of_heads->pages.pictures.frequencies(causal, {}, T, 0) == std::vector<double>{0, 0});
  CHECK(of_heads->pages.pictures.frequencies(causal, {}, T, 1) == std::vector<double>{1, 0.01});
  CHECK(of_heads->pages.pictures.frequencies(causal, {}, T, 3) == std::vector<double>{0, 0});
  const Tensor d = choose_encoding("none*1+rerope:window=2*1+nape*2")->pages.pictures.distances(causal, {}, p);
  REQUIRE(d.shape() == Shape{H, T, T});
  for (int i = 0; i < T; ++i)
    for (int j = 0; j <= i; ++j) {
      const auto at = [&](int h) { return double(d.data()[(h * T + i) * T + j]); };
      CHECK(std::isnan(at(0)));
      CHECK(at(1) == std::max(j - i, -2));
      CHECK(at(2) == j - i);
      CHECK(std::isnan(at(3)));                    // nape's second head of two has no positions
    }
  const auto of_layers = choose_encoding("rope|none|pi:factor=2");
  ModelShape shown = causal;
  const auto first_frequency = [&](int layer) {
    shown.layer = layer;
    return of_layers->pages.pictures.frequencies(shown, {}, T, 0)[0];
  };
  CHECK((first_frequency(0) == 1 && first_frequency(1) == 0 && first_frequency(2) == 0.5 && first_frequency(3) == 1));
  shown.layer = 2;
  CHECK(double(of_layers->pages.pictures.distances(shown, {}, p).data()[5 * T]) == -2.5);
  CHECK_FALSE(choose_encoding("none|alibi")->pages.pictures.frequencies);
  CHECK_FALSE(choose_encoding("none*2+alibi*2")->pages.pictures.distances);
}

TEST_CASE("a table of the pool's positions is detected from the options, and in compositions") {
  for (const auto& [spelled, has_table] : {std::pair{"learned", true}, {"tupe", true}, {"tupe:table=sincos", false},
                                           {"bert_relative", true}, {"rope", false}, {"none*4+tupe*4", true},
                                           {"rope|tupe:table=sincos", false}, {"rope|tupe", true}}) {
    CAPTURE(spelled);
    CHECK(finite(choose_encoding(spelled, trained_on(1024))) == has_table);
  }
}

TEST_CASE("sampler_for: a mode that reads a table turns randomized into randomized_offsets") {
  const auto name = [](const char* scheme, const char* sampler) {
    return sampler_for(choose_encoding(scheme), choose_sampler(sampler)).spelled();
  };
  CHECK(name("relative", "randomized") == "randomized");
  CHECK(name("relative:mode=differences", "randomized") == "randomized");
  CHECK(name("relative:mode=offset_table", "randomized") == "randomized_offsets");
  CHECK(name("relative:mode=released", "randomized:max_position=99,unsorted") ==
        "randomized_offsets:max_position=99,unsorted");
  CHECK(name("alibi", "randomized") == "randomized_offsets");
  CHECK(name("alibi:mode=differences", "randomized") == "randomized");
  CHECK(name("alibi", "sequential") == "sequential");
  CHECK(name("rope", "randomized") == "randomized");
  CHECK_THROWS_AS(name("rope", "randomized_offsets"), BadInput);
}

TEST_CASE("position matrices: rotations, biases of each head, similarities, the order of visits, nothing for NoPE") {
  const auto matrices = [&](const char* spelled, bool causal = false) {
    ModelShape shape = shape_of();
    shape.causal = causal;
    Params params(1);
    const PositionLayers scheme(params, choose_encoding(spelled, trained_on(1024)), shape);
    return position_matrices(scheme, shape, PositionSample({Positions::of_tokens(1, {0, 3, 10})}));
  };
  const auto head = [&](const Tensor& m, int h) { return slice(m, 0, h, h + 1).values(); };
  CHECK(matrices("none").size() == 1);
  CHECK(head(matrices("none")[0], 0) == std::vector<real>(9, 0));
  CHECK(matrices("geometric")[0].values() == std::vector<real>{0, 1, 3, 2, 0, 1, 4, 2, 0});  // when it is visited
  CHECK(matrices("geometric", true)[0].values() == std::vector<real>{0, 0, 0, 1, 0, 0, 2, 1, 0});
  const Tensor alibi = matrices("alibi:mode=differences")[0];
  CHECK(alibi.dim(0) == H);
  for (int h = 0; h < H; ++h) {
    const double slope = std::exp2(-8. * (h + 1) / H);
    CHECK(head(alibi, h)[2] == doctest::Approx(-10 * slope));
    CHECK(head(alibi, h)[3] == doctest::Approx(-2.5 * slope));
  }
  // RoPE: the mean cosine. Added vectors: their cosine; for sin and cos it is that mean with other frequencies.
  const auto mean_cosine = [](double distance, int channels) {
    double sum = 0;
    for (double f : frequencies(channels)) sum += std::cos(distance * f);
    return 2 * sum / channels;
  };
  for (const auto& [spelled, channels] : {std::pair{"rope", D}, {"sincos", C}}) {
    const Tensor m = matrices(spelled)[0];
    CHECK(m.dim(0) == 1);
    for (const auto& [at, distance] : {std::pair{0, 0}, {1, 3}, {2, 10}, {3, 3}, {5, 7}})
      CHECK(m.values()[size_t(at)] == doctest::Approx(mean_cosine(distance, channels)).epsilon(1e-4));
  }
  // Learned: the matrix comes from this model's parameters, so every layer and head has its own.
  CHECK(matrices("relative").size() == size_t(layers));
  CHECK(head(matrices("relative")[0], 0) != head(matrices("relative")[0], 1));
  CHECK(matrices("learned")[0].values()[0] == doctest::Approx(1));
  CHECK(std::abs(double(matrices("learned")[0].values()[1])) < 0.9);
  const std::string two = fmt::format("none*{}+rope*1", H - 1);
  const Tensor grouped = matrices(two.c_str())[0];
  CHECK(grouped.dim(0) == H);
  CHECK(head(grouped, 0) == std::vector<real>(9, 0));
  CHECK(head(grouped, H - 1)[0] == doctest::Approx(1));
}
