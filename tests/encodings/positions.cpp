// Distances: each value is stored once, and every pair finds the right one, in the Toeplitz and the looked-up form.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <set>

#include "core/error.h"
#include "encodings/sampler.h"

using namespace poslab;

namespace {

using Numbers = std::vector<double>;

// Every pair reads p_j - p_i, and no value is repeated.
void check_tokens(int sequences, const Numbers& p, bool toeplitz) {
  const Positions positions = Positions::of_tokens(sequences, p);
  const Distances& d = positions.distances();
  const int T = positions.time();
  CHECK(bool(d.pairs) != toeplitz);
  if (d.pairs) CHECK(std::set<double>(d.value.begin(), d.value.end()).size() == d.value.size());
  for (int s = 0; s < sequences; ++s)
    for (int i = 0; i < T; ++i)
      for (int j = 0; j < T; ++j)
        CHECK(d.value[size_t(d.row(s, i, j, T))] ==
              doctest::Approx(p[size_t(s * T + j)] - p[size_t(s * T + i)]).epsilon(1e-12));
}

}  // namespace

TEST_CASE("distances of tokens: whole or not, shared or drawn for each sequence, sorted or not") {
  check_tokens(1, {0, 1, 2, 3}, true);
  check_tokens(1, {5}, true);
  check_tokens(1, {9, 6, 3}, true);
  check_tokens(1, {0, 2.6, 5.2, 7.8}, true);
  check_tokens(1, {0, 1, 2, 4}, false);
  check_tokens(1, {7, 1, 2, 4}, false);
  check_tokens(1, {-3, 0.25, 2, 4}, false);
  check_tokens(1, {0, 1, 3, 1e9}, false);
  check_tokens(2, {0, 1, 2, 0, 1, 2}, true);
  check_tokens(2, {0, 1, 2, 7, 8, 9}, true);
  check_tokens(2, {0, 1, 2, 0, 2, 4}, false);
  check_tokens(2, {0, 1, 3, 5, 6, 8}, false);
  check_tokens(2, {0, 1, 2047, 5, 3, 900}, false);
  check_tokens(2, {0, 1.5, 2, 5, 3, 900}, false);
  Numbers crowded;   // many more pairs than distances
  for (int i = 0, x = 0; i < 300; ++i, x = i * 7 % 101 + i / 100) crowded.push_back(x);
  check_tokens(3, crowded, false);
}

TEST_CASE("distances of offset tables: as given if they are shared, looked up if each sequence has its own") {
  const Positions one = Positions::of_offsets(1, {-7, -2, 0, 2, 7});
  CHECK(one.time() == 3);
  CHECK(one.distances().value == Numbers{-7, -2, 0, 2, 7});
  CHECK_FALSE(one.distances().pairs);
  const Numbers table{-7, -2, 0, 2, 7, -9, -7, 0, 7, 9};
  const Positions two = Positions::of_offsets(2, table);
  const Distances& d = two.distances();
  CHECK(d.value == Numbers{-9, -7, -2, 0, 2, 7, 9});
  for (int s = 0; s < 2; ++s)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) CHECK(d.value[size_t(d.row(s, i, j, 3))] == table[size_t(s * 5 + j - i + 2)]);
}

TEST_CASE("last_rows keeps the rows of the last queries") {
  const Positions p = Positions::of_tokens(2, {0, 1, 3, 0, 2, 5});
  const Distances& d = p.distances();
  const Ids last = d.last_rows(2);
  CHECK(last.shape() == Shape{2, 2, 3});
  for (int s = 0; s < 2; ++s)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) CHECK(last[(s * 2 + i) * 3 + j] == d.row(s, i + 1, j, 3));
  CHECK(d.last_rows(3).data() == d.pairs.data());  // if no row is left out, nothing is copied
  CHECK_FALSE(Positions::of_tokens(1, {0, 1, 2}).distances().last_rows(2));
  CHECK_THROWS_AS(d.last_rows(4), BadInput);
  CHECK_THROWS_AS(d.last_rows(0), BadInput);
}

TEST_CASE("positions: sizes that do not divide are refused, and tokens if there are only offsets") {
  CHECK_THROWS_AS(Positions::of_tokens(2, {0, 1, 2}), BadInput);
  CHECK_THROWS_AS(Positions::of_tokens(1, {}), BadInput);
  CHECK_THROWS_AS(Positions::of_tokens(0, {0, 1}), BadInput);
  CHECK_THROWS_AS(Positions::of_ids(1, 0, {0, 1}), BadInput);
  CHECK_THROWS_AS(Positions::of_ids(1, 2, {0, 1, 2}), BadInput);
  CHECK_THROWS_AS(Positions::of_offsets(1, {-1, 1}), BadInput);
  CHECK_THROWS_AS(Positions::of_offsets(0, {-1, 0, 1}), BadInput);
  CHECK_THROWS_AS(Positions::of_offsets(2, {-1, 0, 1}), BadInput);
  const Positions table = Positions::of_offsets(1, {-1, 0, 1});
  CHECK_THROWS_WITH_AS(table.tokens("rope"),
                       "rope: needs a position for every token, and sampler randomized_offsets gives "
                       "only offsets; use randomized",
                       BadInput);
  CHECK_NOTHROW(table.offsets("alibi"));
  CHECK_NOTHROW(Positions::of_tokens(1, {0, 2, 4}).offsets("alibi"));
  CHECK_THROWS_AS(Positions::of_tokens(1, {0, 2, 5}).offsets("alibi"), BadInput);
}

TEST_CASE("positions that are NaN or infinite are refused when they are given, with their index, for any scheme") {
  const double nan = NAN, inf = INFINITY;
  const auto refuses = [](const std::function<void()>& action, const std::string& words) {
    CHECK_THROWS_WITH_AS(action(), words.c_str(), BadInput);
  };
  refuses([&] { Positions::of_tokens(1, {0, 1, nan}); },
          "positions: number 2 of sequence 0 is nan; give numbers from -2^32 to 2^32");
  refuses([&] { Positions::of_tokens(2, {0, 1, 2, inf, 4, nan}); },
          "positions: number 0 of sequence 1 is inf; give numbers from -2^32 to 2^32");
  refuses([&] { Positions::of_ids(2, 2, {0, 1, 2, 3, 4, 5, 6, -inf}); },
          "positions: number 1 of sequence 1 is -inf; give numbers from -2^32 to 2^32");
  refuses([&] { Positions::of_offsets(1, {-1, nan, 1}); },
          "positions: number 1 of sequence 0 is nan; give numbers from -2^32 to 2^32");
}

TEST_CASE("given positions are for all layers together, or for each layer of the model") {
  const Positions a = Positions::of_tokens(1, {0, 1}), b = Positions::of_tokens(1, {0, 7});
  CHECK(PositionSample({a}).at_layer(5).tokens("rope") == a.tokens("rope"));
  const PositionSample two({a, b});
  CHECK(two.at_layer(1).tokens("rope") == b.tokens("rope"));
  CHECK_THROWS_WITH_AS(two.at_layer(2), doctest::Contains("given for fewer layers than the model has"), BadInput);
}
