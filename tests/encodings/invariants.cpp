// The invariants of spec A.7 that are laws of the logits, for every valid combination of scheme, variant, sampler and
// resample (encodings/checks/). Each scheme declares for each check whether the law applies and what to expect. These
// tests also check that both outcomes occurred often enough.
#include <doctest/doctest.h>

#include <complex>
#include <map>

#include "tests/encodings/schemes.h"

using namespace poslab;
using namespace poslab::test;

TEST_CASE("1 shift: adding a constant to all positions changes no logit, unless a scheme declares that it does") {
  const Report all = hold_to("shift");
  CHECK((all.below > 20 && all.shown > 20));
}

TEST_CASE("2 Toeplitz: with the same content everywhere, logits are constant along diagonals if distances are") {
  const Report all = hold_to("Toeplitz");
  CHECK((all.below > 15 && all.shown > 5));
}

TEST_CASE("3 reversal: reversing the sequence reverses the logits if, and only if, a scheme treats both sides alike") {
  const Report all = hold_to("reversal");
  CHECK((all.below > 5 && all.shown > 10));
}

TEST_CASE("4 limits: with as many positions as slots, every sampler equals the sequential one") {
  const Report all = hold_to("limits");
  CHECK((all.below > 20 && all.shown > 20));
}

TEST_CASE("5 two routes: a row pointer j - i and a looked-up row give the same attention") {
  CHECK(hold_to("two routes").below > 40);
}

TEST_CASE("5 two routes: RoPE by matrix = by complex numbers; interleaved = half-split with permuted channels") {
  const std::vector<double> p = {0, 3, 4, 7.5, 10, 2000};
  const Positions positions = Positions::of_tokens(1, p);
  const ModelShape shape{layers, H, C};
  const Model interleaved(choose_encoding("rope"), shape), half(choose_encoding("rope:pairing=half"), shape);
  const Content content;
  const Scores s = content.scores(interleaved, positions);
  Content evens_first;   // with even channels first, 0 2 | 1 3, pair m is channels (m, m + D/2)
  const auto permuted = [](const Tensor& x) {
    Tensor y(x.shape());
    for (int64_t r = 0; r < x.size() / D; ++r)
      for (int d = 0; d < D; ++d) y.data()[r * D + (d % 2) * D / 2 + d / 2] = x.data()[r * D + d];
    return y;
  };
  evens_first.x = permuted(content.x), evens_first.q = permuted(content.q), evens_first.k = permuted(content.k);
  CHECK(difference(composed::logits(s, {}), composed::logits(evens_first.scores(half, positions), {})) < tolerance);

  const Tensor q = content.q + content.x.reshape({B, T, H, D});
  Tensor turned(q.shape());
  for (int64_t r = 0; r < q.size() / D; ++r)
    for (int m = 0; m < D / 2; ++m) {
      const double at = p[size_t(r / H % T)];
      const std::complex<double> z(double(q.data()[r * D + 2 * m]), double(q.data()[r * D + 2 * m + 1]));
      const std::complex<double> y = z * std::polar(1.0, at * std::pow(10000.0, -2.0 * m / D));
      turned.data()[r * D + 2 * m] = real(y.real()), turned.data()[r * D + 2 * m + 1] = real(y.imag());
    }
  CHECK(difference(s.pieces[0].q, turned) < tolerance);
}

TEST_CASE("kept: a layer gives the same result alone and after one of its scheme with other options or heads") {
  CHECK(hold_to("kept").below > 100);
}

TEST_CASE("7 permutation: slots with their positions may be in any order; without positions only NoPE allows that") {
  const Report all = hold_to("permutation");
  CHECK((all.below > 20 && all.shown > 20));
}

TEST_CASE("10 mass: a query's weights sum to 1, unless a scheme declares otherwise or it sees only its own key") {
  CHECK(hold_to("mass").below > 20);
}

