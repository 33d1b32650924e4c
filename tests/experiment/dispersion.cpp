// The dispersion of attention: sorted logits against known rows, and quantiles of the normal distribution.
#include "experiment/dispersion.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.h"

using namespace poslab;

namespace {

// A model with these logits, (1, heads, queries, keys). asked: how many queries were requested.
struct KnownRows {
  static constexpr int heads = 2, keys = 8;
  std::vector<real> s;
  int queries, asked = 0;
  explicit KnownRows(int n) : queries(n) {
    Rng rng({0, 9, 4});
    for (int i = 0, row = 0; i < heads * n * keys; row = ++i / keys)   // each row has another mean
      s.push_back(real(rng.normal() + row));
  }
  Probed model(bool causal) {
    const auto run = [this](const Look& look) {
      asked = look.queries;
      Trace trace({"*"});
      trace.captured["block0.attention.logits"] = Tensor::from({1, heads, queries, keys}, s);
      for (int n = 0; n < look.samples; ++n) look.done(trace);
    };
    return {.layers = 1, .heads = heads, .causal = causal, .keys = [](int) { return keys; }, .run = run};
  }
  // The logits of a row minus their mean, sorted, without masked keys.
  std::vector<double> sorted(int head, int query) const {
    std::vector<double> row;
    for (int j = 0; j < keys; ++j)
      if (const double x = double(s[size_t((head * queries + query) * keys + j)]); std::isfinite(x)) row.push_back(x);
    double mean = 0;
    for (const double x : row) mean += x / double(row.size());
    for (double& x : row) x -= mean;
    std::sort(row.begin(), row.end());
    return row;
  }
};

}  // namespace

TEST_CASE("sorted logits: each row minus its mean is sorted, then averaged over rows and heads") {
  constexpr int heads = KnownRows::heads, keys = KnownRows::keys;
  KnownRows rows(keys);
  const std::vector<double> found = sorted_logits(rows.model(false), keys, keys, 3);
  CHECK(rows.asked >= keys);
  for (int k = 0; k < keys; ++k) {
    double mean = 0;
    for (int row = 0; row < heads * keys; ++row) mean += rows.sorted(row / keys, row % keys)[size_t(k)] / heads / keys;
    CHECK(found[size_t(k)] == doctest::Approx(mean).epsilon(1e-6));
  }
  CHECK(std::is_sorted(found.begin(), found.end()));
}

TEST_CASE("sorted logits: a causal model averages over the last eighth of its queries") {
  constexpr int heads = KnownRows::heads, keys = KnownRows::keys;
  KnownRows rows(keys);
  const std::vector<double> found = sorted_logits(rows.model(true), keys, keys, 1);
  for (int k = 0; k < keys; ++k) {
    double mean = 0;
    for (int h = 0; h < heads; ++h) mean += rows.sorted(h, keys - 1)[size_t(k)] / heads;
    CHECK(found[size_t(k)] == doctest::Approx(mean).epsilon(1e-6));
  }
}

TEST_CASE("sorted logits: masked keys are left out, values between keys are linear, rows of one key do not count") {
  constexpr int heads = KnownRows::heads, keys = KnownRows::keys;
  KnownRows rows(1);
  for (int n = 0; n < heads * keys; ++n) rows.s[size_t(n)] = -std::numeric_limits<real>::infinity();
  for (const int key : {1, 4, 7}) rows.s[size_t(key)] = real(key);                 // head 1: -3, 0, 3 around the mean
  rows.s[keys] = 5;                                                                // head 2: one key
  const std::vector<double> found = sorted_logits(rows.model(false), keys, 6, 1);  // at ranks -1/4, 1/4, ..., 9/4
  const double expected[] = {-3, -2.25, -.75, .75, 2.25, 3};
  for (size_t k = 0; k < 6; ++k) CHECK(found[k] == doctest::Approx(expected[k]));
}

TEST_CASE("biases: a query's row minus its mean, over the keys that it sees") {
  constexpr int T = 9, query = T - 1;
  const ModelShape shape{.layers = 1, .heads = 2, .d_model = 8, .causal = true};
  const auto of = [&](const char* scheme) {
    const Params params(0);
    const PositionLayers made(params, choose_encoding(scheme, trained_on(1024)), shape);
    return biases(*made.layers[0], shape, Positions::of_tokens(1, {0, 1, 2, 3, 4, 5, 6, 7, 8}));
  };
  const Biases all = of("alibi");  // slopes 2^-4 and 2^-8, as in ALiBi's paper
  REQUIRE(all.of.size() == 2 * T);
  CHECK(all.query == query);
  for (int h = 0; h < 2; ++h)
    for (int j = 0; j < T; ++j)
      CHECK(all.of[size_t(h * T + j)] == doctest::Approx(std::exp2(-4 * (h + 1)) * (j - query / 2.)).epsilon(1e-5));
  CHECK(of("none").of.empty());
  CHECK(of("geometric").of.empty());  // geometric has no logits
  const Biases window = of("window:window=3*1+alibi*1");
  REQUIRE(window.of.size() == 2 * T);
  for (int j = 0; j < T; ++j) {
    const double of_window = window.of[size_t(j)];
    CHECK(std::isnan(of_window) == (j < T - 3));
    if (j >= T - 3) CHECK(of_window == doctest::Approx(0));
    CHECK(std::isfinite(window.of[size_t(T + j)]));
  }
}

TEST_CASE("dispersion: means over the rows that see a key; nothing for heads without such rows") {
  // (1, heads 2, rows 3, figures): the first row of head 0 sees no key; in head 1 no row does
  const auto model = [](std::vector<double> rows) {
    const auto run = [rows](const Look& look) {
      Trace trace({"*"});
      trace.captured["block0.attention.statistics"] = Tensor::from({1, 2, 3, 5}, rows);
      look.done(trace);
    };
    return Probed{.layers = 1, .heads = 2, .causal = false, .keys = [](int length) { return length; }, .run = run};
  };
  std::vector<double> rows(30, 0.);
  const double seen[2][5] = {{0.5, 1, 3, 2, 0.25}, {0.75, 2, 5, 4, 0.75}};
  for (int row = 1; row < 3; ++row) std::copy_n(seen[row - 1], 5, rows.begin() + row * 5);
  const Dispersion some = dispersion(model(rows), 3), none = dispersion(model(std::vector<double>(30, 0.)), 3);
  for (const RowMeans& of : {some.of(0, 0), some.of_layer(0), some.of_model()}) {
    CHECK(of.rows == 2);
    CHECK(of.largest_weight == doctest::Approx(0.625));
    CHECK(of.entropy == doctest::Approx(1.5));
    CHECK(of.variance == doctest::Approx(0.5));
  }
  CHECK(some.of(0, 1).rows == 0);
  CHECK(none.of_model().rows == 0);
  CHECK(none.of_model().entropy == 0);
}

TEST_CASE("normal quantiles equal published tables") {
  // NIST/SEMATECH e-Handbook 1.3.6.7.1; more digits from R's qnorm
  for (const auto& [p, z] : {std::pair{.5, 0.},
                             {.8413447460685429, 1.},
                             {.975, 1.959963984540054},
                             {.99, 2.3263478740408408},
                             {.001, -3.090232306167813},
                             {1e-10, -6.361340902404056}}) {
    CHECK(normal_quantile(p) == doctest::Approx(z).epsilon(1e-10));
    CHECK(std::abs(normal_quantile(p) + normal_quantile(1 - p)) < 1e-5);
  }
}
