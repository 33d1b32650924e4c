// Attention alignment: the propositions against their golden numbers and against simulated logits, Algorithm 1 against
// a loop over temperatures, and the policy that stores the temperatures that were found.
#include "experiment/align.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/random.h"

using namespace poslab;

namespace {

// Rows of normally distributed logits, each row with one planted logit.
struct Simulated {
  int keys;
  double deviation, planted;
  std::vector<std::vector<double>> rows;
  Simulated(int keys, double deviation, double planted, int count, uint32_t seed)
      : keys(keys), deviation(deviation), planted(planted) {
    Rng rng({0, 9, seed});
    for (int n = 0; n < count; ++n) {
      std::vector<double> row;
      while (int(row.size()) < keys - 1) row.push_back(deviation * rng.normal());
      row.push_back(planted);
      rows.push_back(row);
    }
  }
  // the means of the largest weight and of the entropy over rows
  struct Measured {
    double weight = 0, entropy = 0;
  };
  Measured at(double tau) const {
    Measured mean;
    for (const std::vector<double>& row : rows) {
      double z = 0, sum = 0, top = -INFINITY;
      for (const double l : row) top = std::max(top, l / tau);
      for (const double l : row) z += std::exp(l / tau - top), sum += std::exp(l / tau - top) * (l / tau - top);
      mean.weight += 1 / z / double(rows.size());
      mean.entropy += (std::log(z) - sum / z) / double(rows.size());
    }
    return mean;
  }
  // The tau at which a figure has the value `wanted`; the largest weight falls with tau, the entropy rises.
  template <class Figure>
  double tau_of(double wanted, bool rising, const Figure& figure) const {
    double low = 0.02, high = 1.5;
    for (int n = 0; n < 24; ++n) {
      const double middle = (low + high) / 2;
      ((figure(at(middle)) < wanted) == rising ? low : high) = middle;
    }
    return (low + high) / 2;
  }
};
double weight_of(const Simulated::Measured& m) { return m.weight; }
double entropy_of(const Simulated::Measured& m) { return m.entropy; }

double within(double a, double b) { return std::abs(a - b) / std::abs(b); }

RunSpec small() {
  return RunSpec(configure({{"task", "reverse_string"},
                            {"encoding", "alibi"},
                            {"layers", "2"},
                            {"heads", "2"},
                            {"d_model", "16"},
                            {"batch", "4"},
                            {"seed", "3"}}));
}
// Scales the weights, because logits are near 0 before training.
void sharpen(State& state) {
  for (const Params::Entry& e : state.params.entries())
    if (e.name.find("attention.query") != std::string::npos || e.name.find("embedding") != std::string::npos)
      for (int64_t n = 0; n < e.tensor.size(); ++n) e.tensor.data()[n] *= 12;
}

}  // namespace

TEST_CASE("align: the golden numbers of the propositions and of the log rule") {
  const double P = .28, from = 512, to = 15000;
  for (const auto& [variance, tau] : {std::pair{.25, .585}, {1., .545}, {2., .447}}) {
    const Proposition1 p = proposition1(P, from, variance, to, variance);
    CHECK(p.reachable);
    CHECK(std::abs(p.tau - tau) < 5.1e-4);
  }
  const Proposition1 none = proposition1(P, from, 3, to, 3);
  CHECK(!none.reachable);
  CHECK(none.tau == doctest::Approx(3 / (std::log(P * from) + 1.5)));
  for (const auto& [variance, tau] : {std::pair{.25, .189}, {1., .359}, {2., .478}, {3., .555}})
    CHECK(std::abs(proposition2(from, variance, to, variance) - tau) < 5.1e-4);
  CHECK(std::abs(log_rule(from, to) - .649) < 5.1e-4);
  CHECK(proposition1(1, from, 0, to, 0).tau == doctest::Approx(log_rule(from, to)));
}

