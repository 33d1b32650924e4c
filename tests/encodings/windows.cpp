// Schemes with windows and pieces: their distances for pairs, their logits against rotating each pair by itself, the
// limits of their options, and their refusals.
#include <doctest/doctest.h>

#include "encodings/rotary.h"
#include "encodings/sinusoid.h"
#include "encodings/temperature.h"
#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

namespace {

constexpr double none = -1000;   // a masked pair, in tables of distances

ModelShape shape_with(bool causal, int of_layers = layers) { return {of_layers, H, C, causal, 24, 0}; }

Positions count_to(int time) {
  std::vector<double> p;
  for (int t = 0; t < time; ++t) p.push_back(t);
  return Positions::of_tokens(1, p);
}

Tensor distances(const std::string& spelled, bool causal, const Positions& p) {
  const Chosen<Scheme> s = choose_encoding(spelled, trained_on(1024));
  return s->pages.pictures.distances(shape_with(causal), s.choices, p);
}

// Row i of rho: the distances back from query i, in a causal model with `time` slots.
std::vector<double> row(const std::string& spelled, int time, int i) {
  std::vector<double> list;
  for (real x : slice(distances(spelled, true, count_to(time)), 0, i, i + 1).values())
    list.push_back(std::isnan(x) ? none : 0 - double(x));
  return list;
}

// s_ij = q_i . R(d_ij) k_j / sqrt(D): each pair by itself. Queries are not rotated, as in decoding with cached keys.
Tensor pair_by_pair(const Heads& in, const Tensor& d, const Span& span) {
  const int Tq = in.q.dim(1), Tk = in.k.dim(1);
  const std::vector<double> f = frequencies(D);
  Tensor s({B, H, Tq, Tk});
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < Tq; ++i)
        for (int j = 0; j < Tk; ++j) {
          const double by = -d.data()[(Tk - Tq + i) * Tk + j];
          const real *q = in.q.data() + ((b * Tq + i) * H + h) * D, *k = in.k.data() + ((b * Tk + j) * H + h) * D;
          double sum = 0;
          for (int m = 0; m < D / 2; ++m) {
            const double c = std::cos(by * f[size_t(m)]), n = std::sin(by * f[size_t(m)]);
            const double k0 = c * k[2 * m] + n * k[2 * m + 1], k1 = c * k[2 * m + 1] - n * k[2 * m];
            sum += q[2 * m] * k0 + q[2 * m + 1] * k1;
          }
          const bool hidden = std::isnan(by) || (span.causal && j > Tk - Tq + i);
          s.data()[((b * H + h) * Tq + i) * Tk + j] = hidden ? -INFINITY : real(sum / std::sqrt(double(D)));
        }
  return s;
}

Tensor logits_in(const std::string& spelled, const Positions& p, bool causal, size_t layer = 0, int of_layers = 2) {
  const Model model(choose_encoding(spelled, trained_on(1024)), shape_with(causal, of_layers));
  return model.scheme.layers[layer]->logits(Content().heads(model, p), p, {.causal = causal});
}

}  // namespace

