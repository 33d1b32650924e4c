// Reproductions: the plan at each size, the statistics of a few seeds, and the page and tables of made-up results. The
// tests of training and of sweeps check that numbers are right.
#include "lab/papers/reproduce.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/random.h"
#include "tests/lab/helpers.h"
#include "tests/lab/made_runs.h"

using namespace poslab;
using namespace poslab::reproduce;
using namespace poslab::test;

namespace {

size_t trials(const std::string& artifact, const std::string& size) {
  return all_trials(plan({{artifact}, size, {}, {}, {}})).size();
}

}  // namespace

TEST_CASE("reproduce: the bootstrap's interval equals that of a normal mean, where the mean is normal") {
  std::vector<double> x;
  Rng rng(stream(3, Purpose::tokens, 0));
  for (int i = 0; i < 400; ++i) x.push_back(5 + 2 * rng.normal());
  const Interval i = bootstrap(x);
  const double half = 1.96 * 2 / std::sqrt(400.);
  CHECK(i.low == doctest::Approx(poslab::mean(x) - half).epsilon(0.01));
  CHECK(i.high == doctest::Approx(poslab::mean(x) + half).epsilon(0.01));
  CHECK(i.excludes(0));
  CHECK_FALSE(i.excludes(poslab::mean(x)));
}

TEST_CASE("reproduce: the mean of no values, and the bootstrap's interval of one and of two") {
  CHECK(std::isnan(poslab::mean({})));
  CHECK_FALSE(bootstrap({1}).excludes(0));
  const Interval two = bootstrap({1, 3});  // a quarter of the draws is 1 twice
  CHECK(two.low == 1);
  CHECK(two.high == 3);
}

TEST_CASE("reproduce: the share of intervals that exclude zero by luck") {
  Rng rng(stream(4, Purpose::tokens, 0));
  for (const int n : {2, 3, 4, 5, 6, 10, 15}) {
    constexpr int cells = 500;
    int excluded = 0;
    for (int i = 0; i < cells; ++i) {
      std::vector<double> x;
      for (int k = 0; k < n; ++k) x.push_back(rng.normal());
      excluded += bootstrap(x).excludes(0);
    }
    INFO(n);
    CHECK(std::abs(100. * excluded / cells - excluded_by_luck(n)) < 5);  // 2.5 standard deviations of a share of 50 %
  }
}

TEST_CASE("reproduce: the paper's grid, and that of each size") {
  CHECK(trials("ruoss2023:table1", "paper") == 15 * 11 * 10 * 3);
  CHECK(trials("ruoss2023:table4", "paper") == 15 * 11 * 10 * 3);
  CHECK(trials("ruoss2023:table3", "paper") == 15 * 2 * 10 * 3);
  CHECK(trials("ruoss2023:table1", "example") == 15 * 11 * 2);
  CHECK(trials("ruoss2023:table1", "tiny") == 15 * 11 * 3);
  CHECK(trials("ruoss2023:table5", "tiny") == 4 * (5 + 1) * 3);
  CHECK(trials("ruoss2023:fig2", "tiny") == 2);
  CHECK(trials("ruoss2023:fig3", "tiny") == 2 * 4 * 3);
  CHECK(trials("ruoss2023:fig5", "tiny") == 2);
  // Tables 1 and 4. Then other runs: unsorted, geometric, two of figure 2, three more pools, eight choices of `code`.
  CHECK(trials("ruoss2023:all", "tiny") == 15 * 11 * 3 + 15 * 3 + 15 * 3 + 2 + 2 * 3 * 3 + 4 * 8 * 3);
}

TEST_CASE("reproduce: a source's name alone means all of it") {
  CHECK(artifacts({"ruoss2023"}) == artifacts({"ruoss2023:all"}));
  CHECK(artifacts({"gap_shift", "gap_shift:grid"}) == artifacts({"gap_shift:all"}));
  CHECK(artifacts({"gap_shift", "ladder", "ruoss2023", "chi2023", "chi2023:cross", "su2023"}).size() ==
        all_artifacts().size());
}

TEST_CASE("reproduce: no trial of any artifact at any size is impossible") {
  for (const Size& s : all_sizes())
    for (const char* source : {"ruoss2023", "gap_shift"})
      for (const Trial& t : all_trials(plan({{source}, s.name, {}, {}, {{"seed", {"0"}}}}))) {  // one seed is enough
        INFO(s.name << " " << t.config()["task"] << " " << t.config()["encoding"] << " " << t.impossible);
        CHECK(t.impossible.empty());
      }
}

