// The four distributions of the training length.
#include "tasks/curriculum.h"

#include <doctest/doctest.h>

#include "core/error.h"
#include "tests/support/statistics.h"

using namespace poslab;
using namespace poslab::testing;

namespace {

std::map<int, int> lengths(const CurriculumSpec& spec, int steps) {
  std::map<int, int> seen;
  for (int step = 0; step < steps; ++step) ++seen[training_length(spec, 11, step)];
  return seen;
}

}  // namespace

TEST_CASE("curriculum uniform: 1 .. longest equally often") {
  std::map<int, double> law;
  for (int length = 1; length <= 40; ++length) law[length] = 1 / 40.0;
  CHECK(surprise(law, lengths({"uniform", 40, 1}, 40000), 40000) < one_in_a_million);
}

TEST_CASE("curriculum fixed: always the longest") {
  CHECK(lengths({"fixed", 17, 100}, 300) == std::map<int, int>{{17, 300}});
}

TEST_CASE("curriculum increasing: every length for an equal part of the run, in order, then the longest") {
  std::map<int, int> parts;
  for (int length = 1; length <= 40; ++length) parts[length] = 25;
  CHECK(lengths({"increasing", 40, 1000}, 1000) == parts);
  int before = 1;
  for (int step = 0; step < 10001; ++step) {
    const int now = training_length({"increasing", 40, 10001}, 0, step);
    REQUIRE((now == before || now == before + 1));
    before = now;
  }
  CHECK(before == 40);
  CHECK(training_length({"increasing", 40, 1000}, 0, 0) == 1);
  CHECK(training_length({"increasing", 40, 1000}, 0, 5000) == 40);     // after a run is continued
  CHECK(training_length({"increasing", 40, 10}, 0, 9) <= 40);          // fewer steps than lengths
}

TEST_CASE("curriculum reverse_exponential: P(length) in proportion to 0.9^length") {
  for (int longest : {1, 2, 40}) {
    std::map<int, double> law;
    double all = 0;
    for (int length = 1; length <= longest; ++length) all += law[length] = std::pow(0.9, length);
    for (auto& [length, p] : law) p /= all;
    CHECK(surprise(law, lengths({"reverse_exponential", longest, 1}, 40000), 40000) < one_in_a_million);
  }
}

TEST_CASE("curriculum: a function of seed and step, and its list has the lengths that are drawn") {
  CHECK(all_curricula().size() == 4);
  for (const Curriculum& curriculum : all_curricula()) {
    const CurriculumSpec spec{curriculum.name, 40, 1000};
    for (int step : {0, 1, 999, 123456}) {
      const int length = training_length(spec, 3, step);
      CHECK(length == training_length(spec, 3, step));
      CHECK((1 <= length && length <= 40));
    }
    CHECK(!curriculum.summary.empty());
  }
  int same = 0;
  for (int step = 0; step < 400; ++step) same += training_length({}, 1, step) == training_length({}, 2, step);
  CHECK(same < 40);   // two seeds agree by chance in one step of 40
}

TEST_CASE("curriculum: bad input is refused") {
  CHECK_THROWS_AS(training_length({"unifrom", 40, 1000}, 0, 0), BadInput);
  CHECK_THROWS_WITH(training_length({"unifrom", 40, 1000}, 0, 0),
                    doctest::Contains("unknown curriculum \"unifrom\"; did you mean \"uniform\"?"));
  CHECK_THROWS_AS(training_length({"uniform", 0, 1000}, 0, 0), BadInput);
  CHECK_THROWS_AS(training_length({"increasing", 40, 0}, 0, 0), BadInput);
}
