// Golden values of the biases by distance (spec A.3 (15), A.5, A.6, A.7), their limits, and their refusals.
#include <doctest/doctest.h>

#include "encodings/calibrated.h"
#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

namespace {

void fill(const Model& model, const std::string& name, const std::vector<double>& values) {
  Tensor t = model.params.at("encoding." + name);
  REQUIRE(t.size() % int64_t(values.size()) == 0);
  for (int64_t i = 0; i < t.size(); ++i) t.data()[i] = real(values[size_t(i) % values.size()]);
}
void fill_with_row_numbers(const Model& model, const std::string& name) {
  Tensor t = model.params.at("encoding." + name);
  for (int64_t i = 0, row = 0; i < t.size(); row = ++i / t.dim(1)) t.data()[i] = real(row);
}

// The scores of `time` queries and keys, at positions 0, step, 2 step, ...
Scores scores_of(const Model& model, double step, int time = 2, int heads = H) {
  std::vector<double> at;
  for (int t = 0; t < time; ++t) at.push_back(t * step);
  const Tensor q = Tensor::full({1, time, heads, D}, 1), x = Tensor::full({1, time, heads * D}, 1);
  return model->scores({q, q, x, x}, Positions::of_tokens(1, at));
}
// The entry of a row table, (2 time - 1, H), at distance `away`, in units of the step.
double at(const Tensor& rows, int away, int head = 0) {
  return double(rows.data()[(away + rows.dim(0) / 2) * rows.dim(1) + head]);
}
double bias(const Model& model, double distance, int head = 0, int heads = H) {
  return at(scores_of(model, std::abs(distance), 2, heads).bias, distance < 0 ? -1 : 1, head);
}

const auto about = [](double x) { return doctest::Approx(x).epsilon(2e-4); };

}  // namespace

TEST_CASE("t5: the first distance of each bucket, in whole numbers, for both sides and causal") {
  const std::vector<int> both = {8, 12, 16, 23, 32, 46, 64, 91};   // buckets 8 .. 15
  const std::vector<int> causal = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};   // 16 .. 31
  const int time = 200;
  for (const bool masked : {false, true}) {
    const Model model = model_of("t5", shape_of(H, masked));
    fill_with_row_numbers(model, "table");
    const Tensor rows = scores_of(model, 1, time).bias;
    const std::vector<int>& first = masked ? causal : both;
    const int fine = masked ? 16 : 8;
    for (int d = 0; d < time; ++d) {
      const int beyond = int(std::count_if(first.begin(), first.end(), [&](int f) { return f <= d; }));
      const int bucket = d < fine ? d : fine - 1 + beyond;
      CAPTURE(d);
      CHECK(at(rows, -d) == bucket);
      if (d > 0) CHECK(at(rows, d) == (masked ? 0 : 16 + bucket));
    }
  }
  const Model model = model_of("t5");
  fill_with_row_numbers(model, "table");
  CHECK(bias(model, -7.9) == 7);            // rounded down to a whole distance, up to a rounding error
  CHECK(bias(model, -8 + 1e-12) == 8);
  CHECK(bias(model, 11.9) == 16 + 8);
  CHECK(bias(model, 1e6) == 31);
}

TEST_CASE("t5: one table for all layers, one for each part of a composition; with and without sqrt(D)") {
  const auto names = [](const std::string& spelled) {
    const Model model = model_of(spelled);
    std::vector<std::string> all;
    for (const Params::Entry& e : model.params.entries()) all.push_back(e.name + " " + to_string(e.tensor.shape()));
    return all;
  };
  using List = std::vector<std::string>;
  CHECK(names("t5") == List{"encoding.table (32, 4)"});
  CHECK(names("none*1+t5*3") == List{"encoding.group1.table (32, 3)"});
  CHECK(names("t5|t5:buckets=16") == List{"encoding.turn0.table (32, 4)", "encoding.turn1.table (16, 4)"});
  CHECK(names("kerple") == List{"encoding.power (4)", "encoding.slope (4)"});
  CHECK(names("fire:shared").size() == 5);
  CHECK(names("fire").size() == 5 * layers);

  const Model plain = model_of("t5"), raw = model_of("t5:unscaled"), neox = model_of("t5:sqrt_d");
  CHECK(double(scores_of(plain, 1).scale) == 0.5);
  CHECK(double(scores_of(raw, 1).scale) == 1);
  CHECK(bias(neox, 1) == about(2 * bias(plain, 1)));
  CHECK(bias(raw, 1) == bias(plain, 1));
  const Model wide = model_of("t5:init=0.25");  // the scale of initial values; 1 / sqrt(d_model) by default
  const double by_default = 1 / std::sqrt(double(shape_of().d_model));
  CHECK(bias(wide, 1) == about(0.25 / by_default * bias(model_of("t5"), 1)));
}