TEST_CASE("windows: golden rows of distances") {
  using Row = std::vector<double>;
  CHECK(row("rerope:window=3,leaky=2", 8, 7) == Row{5, 4.5, 4, 3.5, 3, 2, 1, 0});
  CHECK(row("rerope:window=3", 8, 7) == Row{3, 3, 3, 3, 3, 2, 1, 0});
  CHECK(row("rerope:window=3,leaky=0.5", 8, 7) == Row{11, 9, 7, 5, 3, 2, 1, 0});
  CHECK(row("self_extend:window=4,group=2", 12, 11) == Row{7, 7, 6, 6, 5, 5, 4, 4, 3, 2, 1, 0});
  CHECK(row("self_extend:window=3,group=2", 6, 5) == Row{4, 4, 3, 2, 1, 0});
  CHECK(row("self_extend:window=3,group=2,shift=exact", 6, 5) == Row{3.5, 3.5, 2.5, 2, 1, 0});
  CHECK(row("window:window=3", 6, 4) == Row{none, none, 2, 1, 0, none});
  CHECK(row("lambda:window=2,sinks=2", 6, 5) == Row{2, 2, none, none, 1, 0});
  CHECK(row("lambda:window=2,sinks=2", 6, 2) == Row{2, 1, 0, none, none, none});
  CHECK(row("sinks:window=2,sinks=2", 7, 6) == Row{3, 2, none, none, none, 1, 0});   // at 0 1 2 3 in the cache
  CHECK(row("sinks:window=2,sinks=2", 7, 3) == Row{3, 2, 1, 0, none, none, none});
  // The paper's figure 2: chunks of 6, a trained length of 10; no distance reaches 10.
  CHECK(row("dual_chunk:chunk=6,window=4", 13, 12) == Row{9, 8, 7, 6, 5, 4, 6, 5, 4, 3, 2, 1, 0});
  CHECK(row("dual_chunk:chunk=6,window=4", 18, 17) == Row{9, 8, 7, 6, 5, 4, 9, 8, 7, 6, 5, 4, 5, 4, 3, 2, 1, 0});
  CHECK(row("dual_chunk:chunk=6,window=4,last=released", 12, 11) == Row{10, 9, 8, 7, 6, 5, 5, 4, 3, 2, 1, 0});
  CHECK(row("rope", 4, 2) == Row{2, 1, 0, -1});
  // Without a mask, distances to later keys mirror distances to earlier ones with the opposite sign.
  for (const char* spelled : {"rerope:window=3,leaky=2", "self_extend:window=3,group=2", "lambda:window=2,sinks=6"}) {
    const Tensor d = distances(spelled, false, count_to(6));
    CHECK(difference(d, -1 * transpose(d)) == 0);
  }
}

TEST_CASE("windows: the distances of positions that a cache renumbers, for positions of any kind") {
  const Positions p = Positions::of_tokens(1, {3, 4.5, 9, 11, 20, 22, 23});
  const Tensor d = distances("sinks:window=2,sinks=2", true, p);   // query 6 does not see slots 2, 3 and 4
  const std::vector<double> expected = {3. - 9 - 1, 4.5 - 9 - 1};
  for (int j = 0; j < 2; ++j) CHECK(double(d.data()[6 * 7 + j]) == doctest::Approx(expected[size_t(j)]));
  const Tensor wide = distances("rerope:window=4", true, p);
  CHECK(double(wide.data()[2 * 7]) == -4);
  CHECK(double(wide.data()[7]) == -1.5);
}

TEST_CASE("windows: logits equal those of each pair rotated by its distance, for positions and queries of any kind") {
  const std::vector<std::vector<double>> kinds = {{0, 1, 2, 3, 4, 5}, {2, 4.5, 7, 9.5, 12, 14.5}, {9, 8, 7, 6, 5, 4},
                                                  {1, 2, 5, 11, 12, 20}, {0.5, 7, 3, 3.25, 9, 2}, {2, 2, 2, 2, 2, 2}};
  int met = 0;
  for (const char* spelled :
       {"rope", "rerope:window=3", "rerope:window=3,leaky=2", "rerope:window=2,leaky=0.25", "rerope",
        "self_extend:window=3,group=2", "self_extend:window=5,group=3,shift=exact", "window:window=3",
        "window:window=2,rope=off", "lambda:window=2,sinks=2", "lambda:window=3,sinks=4", "sinks:window=2,sinks=1",
        "sinks:window=3,sinks=2", "dual_chunk:chunk=2,window=1", "dual_chunk:chunk=4,window=3,last=released"})
    for (const bool causal : {false, true}) {
      const Chosen<Scheme> scheme = choose_encoding(spelled, trained_on(1024));
      if (!causal && !scheme->causal_only(scheme.choices).empty()) continue;
      const Model model(scheme, shape_with(causal));
      for (const std::vector<double>& kind : kinds)
        for (const int queries : {T, 2}) {
          CAPTURE(spelled);
          CAPTURE(causal);
          CAPTURE(kind);
          const Positions p = Positions::of_tokens(1, kind);
          const Heads in = Content().heads(model, p, queries);
          const Span span{.causal = causal, .offset = T - queries};
          const Tensor expected = pair_by_pair(in, distances(spelled, causal, p), span);
          CHECK(difference(model->logits(in, p, span), expected) < tolerance);
          const Tensor a = where(greater_equal(expected, Tensor::full({1}, -1e30)), softmax(expected),
                                 Tensor::full({1}, 0));
          CHECK(difference(model->weights(in, p, span), a) < tolerance);
          CHECK(difference(model->attend(in, Content().v, p, span), by_head(matmul(a, by_head(Content().v)))) <
                tolerance);
          ++met;
        }
    }
  CHECK(met > 200);
}