TEST_CASE("align: proposition 1 against simulated logits, if one key has little weight, and if it has much") {
  // e^l / (L e^(s^2 / 2)): the proposition's estimate of the largest weight, with the planted key left out of the sum
  const double s = .25, planted = std::log(.01 * 512) + s * s / 2;
  const Simulated brief(512, s, planted, 60, 1), lengthy(15000, s, planted, 30, 2);
  const double P = brief.at(1).weight;
  CHECK(within(.01, P) < .02);
  const Proposition1 p = proposition1(P, 512, s * s, 15000, s * s);
  REQUIRE(p.reachable);
  CHECK(within(p.tau, lengthy.tau_of(P, false, weight_of)) < .02);
  CHECK(within(P, lengthy.at(p.tau).weight) < .02);
  CHECK(within(std::log(512) - s * s / 2, brief.at(1).entropy) < .02);
  // A key with a quarter of the weight is a large part of the sum itself: its actual weight is 0.28 / 1.28.
  const Simulated peaked(512, s, std::log(.28 * 512) + s * s / 2, 60, 3);
  const double much = peaked.at(1).weight;
  CHECK(within(.28 / 1.28, much) < .02);
  CHECK(within(.28, much) > .2);
  const double found = proposition1(much, 512, s * s, 15000, s * s).tau;
  const double tau = Simulated(15000, s, peaked.planted, 30, 8).tau_of(much, false, weight_of);
  CHECK((within(found, tau) > .01 && within(found, tau) < .04));
}

TEST_CASE("align: proposition 2 against simulated logits, without and with a key that stands out") {
  const double s = 1;
  const Simulated brief(512, s, 0, 60, 4), lengthy(2048, s, 0, 60, 5);
  const double tau = proposition2(512, s * s, 2048, s * s), H = brief.at(1).entropy;
  CHECK(within(std::log(512) - s * s / 2, H) < .02);
  CHECK(within(tau, lengthy.tau_of(H, true, entropy_of)) < .02);
  CHECK(within(H, lengthy.at(tau).entropy) < .02);
  const double planted = std::log(.28 * 512) + s * s / 2;  // as for proposition 1
  const Simulated peaked(2048, s, planted, 60, 6);
  CHECK(within(tau, peaked.tau_of(Simulated(512, s, planted, 60, 7).at(1).entropy, true, entropy_of)) > .2);
}

TEST_CASE("align: Algorithm 1 takes the nearest temperature of the grid, for the model, a layer, or a head") {
  State state(small());
  sharpen(state);
  const Probed model = probed(state, 4);
  const RowMeans target = dispersion(model, 5, {}, aligned_on).of_model();
  for (const AlignMode mode : {AlignMode::pmax, AlignMode::entropy}) {
    const auto figure = [&](const RowMeans& m) { return mode == AlignMode::pmax ? m.largest_weight : m.entropy; };
    Aligning how{.mode = mode, .shortest = 5, .longer = {20, 60}};
    int steps = 0;
    const Alignment found = align(model, how, [&](int done, int, int) { steps = done; });
    CHECK(steps > 20);
    REQUIRE(found.lengths.size() == 2);
    for (const AlignedAt& l : found.lengths) {
      double best = 0, least = INFINITY;
      for (const double tau : how.grid) {
        const Chosen<TemperaturePolicy> constant = choose_temperature(fmt::format("constant:tau={}", tau));
        const double off =
            std::abs(figure(dispersion(model, l.length, constant, aligned_on).of_model()) - figure(target));
        if (off < least - 1e-6) least = off, best = tau;
      }
      CHECK(l.found.tau == std::vector{best});
      CHECK(l.found.keys == 2 * l.length);
      CHECK(std::abs(figure(l.after.of_model()) - figure(target)) == doctest::Approx(least).epsilon(1e-3));
      CHECK(std::abs(figure(l.after.of_model()) - figure(target)) <=
            std::abs(figure(l.before.of_model()) - figure(target)));
    }
    how.longer = {40};
    for (const auto& [per, count] : {std::pair{AlignPer::layer, 2}, {AlignPer::head, 4}}) {
      how.per = per;
      const Alignment finer = align(model, how, [](int, int, int) {});
      const AlignedAt& l = finer.lengths[0];
      REQUIRE(l.found.tau.size() == size_t(count));
      const auto of = [&](const Dispersion& d, int n) {
        return figure(per == AlignPer::layer ? d.of_layer(n) : d.of(n / 2, n % 2));
      };
      for (int n = 0; n < count; ++n)
        CHECK(std::abs(of(l.after, n) - of(finer.target, n)) <= std::abs(of(l.before, n) - of(finer.target, n)) + 0.05);
    }
  }
}