TEST_CASE("kerple: golden values; a power of 1 is alibi; learned numbers stay above 0.01, powers below 2") {
  const Model log_kind = model_of("kerple"), power = model_of("kerple:kind=power,weight");
  fill(log_kind, "power", {1}), fill(log_kind, "slope", {0.5});
  for (const auto& [r, golden] : {std::pair{0., 0.}, {1., -.40547}, {2., -.69315}, {10., -1.79176}})
    for (const double side : {-1., 1.}) CHECK(bias(log_kind, r > 0 ? side * r : 1e-12) == about(golden).epsilon(1e-5));
  fill(log_kind, "power", {-3}), fill(log_kind, "slope", {-3});
  CHECK(bias(log_kind, 100) == about(-0.01 * std::log(2)));

  fill(power, "power", {1}), fill(power, "slope", {.25, .0625, .015625, 1});   // alibi's slopes, if above 0.01
  fill(power, "weight_power", {2}), fill(power, "weight_slope", {0.1});
  const auto three_heads = [](const Tensor& rows) { return slice(rows, 1, 0, 3); };
  const Tensor alibi = scores_of(model_of("alibi:symmetric"), 3, 5).bias;
  CHECK(difference(three_heads(scores_of(power, 3, 5).bias), three_heads(alibi)) < tolerance);
  for (const int away : {-2, 0, 1}) CHECK(at(scores_of(power, 3, 5).gain, away) == about(std::exp(-.9 * away * away)));
  fill(power, "weight_power", {7});
  CHECK(at(scores_of(power, 3).gain, 1) == about(std::exp(-.9)));
}

TEST_CASE("sandwich: golden values for 8 heads") {
  const Model model = model_of("sandwich", shape_of(8));
  for (const auto& [r, first, last] :
       {std::array{0., 0., 0.}, {1., -1.4466, -.1808}, {10., -19.341, -2.4176}, {100., -33.319, -4.1649}}) {
    CHECK(bias(model, -r, 0, 8) == about(first));
    CHECK(bias(model, r, 7, 8) == about(last));
  }
}

TEST_CASE("scale_invariant: golden factors and terms, and equal weight at every scale") {
  const Model model = model_of("scale_invariant");
  for (const auto& [r, gain, term] : {std::array{1., 1.0912, -.1906}, {10., 1.5448, -1.3863}, {100., 2.4074, -4.7958},
                                      {1000., 3.1985, -9.2302}})
    for (int away : {-1, 1}) {
      CHECK(at(scores_of(model, r).gain, away) == about(gain));
      CHECK(at(scores_of(model, r).bias, away) == about(term));
    }
  CHECK(at(scores_of(model, 1).gain, 0) == 1);
  CHECK(at(scores_of(model, 1).bias, 0) == 0);
  // With logits from N(0, 1), exp has the mean exp(gain^2 / 2 + bias): its sum over [t, 2t) tends to a constant.
  const int time = 8192;
  std::vector<double> total;
  const Tensor q = Tensor::full({1, time, 1, 1}, 0);
  std::vector<double> places(size_t(time), 0.);
  for (int t = 0; t < time; ++t) places[size_t(t)] = t;
  const Scores s = model_of("scale_invariant", {2, 1, 1})->scores({q, q, q, q}, Positions::of_tokens(1, places));
  for (int t = 1024; t < time; t *= 2) {
    double sum = 0;
    for (int r = t; r < 2 * t; ++r) sum += std::exp(at(s.gain, r) * at(s.gain, r) / 2 + at(s.bias, r));
    total.push_back(sum);
  }
  for (const double sum : total) CHECK(sum == doctest::Approx(total.back()).epsilon(0.02));
}