TEST_CASE("windows: pieces = pair by pair, gradients too, also with temperatures and padding") {
  const std::vector<double> even = {0, 1, 2, 3, 4, 5};
  std::vector<double> twice = even;   // the other sequence's steps differ slightly: pair by pair
  for (const double p : even) twice.push_back(p * (1 + 1e-13));
  REQUIRE(bool(Positions::of_tokens(2, twice).distances().pairs));
  for (const char* spelled : {"rerope:window=2", "rerope:window=3,leaky=2", "self_extend:window=2,group=2",
                              "dual_chunk:chunk=2,window=1"}) {
    CAPTURE(spelled);
    std::vector<std::vector<Tensor>> results;
    for (const Positions& p : {Positions::of_tokens(1, even), Positions::of_tokens(2, twice)}) {
      const Model model(choose_encoding(spelled, trained_on(1024)), shape_with(true));
      Content content;
      for (Tensor* t : {&content.q, &content.k, &content.v}) t->require_grad();
      Heads in = content.heads(model, p, 4);
      in.temperature = abs(random_tensor({1, 4, H}, 9));
      const Span span{.causal = true, .offset = 2, .key_lengths = Ids({B}, {T, 4})};
      const Tensor o = model->attend(in, content.v, p, span);
      backward(sum_all(o * random_tensor(o.shape(), 99)));
      results.push_back({o, content.q.grad(), content.k.grad(), content.v.grad()});
    }
    for (size_t n = 0; n < 4; ++n) CHECK(difference(results[0][n], results[1][n]) < tolerance);
  }
}

TEST_CASE("windows: limits (spec A.7)") {
  const Positions even = count_to(T), uneven = Positions::of_tokens(1, {1, 2, 5, 11, 12, 20});
  const auto same = [&](const std::string& a, const std::string& b, bool causal, double within = tolerance) {
    for (const Positions& p : {even, uneven}) {
      CAPTURE(a);
      CHECK(difference(logits_in(a, p, causal), logits_in(b, p, causal)) < within);
    }
  };
  for (const bool causal : {false, true}) {
    same("rerope:window=3,leaky=1", "rope", causal);
    same("rerope:window=3,leaky=1000000", "rerope:window=3", causal, 1e-4);
    same("rerope:window=64", "rope", causal);
    same("self_extend:window=64", "rope", causal);
    same("window:window=6", "rope", causal);
    same("window:window=6,rope=off", "none", causal);
    same("lambda:window=6", "rope", causal);
    same("hfwa2:window=6", "rope", causal);
    same("rnope:window=6", "rope", causal);
    same("drope", "rope", causal);
    same("drope:dropped", "none", causal);
  }
  CHECK(difference(logits_in("self_extend:window=3,group=1", even, true), logits_in("rope", even, true)) < tolerance);
  same("sinks:window=6", "rope", true);
  same("dual_chunk:chunk=64", "rope", true);
  same("hfwa:window=6", "rope", true);
  same("irope", "rope", true);
  same("xpos:scale=16777216", "rope", true, 1e-4);
  for (const std::string cut : {"rerope:window=3", "self_extend:window=3", "window:window=3", "lambda:window=3,sinks=1",
                          "sinks:window=3,sinks=1", "dual_chunk:chunk=2", "hfwa:window=3", "xpos:scale=4"}) {
    CAPTURE(cut);
    CHECK(difference(logits_in(cut, even, true), logits_in("rope", even, true)) > 1e-3);
  }
}