TEST_CASE("reproduce: a wrong request is refused with a remedy") {
  const auto said = [](Request request) { return refusal([&] { plan(request); }); };
  CHECK(holds(said({{"ruoss2023:tabel1"}, "tiny", {}, {}, {}}), "did you mean \"ruoss2023:table1\""));
  CHECK(holds(said({{"ruoss2023:table1"}, "tinny", {}, {}, {}}), "did you mean \"tiny\""));
  CHECK(holds(said({{"ruoss2023:table1"}, "tiny", {"even_pair"}, {}, {}}), "did you mean \"even_pairs\""));
  CHECK(holds(said({{"ruoss2023:table1"}, "tiny", {}, {"rop"}, {}}), "did you mean \"rope\""));
  CHECK(holds(said({{"ruoss2023:table3"}, "tiny", {}, {"rope"}, {}}), "no trial with rope; change"));
  CHECK(holds(said({{"gap_shift"}, "tiny", {"parity_check"}, {}, {}}), "no trial with parity_check; change"));
  CHECK(holds(said({{"ruoss2023:table1"}, "tiny", {}, {}, {{"lr", {}}}}), "leaves no trial"));
  const auto tested = [](const std::string& artifact, const std::string& lengths) {
    return refusal([&] { plan({{artifact}, "tiny", {}, {}, {{"eval_lengths", {lengths}}}}); });
  };
  CHECK(holds(tested("ruoss2023:table1", "41:100"),
              "2: eval_lengths = 41:100 with train_length = 20: the tables compare mean accuracies from length 21 "
              "on, the first untrained one, and it has to be tested; take eval_lengths = 1:100"));
  CHECK(holds(tested("gap_shift", "1:20"), "take eval_lengths = 1:40"));
  for (const char* unscored : {"fig2", "fig5", "fig6", "table2"})
    CHECK(tested(fmt::format("ruoss2023:{}", unscored), "1:20") == "");
  CHECK(tested("ruoss2023:table1", "21:100") == "");
}

TEST_CASE("reproduce: the learning rate is that of the highest mean, among those with the most seeds") {
  const TemporaryFolder folder;
  const std::vector<Planned> planned =
      plan({{"ruoss2023:table1"}, "tiny", {"even_pairs"}, {"rope"}, {{"lr", {"1e-3", "1e-4"}}}});
  // 0.5, 0.6, 0.7 at one rate; 0.8, 0.3, 0.3 at the other, where a seed with randomized positions is missing.
  for (const Trial& t : planned[0].plan) {
    const bool random = t.config()["positions"] == "randomized", first = t.config().number("lr") == 1e-3;
    const int64_t seed = t.config().count("seed");
    if (random && first && seed == 2) continue;
    make_run(folder.path, t, first ? 0.5 + 0.1 * double(seed) : seed ? 0.3 : 0.8);
  }
  const Outcomes outcomes(planned[0].plan, SweepFolder(folder.path));
  CHECK(outcomes.done().size() == 11);
  for (const auto& [positions, lr] : {std::pair{"sequential", 1e-3}, {"randomized", 1e-4}}) {
    const auto runs = outcomes.by_seed([&, p = positions](const Choices& c) { return c["positions"] == p; });
    REQUIRE(runs.size() == 3);
    for (size_t seed = 0; seed < 3; ++seed) {
      CHECK(runs[seed]->trial->config().count("seed") == int64_t(seed));
      CHECK(runs[seed]->trial->config().number("lr") == lr);
    }
  }
}

TEST_CASE("reproduce: differences by seed have no spread if every seed gives the same") {
  const Paired difference = paired({{0, 0.7}, {1, 0.8}, {2, 0.9}}, {{0, 0.5}, {1, 0.6}, {2, 0.7}});
  CHECK(difference.seeds == 3);
  CHECK(difference.mean == doctest::Approx(0.2));
  CHECK(difference.interval.low == doctest::Approx(0.2));
}

TEST_CASE("reproduce: only one of two programs draws, and a signal ends the wait of the other") {
  const TemporaryFolder folder;
  const std::string runs = folder / "out/runs";
  std::filesystem::create_directories(runs);
  const auto other = Claim::take(runs, sweep::claimed_to_draw);
  REQUIRE(other);
  std::filesystem::create_directories(folder / "bin");
  std::filesystem::create_symlink("/bin/true", folder / "bin/python3");  // a python3 that seems to have every package
  Program waits(folder, fmt::format("reproduce chi2023:cross --draw --out {}/out", folder.path),
                fmt::format("PATH='{}/bin':$PATH", folder.path));
  const auto said = [&] { return std::filesystem::exists(folder / "output") ? read_file(folder / "output") : ""; };
  while (waits.running() && !holds(said(), "waiting for another poslab, which draws what is in " + folder.path))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  waits.send(SIGINT);
  CHECK(waits.status() == 130);
  CHECK(holds(said(), "stopped while another poslab draws what is in " + runs + "; try again"));
}