TEST_CASE("scale_invariant: the logits of another scheme, in equal steps and not") {
  const NoGrad still;
  for (const char* of : {"rope", "alibi/mode=differences", "t5", "relative/mode=differences", "rerope/window=2"}) {
    std::string alone = of;
    if (const size_t slash = alone.find('/'); slash != std::string::npos) alone[slash] = ':';
    const Model model = model_of(std::string("scale_invariant:tau=3,of=") + of), inner = model_of(alone);
    for (const std::vector<double>& places : {std::vector<double>{0, 1, 2, 3, 4, 5}, {0, 3, 4, 9, 11, 30}}) {
      CAPTURE(of);
      CAPTURE(places[1]);
      const Positions p = Positions::of_tokens(1, places);
      const Content c;
      const Heads in = c.heads(model, p);
      const Tensor s = model->logits(in, p, {}), plain = inner->logits(in, p, {});
      for (int h = 0; h < H; ++h)
        for (int i = 0; i < T; ++i)
          for (int j = 0; j < T; ++j) {
            const double squared = 2 * std::log(std::abs(places[size_t(j)] - places[size_t(i)]) / 3 + 1) + 1;
            const int64_t at = (int64_t(h) * T + i) * T + j;
            CHECK(s.data()[at] == about(std::sqrt(squared) * plain.data()[at] + 1 - squared));
          }
      const Tensor weights = model->weights(in, p, {});
      CHECK(difference(model->attend(in, c.v, p, {}),
                       permute(matmul(weights, permute(c.v, {0, 2, 1, 3})), {0, 2, 1, 3})) < 1e-5);
    }
  }
  const Chosen<Scheme> of_table = choose_encoding("scale_invariant:of=alibi");
  CHECK(sampler_for(of_table, choose_sampler("randomized")).spelled().starts_with("randomized_offsets"));
  CHECK_THROWS_WITH(model_of("scale_invariant:of=cope"),
                    "scale_invariant: of = cope; it works with none, relative, alibi, t5, rope and rerope");
}

TEST_CASE(
    "scale_invariant: of a windowed scheme, masked pairs are finite before a temperature of 0, and gradients too") {
  const Model model = model_of("scale_invariant:of=rerope/window=2", shape_of(H, true));
  const Positions p = Positions::of_tokens(1, {0, 1, 2, 3, 4, 5});
  const Content c;
  Heads in = c.heads(model, p);
  in.temperature = Tensor::full({1, T, 1}, 0);
  in.temperature.require_grad();
  const Span span{.causal = true};
  const Tensor weights = model->weights(in, p, span);
  for (int i = 0; i < T; ++i)
    for (int j = 0; j < T; ++j) CHECK(weights.data()[i * T + j] == about(j <= i ? 1. / (i + 1) : 0));
  const Tensor o = model->attend(in, c.v, p, span);
  backward(sum(o.reshape({1, int(o.size())}), 1).reshape({1}));
  for (const real g : in.temperature.grad().values()) CHECK(std::isfinite(g));
}

TEST_CASE("fire: golden inputs of its network, whose sign is reversed for keys to the right") {
  const Model model = model_of("fire", shape_of(H, true));
  for (const double sign : {1., -1.}) {
    std::vector<double> first(32, 0.), last(size_t(32 * H), 0.);
    first[0] = sign, last[0] = 1;                  // head 0 becomes max(sign x, 0)
    fill(model, "layer1.w1", first), fill(model, "layer1.w2", last);
    for (const auto& [p, golden] : {std::pair{std::array{5., 10.}, .1025}, {std::array{500., 1000.}, .8519}}) {
      const Tensor q = Tensor::full({1, 2, H, D}, 1), x = Tensor::full({1, 2, C}, 1);
      const Scores s = model->scores({q, q, x, x}, Positions::of_tokens(1, {p[0], p[1]}));
      const auto of = [&](int i, int j) { return double(s.bias.data()[s.pairs[2 * i + j] * H]); };
      CHECK(of(1, 0) == about(sign > 0 ? golden : 0).epsilon(1e-3));
      CHECK(of(0, 0) == 0);
      if (p[0] == 5) CHECK(of(0, 1) == about(sign < 0 ? golden : 0).epsilon(1e-3));
    }
  }
  fill(model, "layer1.m", {-2});                   // |m| L = 1024: both queries are within that distance of the start
  fill(model, "layer1.w1", {1});
  const Tensor q = Tensor::full({1, 2, H, D}, 1), x = Tensor::full({1, 2, C}, 1);
  const auto now = [&](double shift) {
    return model->scores({q, q, x, x}, Positions::of_tokens(1, {500 + shift, 1000 + shift})).bias;
  };
  CHECK(difference(now(0), now(20)) < tolerance);
  CHECK(difference(now(0), now(2000)) > 0.01);
}