TEST_CASE("xpos: golden factors for D = 8, and products that decay by them") {
  const double golden[] = {0.2857, 0.4643, 0.6429, 0.8214};
  ModelShape shape = shape_with(true);
  shape.heads = 1, shape.d_model = 8;
  Params params(1);
  const PositionLayers scheme(params, choose_encoding("xpos:scale=5"), shape);
  for (int m = 0; m < 4; ++m) {
    Tensor x = Tensor::full({1, 6, 1, 8}, 0);
    for (int t = 0; t < 6; ++t) x.data()[t * 8 + 2 * m] = 1;
    const Tensor s = scheme.layers[0]->logits({x, x, {}, {}}, count_to(6), {.causal = true});
    const double turned = std::cos(5 * std::pow(10000, -2. * m / 8)) / std::sqrt(8);
    CHECK(double(s.data()[5 * 6]) == doctest::Approx(golden[m] * turned).epsilon(1e-3));   // 5 apart: z^1
  }
}

TEST_CASE("layers: those with windows, those without positions, and the temperatures of the latter") {
  const Positions p = count_to(T);
  const auto layer = [&](const char* spelled, size_t n) { return logits_in(spelled, p, true, n, 6); };
  const Tensor plain = logits_in("none", p, true, 0, 6), rope = logits_in("rope", p, true, 0, 6);
  const auto times = [&](const std::function<double(double)>& f) {   // row i times f(i + 1)
    Tensor s(plain.shape());
    for (int64_t e = 0; e < s.size(); ++e) {
      const real x = plain.data()[e];
      s.data()[e] = std::isinf(x) ? x : real(x * f(double(e / T % T + 1)));
    }
    return s;
  };
  for (size_t n = 0; n < 5; ++n) CHECK(difference(layer("hfwa:window=3", n), layer("window:window=3", 0)) < tolerance);
  const Tensor log_n = times([](double n) { return std::log(n) / std::log(4); });
  CHECK(difference(layer("hfwa:window=3,length=4", 5), log_n) < tolerance);
  for (size_t n = 0; n < 6; ++n) {
    CAPTURE(n);
    const Tensor &window = layer("window:window=3", 0), &rerope = layer("rerope:window=2", 0);
    CHECK(difference(layer("hfwa2:window=3", n), n == 3 ? rope : window) < tolerance);
    CHECK(difference(layer("hfwa2:window=3,full=2,rerope=2", n), n == 2 || n == 4 ? rerope : window) < tolerance);
    CHECK(difference(layer("irope:every=3,length=2,scale=0.5", n),
                     n % 3 == 2 ? times([](double k) { return 1 + 0.5 * std::log(std::floor(k / 2) + 1); }) : rope) <
          tolerance);
    CHECK(difference(layer("rnope:window=3,every=2", n), n % 2 ? plain : window) < tolerance);
  }
  // 24 layers and w = 16 of Su's experiment: (w - 1)(l - 1) + 1 = 346 of 512
  const Chosen<Scheme> hfwa = choose_encoding("hfwa", trained_on(512));
  const std::string text = hfwa->pages.shows(shape_with(true, 24), hfwa.choices);
  CHECK(text.find("346 tokens, 0.68 of length") != std::string::npos);
}

TEST_CASE("nape: half of the heads have slopes, the others none") {
  const auto bias = [](const char* spelled) {
    const Model model(choose_encoding(spelled, trained_on(1024)), shape_with(true));
    return model->scores(Content().heads(model, count_to(T)), count_to(T)).bias.values();
  };
  const std::vector<real> linear = bias("nape"), exponential = bias("nape:slopes=exponential");
  for (int h = 0; h < H; ++h) {
    const double golden[2][H] = {{1, 1. / 2, 0, 0}, {1, 1. / 2, 0, 0}};
    CHECK(double(linear[size_t(h)]) == doctest::Approx(-5 * golden[0][h]));             // the key 5 slots before
    CHECK(double(exponential[size_t(h)]) == doctest::Approx(-5 * golden[1][h]));
  }
  ModelShape six = shape_with(true);
  six.heads = 6, six.d_model = 12;
  Params params(1);
  const PositionLayers scheme(params, choose_encoding("nape:slopes=exponential"), six);
  const Tensor x = random_tensor({1, 2, 6, 2}, 1);
  const std::vector<real> b = scheme.layers[0]->scores({x, x, {}, {}}, count_to(2)).bias.values();
  for (const auto& [h, slope] : {std::pair{0, 1.}, {1, .5}, {2, .25}, {3, 0.}, {5, 0.}})
    CHECK(double(b[size_t(h)]) == doctest::Approx(-slope));
}