TEST_CASE("positions: NaN and infinity are refused, whether or not the scheme reads positions") {
  int refusals = 0;
  for (const Setup& s : each_setup()) {
    if (!s.reads_positions()) continue;
    INFO(s.name());
    const Model model(s);
    const Content content;
    const PositionSample sample = s.draw();
    const Positions& drawn = sample.at_layer(int(model.layer));
    const auto logits_at = [&](std::vector<double> numbers) {
      const int sequences = drawn.sequences();
      logits(s, model, drawn.only_offsets() ? Positions::of_offsets(sequences, std::move(numbers))
             : drawn.channels() > 1 ? Positions::of_ids(sequences, drawn.channels(), std::move(numbers))
                                    : Positions::of_tokens(sequences, std::move(numbers)), content);
    };
    const auto offsets = [&] {                // for each sequence, j - i = -(T-1) .. T-1
      std::vector<double> all;
      const Distances& d = drawn.distances();
      for (int b = 0; b < drawn.sequences(); ++b)
        for (int away = 1 - drawn.time(); away < drawn.time(); ++away) {
          const int i = std::max(0, -away);
          all.push_back(d.value[size_t(d.row(b, i, i + away, drawn.time()))]);
        }
      return all;
    };
    const std::vector<double> numbers = drawn.only_offsets() ? offsets() : drawn.ids(s.scheme->name);
    logits_at(numbers);
    for (const double bad : {double(NAN), double(INFINITY), -double(INFINITY)})
      for (const size_t at : {size_t(0), numbers.size() / 2, numbers.size() - 1}) {
        std::vector<double> moved = numbers;
        moved[at] = bad;
        CHECK_THROWS_AS(logits_at(moved), BadInput);
        ++refusals;
      }
  }
  CHECK(refusals > 400);
}

// A vector's cosine with itself is 1, weights are shares of 1, and equal contents at one slot have a positive logit.
TEST_CASE("pictures: each scheme declares what its matrices show, and they do") {
  std::map<std::string, int> seen;
  for (const std::string& spelling : all_spellings()) {
    CAPTURE(spelling);
    const Chosen<Scheme> scheme = choose_encoding(spelling, trained_on(1024));
    const ModelShape shape = shape_of(H, !scheme->causal_only(scheme.choices).empty());
    Params params(1);
    const PositionLayers made(params, scheme, shape);
    params.pack();
    const std::string shows = words(quantity_of(made, shape, 0));
    ++seen[shows];
    const Tensor m = position_matrices(made, shape, PositionSample({Positions::of_tokens(1, {0, 1, 2, 3})}))[0];
    REQUIRE((m.dims() == 3 && m.dim(1) == 4 && m.dim(2) == 4));
    const std::vector<real> at = m.values();
    for (size_t e = 0; e < at.size(); ++e) {
      const bool same_slot = e % 16 % 5 == 0;
      if (shows == words(Quantity::embeddings) && same_slot) CHECK(at[e] == doctest::Approx(1));
      if (shows == words(Quantity::weight)) CHECK((at[e] >= 0 && at[e] <= 1));
      if (shows == words(Quantity::equal_contents) && same_slot) CHECK(at[e] > 0);
    }
  }
  for (const auto& [shows, count] : seen) fmt::print("  {}: {} schemes\n", shows, count);
  CHECK(seen.size() == 7);
}

TEST_CASE("an embedding with the logits of a scheme has that scheme's frequencies and distances") {
  const ModelShape shape = shape_of();
  const Chosen<Scheme> rope = choose_encoding("rope"), both = choose_encoding("sincos&rope");
  CHECK(both->pages.pictures.frequencies(shape, both.choices, 9, 0) ==
        rope->pages.pictures.frequencies(shape, rope.choices, 9, 0));
  CHECK(rope->pages.pictures.frequencies(shape, rope.choices, 9, 0)[0] == 1);
  const Chosen<Scheme> boosts = choose_encoding("sincos&hope_hyp");
  const Tensor d = boosts->pages.pictures.distances(shape, boosts.choices, Positions::of_tokens(1, {0, 3, 10}));
  CHECK(d.shape() == Shape{3, 3});
  for (const auto& [e, distance] : {std::pair{0, 0}, {1, 3}, {2, 10}, {5, 7}})
    CHECK(d.values()[size_t(e)] == distance);
}

TEST_CASE("a scheme with its own weights has no logits, and its error says so") {
  const Model geometric = model_of("geometric");
  const Heads in = all_alike(shape_of(), T, 1);
  CHECK_THROWS_WITH_AS(geometric->logits(in, Positions::of_tokens(1, {0, 1, 2, 3, 4, 5}), {}),
                       doctest::Contains("has no logits; ask for its weights"), BadInput);
}