TEST_CASE("relative_bias, tisa: rows and bumps are at the right distances") {
  const Model rows = model_of("relative_bias");
  fill_with_row_numbers(rows, "layer1.table");
  for (const auto& [d, row] :
       {std::pair{-1e4, 0.}, {-128., 0.}, {-3., 125.}, {2.4, 130.4}, {2.6, 130.6}, {128., 256.}, {500., 256.}})
    CHECK(bias(rows, d) == about(row));

  const Model bumps = model_of("tisa:kernels=2");   // (2, H): in head 0 both bumps, in the others only the second
  fill(bumps, "layer1.amplitude", {3, 0, 0, 0, -2, -2, -2, -2});
  fill(bumps, "layer1.sharpness", {-0.5, 1, 1, 1, 0.25, 0.25, 0.25, 0.25});
  fill(bumps, "layer1.centre", {4, 0, 0, 0, -3, -3, -3, -3});
  for (const double d : {-3., 1., 4.}) {
    const double second = -2 * std::exp(-0.25 * (d + 3) * (d + 3));
    CHECK(bias(bumps, d, 0) == about(3 * std::exp(-0.5 * (d - 4) * (d - 4)) + second));
    CHECK(bias(bumps, d, 2) == about(second));
  }
}

TEST_CASE("hard_alibi: head h sees the last h keys, the other half all that NoPE sees; one head has no window") {
  const Content content;
  const Positions p = Positions::of_tokens(1, {0, 7, 8, 9, 30, 31});
  for (const bool causal : {false, true}) {
    const Model model = model_of("hard_alibi", shape_of(H, causal)), none = model_of("none", shape_of(H, causal));
    const Tensor a = model->weights(content.heads(model, p), p, {.causal = causal}),
                 b = none->weights(content.heads(none, p), p, {.causal = causal});
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < T; ++i)
        for (int j = 0; j < T; ++j) {
          const real of = a.data()[(h * T + i) * T + j];
          if (h < 2) CHECK((of > 0) == (std::abs(i - j) <= h && (!causal || j <= i)));
          else CHECK(double(of) == about(double(b.data()[(h * T + i) * T + j])));
        }
  }
  CHECK_THROWS_WITH_AS(model_of("hard_alibi:windowed=5"),
                       "hard_alibi: windowed = 5 of heads = 4; give at most the number of heads", BadInput);
}

TEST_CASE("hidden pairs stay hidden in each head whose learned temperature turns negative") {
  const Content content;
  const Positions p = Positions::of_tokens(1, {0, 1, 2, 3, 4, 5});
  for (const char* spelled : {"hard_alibi:windowed=4", "alibi:sides=split", "alibi:sides=split,learned",
                              "calibrated:of=all -1:0.5 0:0.5"}) {
    CAPTURE(spelled);
    const Model model = model_of(spelled);
    Heads in = content.heads(model, p);
    const Tensor usual = model->weights(in, p, {});
    in.temperature = Tensor::from({1, T, H}, [] {
      std::vector<double> f;
      for (int i = 0; i < T; ++i) f.insert(f.end(), {1, -1, -0.5, 2});
      return f;
    }());
    const Tensor a = model->weights(in, p, {}), s = model->logits(in, p, {});
    for (int64_t n = 0; n < a.size(); ++n) {
      CHECK((a.data()[n] > 0) == (usual.data()[n] > 0));
      CHECK((a.data()[n] > 0) == std::isfinite(s.data()[n]));
    }
  }
}