TEST_CASE("windows: pictures have a number for every pair, -1 where it is masked") {
  for (const char* spelled : {"rerope:window=3", "self_extend:window=3", "window:window=3", "lambda:window=2,sinks=1",
                              "sinks:window=2,sinks=1", "dual_chunk:chunk=2", "xpos", "hfwa:window=2"}) {
    CAPTURE(spelled);
    const Model model(choose_encoding(spelled, trained_on(1024)), shape_with(true));
    const Tensor m = position_matrix(model.scheme, shape_with(true), count_to(T));
    CHECK(m.shape() == Shape{1, T, T});
    for (real x : m.values()) CHECK(std::isfinite(x));
    for (int i = 0; i < T; ++i) CHECK(double(m.data()[i * T + i]) == doctest::Approx(1));
    const bool windowed = std::string(spelled).find("w") < 5 || std::string(spelled).find("sinks") != std::string::npos;
    if (windowed) CHECK(double(m.data()[4 * T + 1]) == -1);
  }
}

TEST_CASE("windows: a length that is left out is a share of the trained length, in every spelling") {
  const auto spelled = [](const char* text) { return choose_encoding(text).spelled(); };
  CHECK(spelled("rerope") == "rerope:window=0.5L");
  CHECK(spelled("rerope:leaky=4") == "rerope:window=0.5L,leaky=4");
  CHECK(spelled("rerope:window=512") == "rerope:window=512");
  CHECK(spelled("dual_chunk") == "dual_chunk:chunk=0.75L,window=0.25L");
  CHECK(spelled("rope|window*2+alibi*6") == "rope|window:window=0.5L*2+alibi*6");
  CHECK(spelled("sincos&lambda") == "sincos&lambda:window=0.5L");
  CHECK(choose_encoding("rope|rerope", trained_on(41)).spelled() == "rope|rerope:window=20");
  for (const char* name : {"rerope", "self_extend", "window", "lambda", "sinks", "rnope"})
    CHECK(choose_encoding(name, trained_on(64)).choices.whole("window") == 32);
  CHECK(choose_encoding("irope", trained_on(64)).choices.whole("length") == 64);
  CHECK_THROWS_WITH_AS(choose_encoding("rerope").choices.whole("window"),
                       doctest::Contains("is a share of the trained length, which is unknown here; give a number"),
                       BadInput);
}

TEST_CASE("lengths: each scheme, sampler and temperature takes the run's trained length if none is given") {
  int schemes = 0, samplers = 0, temperatures = 0;
  for (const Scheme& s : all_encodings())
    for (const Option& o : s.options)
      if (o.name == "length" && s.name != "fire") {  // fire's L is learned and begins at 512
        CAPTURE(s.name);
        const Choices c = choose_encoding(s.name, trained_on(128)).choices;
        CHECK(c.spelled().find("length=128") != std::string::npos);
        CHECK(c.number("length") == 128);
        CHECK(choose_encoding(s.name + ":length=99", trained_on(128)).choices.number("length") == 99);
        // without a known trained length its share is not computed
        CHECK_THROWS_WITH_AS(choose_encoding(s.name).choices.number(o.name),
                             doctest::Contains("is a share of the trained length, which is unknown here"), BadInput);
        ++schemes;
      }
  for (const Sampler& s : all_samplers())
    for (const Option& o : s.options)
      if (o.name == "trained") {
        const std::string both = "sequential|" + s.name;
        CHECK(choose_sampler(s.name, trained_on(128)).choices.whole(o.name) == 128);
        CHECK(choose_sampler(both, trained_on(128)).spelled() ==
              "sequential|" + s.name + ":trained=128");
        CHECK(choose_sampler(s.name + "&" + s.name + ":trained=9").spelled() ==
              s.name + ":trained=1L&" + s.name + ":trained=9");
        ++samplers;
      }
  for (const TemperaturePolicy& t : all_temperatures())
    for (const Option& o : t.options)
      if (o.name == "length") {
        CHECK(choose_temperature(t.name).spelled() == t.name + ":length=1L");
        CHECK(choose_temperature(t.name, trained_on(128)).spelled() == t.name + ":length=128");
        ++temperatures;
      }
  CHECK(schemes == 12);
  CHECK(samplers == 2);
  CHECK(temperatures == 2);
}