TEST_CASE("align: the rules equal their formulas, with figures of a model's first layer") {
  State state(small());
  const Probed model = probed(state, 2);
  const RowMeans from = dispersion(model, 5, {}, aligned_on).of_layer(0),
                 to = dispersion(model, 60, {}, aligned_on).of_layer(0);
  const auto tau = [&](AlignMode mode) {
    return align(model, {.mode = mode, .shortest = 5, .longer = {20, 60}}, [](int, int, int) {})
        .lengths[1]
        .found.tau[0];
  };
  CHECK(tau(AlignMode::log) == doctest::Approx(std::log(10) / std::log(120)));
  CHECK(tau(AlignMode::prop1) ==
        doctest::Approx(proposition1(from.largest_weight, 10, from.variance, 120, to.variance).tau));
  CHECK(tau(AlignMode::prop2) == doctest::Approx(proposition2(10, from.variance, 120, to.variance)));
  CHECK_THROWS_AS(align(model, {.shortest = 5, .longer = {5}}, [](int, int, int) {}), BadInput);
  CHECK_THROWS_AS(align(model, {.shortest = 5}, [](int, int, int) {}), BadInput);
  CHECK_THROWS_WITH_AS(align(model, {.shortest = 0, .longer = {20}}, [](int, int, int) {}),
                       doctest::Contains("reverse_string: strings of length 0; ask for at least 1"), BadInput);
  Probed one_key = model;
  one_key.keys = [](int length) { return length; };
  CHECK_THROWS_WITH_AS(align(one_key, {.shortest = 1, .longer = {20}}, [](int, int, int) {}),
                       doctest::Contains("the short length 1 has fewer than 2 keys"), BadInput);
  for (const double tau : {0., 0.0009, 1001., double(NAN)})
    CHECK_THROWS_WITH_AS(align(model, {.shortest = 5, .longer = {20}, .grid = {1, tau}}, [](int, int, int) {}),
                         doctest::Contains("in the grid; temperatures are 0.001 to 1000"), BadInput);
  CHECK_THROWS_WITH_AS(align(model, {.shortest = 5, .longer = {20}, .grid = {}}, [](int, int, int) {}),
                       doctest::Contains("the grid has no temperature"), BadInput);
}

TEST_CASE("align: aligned holds temperatures by keys, layer and head, and knows its model") {
  const AlignedTemperatures a = read_aligned("2.2.0badcafe 8 64:0.5 512:0.4/0.2 1024:0.1/0.2/0.3/0.4");
  CHECK(text_of(a) == "2.2.0badcafe 8 64:0.5 512:0.4/0.2 1024:0.1/0.2/0.3/0.4");
  CHECK(a.at(0, 0, 3) == 1);
  CHECK(a.at(1, 0, 8) == 1);
  CHECK(a.at(0, 1, std::sqrt(8. * 64)) == doctest::Approx(.75));  // halfway in ln keys
  CHECK(a.at(1, 1, 512) == doctest::Approx(.2));
  CHECK(a.at(1, 0, 4000) == doctest::Approx(.3));
  for (const char* text : {"", "any", "any 8", "any 8 8:1", "any 8 64:0", "any 8 64:0.5/0.4", "2.2 8 64:1",
                           "2.2.x 8 64:1/1/1", "any 8 64", "any eight 64:1"})
    CHECK_THROWS_AS(read_aligned(text), BadInput);

  State state(small());
  CHECK_THROWS_AS(state.net.at_temperature(choose_temperature("aligned:of=3.2.0badcafe 8 64:0.5")), BadInput);
  const std::string weights = weights_checksum(state.params);
  state.config.set("test_temperature", "aligned:of=2.2." + weights + " 8 64:0.5");
  CHECK_NOTHROW(state.test_net());
  state.params.values()[0] += 1;
  CHECK_THROWS_AS(state.test_net(), BadInput);
}