TEST_CASE("calibrated: each head has its list, an empty one adds nothing, at any positions and length") {
  const ModelShape shape{2, 2, 2 * D, false, 24, 0};
  const std::string spelled = "calibrated:of=1.1 0:3 1.2 0:4 2.1 -2:0.5 1:-1 2.2";
  const Model model = model_of(spelled, shape);                    // layer 2 of the list
  for (const int time : {2, 5, 40}) {
    const Tensor rows = scores_of(model, 7.5, time, 2).bias;
    for (int d = 1 - time; d < time; ++d) {
      CAPTURE(d);
      CHECK(at(rows, d, 0) == about(d == -2 ? 0.5 : d == 1 ? -1 : -1e6));
      CHECK(at(rows, d, 1) == 0);
    }
  }
  const Calibration c = read_calibration(" 2.1 -2:.5  1:-1 2.2 1.2 1.1 0:3 ");
  CHECK(c.layers == 2);
  CHECK(c.of(1, 0).at(-2) == 0.5);
  CHECK(text_of(c) == "1.1 0:3 1.2 2.1 -2:0.5 1:-1 2.2");
  CHECK(text_of(read_calibration(text_of(c))) == text_of(c));
  const auto refused = [&](const std::string& of) -> std::string {
    try {
      model_of("calibrated:of=" + of, shape);
      return "";
    } catch (const BadInput& e) { return e.what(); }
  };
  const auto says = [&](const std::string& of, const std::string& what) {
    INFO(refused(of));
    CHECK(refused(of).find(what) != std::string::npos);
  };
  says("1.1 0:3", "calibrated has biases for 1 layers of 1 heads, but the model has layers = 2, heads = 2");
  says("1.1 1.2 2.1", "3 lists for 2 layers of 2 heads; give each head its list");
  says("0:3", "\"0:3\" belongs to no head");
  says("first 0:3", "\"first\": calibrated expects LAYER.HEAD");
  says("all 0:3 0:4", "calibrated: 0:4 gives its head distance 0 twice");
  says("all 0:3 all 1:4", "all is listed twice");
  says("all 0:3 1.1 1:4", "there are lists for `all` and for single heads");
  says("all 0:nan", "the bias of 0:nan = nan is out of range");
  says("all x:1", "the distance of x:1 = \"x\" is not a whole number");
  says("0.1 0:1", "the layer of 0.1 = 0 is out of range");
}

TEST_CASE("alibi: learned slopes begin at the fixed ones; each half of the heads may have its own side") {
  const auto rows = [](const std::string& spelled, bool causal = false) {
    return scores_of(model_of(spelled, shape_of(H, causal)), 2.5, 4).bias;
  };
  CHECK(difference(rows("alibi:learned"), rows("alibi")) < tolerance);
  CHECK(difference(rows("alibi:sides=two_slopes"), rows("alibi:symmetric")) < tolerance);
  for (const char* sides : {"alibi:sides=split", "alibi:sides=two_slopes,learned"})
    CHECK(difference(rows(sides, true), rows("alibi", true)) < tolerance);  // a mask leaves only one side
  const Model two = model_of("alibi:sides=two_slopes");
  fill(two, "layer1.log_slope", {0}), fill(two, "layer1.log_slope_right", {std::log(3.)});
  CHECK(bias(two, -2) == about(-2));
  CHECK(bias(two, 2) == about(-6));
  const double slope[] = {.0625, .00390625};                               // of the two heads
  for (const char* spelled : {"alibi:sides=split", "alibi:sides=split,learned"}) {
    const Tensor half = rows(spelled);
    for (int h = 0; h < H; ++h) {
      CHECK(at(half, h < 2 ? -1 : 1, h) == about(-2.5 * slope[h % 2]));
      CHECK(at(half, h < 2 ? 1 : -1, h) < -1e8);
      CHECK(at(half, 0, h) == 0);
    }
    const Tensor shown = position_matrix(model_of(spelled).scheme, shape_of(), Positions::of_tokens(1, {0, 1}));
    CHECK(shown.values()[1] == -INFINITY);         // head 0 does not see keys on the right
    CHECK(double(shown.values()[2]) == about(-slope[0]));
  }
}