TEST_CASE("windows: a scheme names the option that no string reaches, and its layers then equal those of RoPE") {
  const auto said = [](const std::string& spelled, int slots, int positions) {
    const Chosen<Scheme> s = choose_encoding(spelled, trained_on(1024));
    return s->pages.unreached(s.choices, {slots, positions});
  };
  CHECK(said("rerope:window=6", 6, 6) == "window = 6");
  CHECK(said("rerope:window=6", 8, 8) == "");
  CHECK(said("rerope", 40, 2048) == "");                       // random positions are farther apart
  CHECK(said("window", 40, 2048) == "window = 512");           // this window counts slots: 40
  CHECK(said("dual_chunk", 40, 40) == "chunk = 768");
  CHECK(said("irope", 40, 40) == "length = 1024");
  CHECK(said("rope", 40, 40) == "");
  CHECK(said("yarn:dynamic", 40, 40) == "length = 1024");
  CHECK(said("yarn", 40, 40) == "");
  CHECK(said("rope|rerope", 40, 40) == "window = 512 of its part rerope");
  CHECK(said("scale_invariant:of=rerope/window=512", 40, 40) == "window = 512");
}

TEST_CASE("windows: an option is named as unreached if, and only if, it changes no logit") {
  constexpr int T = 6, layers = 4;
  const Positions counted = Positions::of_tokens(1, {0, 1, 2, 3, 4, 5});
  int tried = 0;
  for (const Scheme& scheme : all_encodings())
    for (const Option& o : scheme.options) {
      const auto at = [&](int value) { return fmt::format("{}:{}={}", scheme.name, o.name, value); };
      const auto beyond = [&](int value) {
        const Chosen<Scheme> s = choose_encoding(at(value), trained_on(T));
        return s->pages.unreached(s.choices, {T, T}).starts_with(o.name + " = ");
      };
      try {
        if (!beyond(500)) continue;
        choose_encoding(at(T - 2), trained_on(T));
      } catch (const BadInput&) { continue; }                  // options that are not numbers of slots
      for (int value = T - 2; value <= T + 1; ++value) {
        float moved = 0;
        for (size_t n = 0; n < layers; ++n)
          moved = std::max(moved, float(difference(logits_in(at(value), counted, true, n, layers),
                                                   logits_in(at(500), counted, true, n, layers))));
        CHECK_MESSAGE(beyond(value) == (moved == 0), at(value) << ": logits move by " << moved);
      }
      ++tried;
    }
  CHECK(tried == 11);
}

TEST_CASE("windows: invalid options are refused") {
  const auto spelling = [](const char* text) { return refused(text, shape_with(true)); };
  const std::string takes = "it takes 2 .. 16777216, or 0.5L: half of the trained length";
  CHECK(spelling("rerope:window=0") == "rerope: window = 0 is out of range; " + takes);
  CHECK(spelling("window:window=1") == "window: window = 1 is out of range; " + takes);
  CHECK(spelling("self_extend:group=0") == "self_extend: group = 0 is out of range; it takes 1 .. 16777216");
  CHECK(refused("sinks", shape_with(false)) ==
        "sinks:window=512 needs a causal mask: its positions are those of a cache that holds only the past; add "
        "--causal (Python: causal=True)");
  ModelShape odd = shape_with(true), single = odd;
  odd.d_model = 12, single.heads = 1;
  for (const char* name : {"rerope", "self_extend", "window", "lambda", "sinks", "dual_chunk", "xpos", "hfwa", "hfwa2",
                           "irope", "rnope", "drope"})
    CHECK(refused(name, odd).find("make the head size even") != std::string::npos);
  CHECK_THROWS_WITH_AS(logits_in("xpos:scale=1", Positions::of_tokens(1, {0, 1, 2, 3, 4, 500}), true),
                       "xpos: positions from 0 to 500 are too far apart for scale = 1: factors overflow a float; "
                       "use scale=4 or more",
                       BadInput);
  CHECK(refused("nape", single) == "nape gives half of the heads positions, but heads = 1; use 2 or more");
  for (const char* name : {"sinks", "dual_chunk", "xpos", "hfwa", "irope"})
    CHECK(refused(name, shape_with(false)).find("needs a causal mask") != std::string::npos);
}
