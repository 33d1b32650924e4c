// Step 9: sine and cosine of the position, and learned positions. encodings/sinusoid.cpp, sincos.cpp, learned.cpp
#include "encodings/sinusoid.h"
#include "schemes.h"

using namespace poslab;
using namespace course;

namespace {

constexpr int C = 6;

// The vector added at position p, with one mistake if wanted.
struct Form {
  double base = 10000, twice = 2;
  bool halves = true, cosine_first = false, divided = true;
};
Values vector_of(double p, const Form& f = {}) {
  Values y(C);
  for (int m = 0; m < C / 2; ++m) {
    const double angle = p * std::pow(f.base, (f.divided ? -1 : 1) * f.twice * m / C);
    const double first = f.cosine_first ? std::cos(angle) : std::sin(angle);
    const double second = f.cosine_first ? std::sin(angle) : std::cos(angle);
    y[size_t(f.halves ? m : 2 * m)] = first, y[size_t(f.halves ? m + C / 2 : 2 * m + 1)] = second;
  }
  return y;
}
Values vectors(const Values& positions, const Form& f = {}) {
  Values all;
  for (double p : positions)
    for (double v : vector_of(p, f)) all.push_back(v);
  return all;
}
Values sum(Values a, const Values& b) {
  for (size_t n = 0; n < a.size(); ++n) a[n] += b[n];
  return a;
}

}  // namespace

CASE("frequencies") {
  const auto f = [](double twice, double sign) {
    Values all;
    for (int m = 0; m < 4; ++m) all.push_back(std::pow(100, sign * twice * m / 8));
    return all;
  };
  check("f_m = base^(-2m / channels), m = 0 .. channels/2 - 1", frequencies(8, 100), f(2, -1),
        {{"the exponent has the wrong sign: later pairs are slower", f(2, 1)},
         {"the 2 is missing: the last pair is nearly base times slower than the first", f(1, -1)},
         {"each channel has one; there should be one for each pair, channels/2 of them",
          {1, 0.5623413, 0.3162278, 0.1778279, 0.1, 0.05623413, 0.03162278, 0.01778279}},
         {"base is always 10000; it should be the argument", {1, 0.1, 0.01, 0.001}}});
  expect_refusal(
      "frequencies of 7 channels", [] { frequencies(7, 100); }, "the last channel has no partner: refuse it");
}

CASE("the vector of a position") {
  const Values at = {0, 1, 7, 2.5};
  const auto wrong = [&](const char* hint, const Form& f) { return Mistake{hint, vectors(at, f)}; };
  check("y_p = [sin(p f_0), .., sin(p f_2), cos(p f_0), .., cos(p f_2)]", sinusoid(at, C), vectors(at),
        {wrong("sines and cosines alternate; all sines should come first, then all cosines", {.halves = false}),
         wrong("the cosines come first; it should be the sines", {.cosine_first = true})});
  check("of a negative position: sin(-a) = -sin(a), cos(-a) = cos(a)", sinusoid(Values{-3}, C), vectors({-3}));
}

CASE("sin/cos is added to the embedding") {
  const Layer layer("sincos", {.layers = 1, .heads = 1, .d_model = C});
  const Values x = some(2 * 3 * C, 1), at = {0, 4, 9};
  const Values once = vectors(at), none(x.size(), 0.);
  Values both = once, product = x;
  both.insert(both.end(), once.begin(), once.end());
  for (size_t n = 0; n < x.size(); ++n) product[n] *= both[n];
  Values by_slot = vectors({0, 1, 2});
  const Values slots = by_slot;
  by_slot.insert(by_slot.end(), slots.begin(), slots.end());
  check("h_bi = x_bi + sinusoid(p_i), the same for both sequences",
        layer.all.embed(Tensor::from({2, 3, C}, x), Positions::of_tokens(1, at)), sum(x, both),
        {{"the embedding is lost: it is x + ...", both},
         {"nothing is added", x},
         {"it is multiplied; it should be added", product},
         {"the number of the slot is taken for its position: it is p.tokens(..)", sum(x, by_slot)}});
}

CASE("each sequence may have positions of its own") {
  const Layer layer("sincos", {.layers = 1, .heads = 1, .d_model = C});
  const Values x = some(2 * 2 * C, 1), at = {0, 4, 2, 3};
  check("h_bi = x_bi + sinusoid(p_bi), positions (B, T)",
        layer.all.embed(Tensor::from({2, 2, C}, x), Positions::of_tokens(2, at)), sum(x, vectors(at)));
}

CASE("learned positions") {
  const Layer layer("learned", {.layers = 1, .heads = 1, .d_model = C, .pool = 10, .first = 1});
  const Values table = values(layer.params.at("encoding.table")), x = some(3 * C, 1);
  const auto rows = [&](const std::vector<int>& at) {
    Values y = x;
    for (int t = 0; t < 3; ++t)
      for (int c = 0; c < C; ++c) y[size_t(t * C + c)] += table[size_t(at[size_t(t)] * C + c)];
    return y;
  };
  check("h_i = x_i + table[p_i - first], first = 1, p = 1, 10, 4",
        layer.all.embed(Tensor::from({1, 3, C}, x), Positions::of_tokens(1, {1, 10, 4})), rows({0, 9, 3}),
        {{"the slot is taken for the position", rows({0, 1, 2})},
         {"the embedding is lost: it is x + ...", sum(rows({0, 9, 3}), [&] {
            Values minus = x;
            for (double& v : minus) v = -v;
            return minus;
          }())}});
  const Values below = rows({0, 8, 1}), above = rows({1, 9, 2}), part = {0.25, 0.5, 0.75};
  Values between = below;
  for (size_t n = 0; n < between.size(); ++n) between[n] += part[n / C] * (above[n] - below[n]);
  check("between two rows, by the distance from each: p = 1.25, 9.5, 2.75",
        layer.all.embed(Tensor::from({1, 3, C}, x), Positions::of_tokens(1, {1.25, 9.5, 2.75})), between,
        {{"it is rounded down; rows_at interpolates", below},
         {"the nearest row is taken; rows_at interpolates", rows({0, 9, 2})}});
  const auto asks = [&](double p) {
    return [&, p] { layer.all.embed(Tensor::from({1, 1, C}, some(C, 1)), Positions::of_tokens(1, {p})); };
  };
  expect_refusal("position 11 of a table of 10 rows from position 1 on", asks(11),
              "there is no row 10: refuse it by bad_input, or the program reads beyond the table");
  expect_refusal("position 0 of a table that begins at 1", asks(0), "there is no row -1: refuse it by bad_input");
}
