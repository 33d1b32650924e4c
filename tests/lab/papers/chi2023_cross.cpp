// Temperatures crossed with randomized positions (lab/papers/chi2023/cross.cpp): the plan, and the measurements on a
// model.
#include <algorithm>
#include <cmath>
#include <set>

#include "lab/papers/chi2023/chi2023.h"
#include "lab/papers/reproduce.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::reproduce;
using namespace poslab::test;
using chi2023::Moved;

namespace {

RunSpec small(const std::string& encoding, const std::string& positions) {
  return tiny_config({{"task", "reverse_string"},
                      {"encoding", encoding},
                      {"positions", positions},
                      {"train_length", "4"},
                      {"eval_lengths", "1:12"},
                      {"max_position", "60"},
                      {"eval_samples", "4"}});
}

}  // namespace

TEST_CASE("chi2023: the cross has each scheme, plain and randomized; without a temperature they are known runs") {
  std::set<std::string> known;
  for (const Trial& t : all_trials(plan({{"ruoss2023:table1"}, "tiny", {}, {}, {}}))) known.insert(t.id);
  const Plan all = all_trials(plan({{"chi2023:cross"}, "tiny", {}, {}, {}}));
  CHECK(all.size() == 4 * 6 * 2 * (3 + 1) * 3);
  size_t shared = 0;
  for (const Trial& t : all) {
    CHECK(t.impossible == "");
    shared += known.count(t.id);
  }
  CHECK(shared == 4 * 4 * 2 * 3);  // sin/cos, relative, ALiBi and RoPE
  for (const Artifact* a : artifacts({"chi2023"})) CHECK(a->name != "chi2023:cross");
}

TEST_CASE("chi2023: positions, gaps and keys that can be shifted, and the accuracy after the shift") {
  const auto can = [](const char* encoding, const char* positions, Moved m) {
    return chi2023::can_move(small(encoding, positions), m);
  };
  CHECK(can("rope", "sequential", Moved::positions));
  CHECK_FALSE(can("rope", "sequential", Moved::gaps));
  CHECK_FALSE(can("rope", "randomized", Moved::positions));
  CHECK(can("rope", "randomized", Moved::gaps));
  CHECK_FALSE(can("alibi", "sequential", Moved::positions));
  CHECK(can("alibi", "randomized", Moved::keys));

  for (const char* positions : {"sequential", "randomized"}) {
    const State s(small("none", positions));  // none reads no positions, so shifts change nothing
    const double home = chi2023::accuracy_moved(s, Moved::nothing);
    CHECK(chi2023::accuracy_moved(s, Moved::positions) == home);
    CHECK(chi2023::accuracy_moved(s, Moved::gaps) == home);
    CHECK(chi2023::accuracy_moved(s, Moved::length) == accuracy_at(s, 12, gap_shift::strings(s.config)));
  }
  const State s(small("rope", "sequential"));
  CHECK(s.config["test_temperature"] == "same");
  for (const char* policy : {"log", "pmax", "entropy"}) {
    const double beyond = chi2023::accuracy_beyond(s, policy);
    CHECK(beyond >= 0);
    CHECK(beyond <= 1);
  }
}

TEST_CASE("chi2023: trials that several tables need have the records of each table") {
  const Plan cross = all_trials(plan({{"chi2023:cross"}, "tiny", {"bucket_sort"}, {"rope"}, {}}));
  REQUIRE(cross.size() == 3 * 2 * 3);  // no temperature, log n and SSMax, each with plain and random positions
  const Plan all =
      all_trials(plan({{"ruoss2023", "gap_shift", "chi2023:cross"}, "tiny", {"bucket_sort"}, {"rope"}, {}}));
  for (const Trial& of : cross) {
    const auto t = std::find_if(all.begin(), all.end(), [&](const Trial& one) { return one.id == of.id; });
    REQUIRE(t != all.end());
    std::set<std::string> files;
    for (const TrialTest& test : t->tests) CHECK(files.insert(test.file).second);
    const bool uniform = of.config()["positions"] == "randomized" && of.config()["temperature"] == "none";
    CHECK(files == (uniform ? std::set<std::string>{"cross.json", "gaps.json"} : std::set<std::string>{"cross.json"}));
  }
}
