// The captions of pictures: every scheme's matrix shows the quantity that the scheme names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "autograd/tape.h"
#include "core/params.h"
#include "encodings/checks/setup.h"
#include "encodings/compose.h"
#include "encodings/picture.h"
#include "encodings/temperature.h"

using namespace poslab;

TEST_CASE("pictures: every scheme's matrix holds the quantity that it names") {
  constexpr int T = 6;
  for (const Scheme& one : all_encodings())
    for (const bool causal : {false, true}) {
      const Chosen<Scheme> scheme = choose_encoding(one.name, trained_on(40));
      if (!causal && !one.causal_only(scheme.choices).empty()) continue;
      CAPTURE(one.name);
      const ModelShape shape{.layers = 1, .heads = 2, .d_model = 16, .causal = causal, .pool = 16};
      const Params params(uint64_t(7));
      const PositionLayers layers(params / "encoding", scheme, shape);
      const PositionSample sample(sampler_for(scheme, choose_sampler("sequential")), Resample::per_forward, {}, 1, T);
      const NoGrad still;
      const Tensor m = position_matrices(layers, shape, sample)[0];
      const std::vector<real> cells = m.values();
      const Quantity quantity = quantity_of(layers, shape, 0);
      const std::string said = scheme->pages.shows(shape, scheme.choices);
      CHECK(!words(quantity).empty());
      CHECK(said.ends_with('.'));
      const auto [least, most] = std::minmax_element(cells.begin(), cells.end());
      if (quantity == Quantity::weight) CHECK((*least >= 0 && *most <= real(1 + 1e-5)));
      if (quantity == Quantity::embeddings) CHECK((*least >= real(-1 - 1e-5) && *most <= real(1 + 1e-5)));
      if (quantity == Quantity::equal_contents)  // a slot's own entry is the largest of its row
        for (int h = 0; h < m.dim(0); ++h)
          for (int i = 0; i < T; ++i)
            for (int j = 0; j < (causal ? i : T); ++j)
              CHECK(cells[size_t((h * T + i) * T + i)] >= cells[size_t((h * T + i) * T + j)] - real(1e-4));
    }
}

TEST_CASE("pictures: a scheme describes its picture in a sentence, also with each of its options") {
  int said = 0;
  const auto shows = [](const std::string& spelled, bool causal) {
    const Chosen<Scheme> scheme = choose_encoding(spelled, trained_on(1024));
    return scheme->pages.shows({.layers = 2, .heads = 4, .d_model = 32, .causal = causal, .pool = 16}, scheme.choices);
  };
  for (const Scheme& one : all_encodings())
    for (const Option& option : one.options)
      for (const std::string& value : checks::other_values(option))
        for (const bool causal : {false, true}) {
          const std::string spelled = one.name + ":" + option.name + "=" + value;
          CAPTURE(spelled);
          CHECK(shows(spelled, causal).ends_with('.'));
          ++said;
        }
  CHECK(said > 200);
  // If options or the mask change the picture, the sentence changes too.
  for (const auto& [one, other] : {std::pair{"alibi", "alibi:learned"},
                                   {"drope", "drope:dropped"},
                                   {"window", "window:rope=off"},
                                   {"grape", "grape:form=a"}}) {
    CAPTURE(other);
    CHECK(shows(one, true) != shows(other, true));
  }
  CHECK(shows("geometric", true) != shows("geometric", false));
}

TEST_CASE("pictures: in every scheme that has distances they are key minus query, so none is above 0 on the left") {
  constexpr int T = 5;
  const auto check = [&](const Chosen<Scheme>& scheme) {
    CAPTURE(scheme.spelled());
    const ModelShape shape{.layers = 1, .heads = 2, .d_model = 16, .causal = true, .pool = 16};
    const PositionSample sample(sampler_for(scheme, choose_sampler("sequential")), Resample::per_forward, {}, 1, T);
    const Tensor d = scheme->pages.pictures.distances(shape, scheme.choices, sample.at_layer(0));
    const std::vector<real> cells = d.values();
    bool some = false;
    for (size_t n = 0; n < cells.size(); ++n) {
      if (!std::isfinite(cells[n])) continue;
      const size_t query = n / T % T, key = n % T;
      if (key == query) CHECK(cells[n] == 0);
      if (key < query) CHECK(cells[n] <= 0);
      some = some || (key < query && cells[n] < 0);
    }
    return some;
  };
  int have = 0, negative = 0;
  for (const Scheme& one : all_encodings())
    if (one.pages.pictures.distances) negative += check(choose_encoding(one.name, trained_on(1024))), ++have;
  CHECK(have > 20);
  CHECK(negative == have - 1);   // in bipe these slots are one segment
  const Chosen<Scheme> both = choose_encoding("sincos&rope");  // it has the distances of its second part
  REQUIRE(both->pages.pictures.distances);
  check(both);
  const Chosen<Scheme> rope = choose_encoding("rope");
  const ModelShape shape;
  CHECK(both->pages.pictures.frequencies(shape, both.choices, 8, 0) ==
        rope->pages.pictures.frequencies(shape, rope.choices, 8, 0));
}

TEST_CASE("compositions: a law holds if it holds for each part, whichever comes first") {
  const ModelShape shape{.layers = 2, .heads = 2, .d_model = 16, .causal = true, .pool = 16};
  const auto laws = [&](const std::string& spelled) {
    const Chosen<Scheme> scheme = choose_encoding(spelled, trained_on(1024));
    return scheme->laws(shape, scheme.choices);
  };
  int differ = 0;
  for (const Scheme& first : all_encodings())
    for (const Scheme& second : all_encodings()) {
      if (first.embed || second.embed) continue;
      CAPTURE(first.name);
      CAPTURE(second.name);
      const Laws a = laws(first.name), b = laws(second.name), both = laws(first.name + "|" + second.name);
      CHECK(both.shift == (a.shift && b.shift));
      CHECK(both.toeplitz == (a.toeplitz && b.toeplitz));
      CHECK(both.two_sided == (a.two_sided && b.two_sided));
      CHECK(both.permutes == (a.permutes && b.permutes));
      CHECK(both.softmax == (a.softmax && b.softmax));
      CHECK(both.sums_to_1 == (a.sums_to_1 && b.sums_to_1));
      CHECK(both.by_length == (a.by_length || b.by_length));
      differ += a.by_length != b.by_length;
    }
  CHECK(differ > 50);
}

TEST_CASE("temperatures: only none has no policy") {
  for (const TemperaturePolicy& policy : all_temperatures()) {
    if (policy.name == "aligned") continue;  // needs a trained model
    const Params params(uint64_t(1));
    const Chosen<TemperaturePolicy> chosen = choose_temperature(policy.name, trained_on(512));
    CAPTURE(policy.name);
    CHECK((!chosen->make || chosen->make(params, chosen.choices, {}).absent()) == (policy.name == "none"));
  }
}
