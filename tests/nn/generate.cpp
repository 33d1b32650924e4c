// Tokens drawn from logits: which tokens are possible, how often each is drawn, and that the seed decides the draw.
#include "nn/generate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/tape.h"
#include "core/error.h"

using namespace poslab;

namespace {

const std::vector<real> logits = {0, 2, 1, 2, -1};

std::vector<int> counts(const TokenChoice& choice, int draws = 20000) {
  std::vector<int> all(logits.size(), 0);
  for (int i = 0; i < draws; ++i) {
    Rng rng(stream(7, Purpose::test_tokens, uint64_t(i)));
    ++all[size_t(choose_token(logits.data(), int(logits.size()), choice, rng.uniform()))];
  }
  return all;
}

// Checks that each token is drawn as often as its weight says, to five standard deviations.
void check_shares(const TokenChoice& choice, const std::vector<double>& weights) {
  double all = 0;
  for (const double w : weights) all += w;
  const std::vector<int> n = counts(choice);
  for (size_t i = 0; i < n.size(); ++i) {
    const double p = weights[i] / all, mean = 20000 * p;
    CHECK(std::abs(n[i] - mean) <= 5 * std::sqrt(mean * (1 - p)));
  }
}

DecoderSpec tiny(const char* encoding = "rerope:window=4") {
  DecoderSpec s;
  s.vocabulary = 11, s.layers = 2, s.heads = 2, s.key_heads = 1, s.d_model = 16, s.d_ff = 24;
  s.encoding = choose_encoding(encoding, trained_on(1024));
  return s;
}

std::vector<int> written(const Decoder& net, const std::vector<int>& prompt, const Generation& wanted) {
  std::vector<int> text;
  generate(net, prompt, wanted, [&](int token) { return text.push_back(token), true; });
  return text;
}

}  // namespace

TEST_CASE("tokens are drawn as often as their probabilities say") {
  const double e = std::exp(1.);
  check_shares({}, {1, e * e, e, e * e, 1 / e});
  check_shares({.temperature = 0.5}, {1, std::pow(e, 4), e * e, std::pow(e, 4), 1 / e / e});
  check_shares({.top_k = 3}, {0, e * e, e, e * e, 0});
  check_shares({.top_k = 2}, {0, 1, 0, 1, 0});
  check_shares({.top_k = 99}, {1, e * e, e, e * e, 1 / e});
  // the two most probable tokens together have the probability 2 e^2 / (2 e^2 + e + 1 + 1/e) = 0.783
  check_shares({.top_p = 0.78}, {0, 1, 0, 1, 0});
  check_shares({.top_p = 0.79}, {0, e * e, e, e * e, 0});
  check_shares({.top_k = 3, .top_p = 0.8}, {0, 1, 0, 1, 0});  // two have 0.845 of what top_k leaves
  check_shares({.top_p = 1e-9}, {0, 1, 0, 0, 0});
}

TEST_CASE("of equally probable tokens, those with the lowest numbers are kept") {
  const std::vector<real> equal(9, 1);
  for (int n = 0; n < 9; ++n) {
    CHECK(choose_token(equal.data(), 9, {.top_k = 3}, (n + 0.5) / 9) == n / 3);
    CHECK(choose_token(equal.data(), 9, {.top_p = 0.3}, (n + 0.5) / 9) == n / 3);
  }
}

TEST_CASE("temperature 0 picks the largest logit, and the first one if several are equal") {
  for (const double uniform : {0., 0.5, 0.999999}) {
    CHECK(choose_token(logits.data(), 5, {.temperature = 0}, uniform) == 1);
    CHECK(choose_token(logits.data(), 5, {.top_k = 1}, uniform) == 1);
  }
}

TEST_CASE("logits that are NaN, and settings out of range, are refused") {
  const real bad[] = {0, std::numeric_limits<real>::quiet_NaN()}, none[] = {-INFINITY, -INFINITY};
  CHECK_THROWS_AS(choose_token(bad, 2, {}, 0.5), Failure);
  CHECK_THROWS_AS(choose_token(none, 2, {}, 0.5), Failure);
  CHECK_THROWS_AS((TokenChoice{.temperature = -1}.check()), BadInput);
  CHECK_THROWS_AS((TokenChoice{.temperature = NAN}.check()), BadInput);
  CHECK_THROWS_AS((TokenChoice{.temperature = INFINITY}.check()), BadInput);
  CHECK_THROWS_AS((TokenChoice{.top_k = -1}.check()), BadInput);
  CHECK_THROWS_AS((TokenChoice{.top_p = 0}.check()), BadInput);
  const real half[] = {-INFINITY, 0};
  CHECK(choose_token(half, 2, {}, 0.) == 1);
}

TEST_CASE("the same seed writes the same text, another seed another one") {
  Params params(5);
  const Decoder net(params, tiny());
  params.pack();
  Generation wanted{.count = 24, .choice = {.temperature = 1}, .seed = 3};
  const std::vector<int> first = written(net, {1, 2, 3}, wanted);
  CHECK(first.size() == 24);
  CHECK(first == written(net, {1, 2, 3}, wanted));
  wanted.seed = 4;
  CHECK(first != written(net, {1, 2, 3}, wanted));
  // an embedding may have more rows than the text has kinds of tokens
  wanted.tokens = 5, wanted.count = 60;
  for (const int token : written(net, {1, 2, 3}, wanted)) CHECK(token < 5);
  wanted.tokens = 0;
  // a longer text begins with the shorter one
  wanted.seed = 3, wanted.count = 10;
  CHECK(written(net, {1, 2, 3}, wanted) == std::vector<int>(first.begin(), first.begin() + 10));
}

TEST_CASE("greedy text equals that of full passes, also where positions change as the text grows") {
  const NoGrad still;
  for (const char* encoding : {"rerope:window=4", "sincos"})
    for (const char* sampler : {"sequential", "evenly_spread:max_position=50", "interpolated:trained=4",
                                "float_midpoints:trained=4,range=50", "sequential|evenly_spread:max_position=50"}) {
      Params params(5);
      const Decoder net(params, tiny(encoding));
      params.pack();
      const Generation wanted{.count = 10, .choice = {.temperature = 0}, .positions = choose_sampler(sampler)};
      std::vector<int> all = {1, 2, 3};
      for (const int token : written(net, all, wanted)) {
        const int T = int(all.size());
        const PositionSample positions(wanted.positions, Resample::per_forward, {}, 1, T);
        const std::vector<real> last = net(Ids({1, T}, all), 1, {positions, {}}).values();
        CHECK(token == std::max_element(last.begin(), last.end()) - last.begin());
        all.push_back(token);
      }
    }
}

TEST_CASE("generation ends at the tokens it is given, and refuses requests that it cannot meet") {
  Params params(5);
  const Decoder net(params, tiny());
  params.pack();
  int taken = 0;
  generate(net, {1}, {.count = 50}, [&](int) { return ++taken < 7; });
  CHECK(taken == 7);
  const auto nothing = [](int) { return true; };
  CHECK_THROWS_AS(generate(net, {}, {}, nothing), BadInput);
  for (const int token : {-1, 11}) {
    const std::string words = "generate: the prompt has token " + std::to_string(token) + "; the model knows 0 .. 10";
    CHECK_THROWS_WITH_AS(generate(net, {1, token}, {}, nothing), words.c_str(), BadInput);
  }
  CHECK_THROWS_AS(generate(net, {1}, {.positions = choose_sampler("randomized")}, nothing), BadInput);
}
