// The ladder (lab/papers/ladder/ladder.h): what is registered, that it is chosen and judged as registered, on made-up
// results, and a first and a second stage that are really trained.
#include <algorithm>
#include <set>

#include "lab/papers/ladder/ladder.h"
#include "lab/papers/reproduce.h"
#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::reproduce;
using namespace poslab::test;

namespace {

const ladder::Registered& registered() { return ladder::registered(); }

// A run folder as far as the tables read it: `near` at lengths 21 to 40, `far` from 41 on.
void make_run(const SweepFolder& runs, const Trial& t, double near, double far) {
  std::filesystem::create_directories(runs.run(t));
  std::string eval = "length,accuracy,unmasked_accuracy,loss,samples,chance,majority,content_only\n";
  for (int length = 1; length <= 100; ++length)
    eval += fmt::format("{0},{1},{1},0.25,32,0.5,0.5,0.6\n", length, length <= 20 ? 1. : length <= 40 ? near : far);
  write_file(runs.run(t) + "/eval.csv", eval);
  write_file(runs.run(t) + "/result.json",
             R"({"paper_score":0.5,"baselines":{"chance":0.5,"majority":0.5,"content_only":0.6},"seconds":36.0})");
}

const ladder::Rung* rung_of(const Choices& c, const std::vector<ladder::Rung>& all) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const ladder::Rung& r) {
    return c["encoding"] == r.encoding && c["positions"] == r.positions && c["temperature"] == r.temperature;
  });
  return at == all.end() ? nullptr : &*at;
}

// The second candidate is the best at the shorter lengths and the last one at the judged ones; of the opponents it is
// the third at the judged lengths, and the first at the shorter ones. On a fresh seed a candidate is `ahead` of it.
void make_results(const SweepFolder& runs, const Plan& plan, double ahead) {
  const auto& r = registered();
  for (const Trial& t : plan) {
    const Choices& c = t.config();
    const ladder::Rung *candidate = rung_of(c, r.candidates), *opponent = rung_of(c, r.opponents);
    REQUIRE((candidate || opponent));
    const double seed = double(c.count("seed")) / 1000;
    if (c.count("seed") >= 100)
      make_run(runs, t, 0.5, 0.6 + seed + (candidate ? ahead : 0));
    else if (candidate)
      make_run(runs, t, candidate == &r.candidates[1] ? 0.9 : 0.7, candidate == &r.candidates.back() ? 0.9 : 0.5);
    else
      make_run(runs, t, opponent == &r.opponents[0] ? 0.9 : 0.7, opponent == &r.opponents[2] ? 0.9 : 0.5 + seed);
  }
}

}  // namespace

TEST_CASE("ladder: what is registered is whole, and every trial of the first stage can be trained") {
  const auto& r = registered();
  CHECK(r.first_seeds == std::vector<int64_t>{0, 1, 2});
  CHECK(r.second_seeds.size() == 10);
  CHECK(r.second_seeds.front() == 100);
  CHECK(r.choose.to < r.judge.from);
  std::set<std::string> tasks, names;
  for (const auto& p : r.predictions) {
    CHECK(tasks.insert(p.task).second);
    CHECK((p.above > 0 && p.above < 1));
    CHECK((p.accuracy > 0.1 && p.accuracy <= 1));
  }
  CHECK(tasks == std::set<std::string>(fifteen().begin(), fifteen().end()));
  for (const auto& c : r.candidates) {
    CHECK(names.insert(c.name).second);
    CHECK_FALSE(c.structure.empty());
  }
  const Plan first = all_trials(plan({{"ladder"}, "tiny", {}, {}, {}}));
  CHECK(first.size() == 15 * 3 * (r.candidates.size() + r.opponents.size()));
  for (const Trial& t : first) {
    INFO(t.config()["encoding"] << " " << t.config()["positions"] << " " << t.impossible);
    CHECK(t.impossible.empty());
    CHECK((rung_of(t.config(), r.candidates) || rung_of(t.config(), r.opponents)));
    CHECK(t.config().count("steps") == r.steps);
  }
}

TEST_CASE("ladder: the opponents of the first stage are the trials of table 1") {
  std::set<std::string> known;
  for (const Trial& t : all_trials(plan({{"ladder:chosen"}, "tiny", {}, {}, {}}))) known.insert(t.id);
  for (const Trial& t : all_trials(plan({{"ruoss2023:table1"}, "tiny", {}, {}, {}}))) CHECK(known.count(t.id));
}

TEST_CASE(
    "ladder: candidates are chosen at the shorter lengths and opponents at the judged ones, then both are judged") {
  const auto& r = registered();
  for (const double ahead : {0.05, -0.05}) {
    const TemporaryFolder folder;
    const SweepFolder runs(folder / "runs");
    const Request request{{"ladder"}, "tiny", {"reverse_string", "bucket_sort"}, {}, {}};
    std::vector<Planned> planned = plan(request);
    CHECK_FALSE(add_second_stages(planned, request, runs));  // nothing is done
    Plan some = all_trials(planned);
    const Trial last = some.back();
    some.pop_back();
    make_results(runs, some, ahead);
    const std::string of_last = last.config()["task"],
                      other = of_last == "bucket_sort" ? "reverse_string" : "bucket_sort";
    REQUIRE(add_second_stages(planned, request, runs));  // one task is whole, the other lacks a run
    CHECK_FALSE(add_second_stages(planned, request, runs));
    Plan second;
    for (const Trial& t : all_trials(planned))
      if (t.config().count("seed") >= 100) second.push_back(t);
    CHECK(second.size() == 20);
    for (const Trial& t : second) {
      CHECK(t.config()["task"] == other);
      CHECK((rung_of(t.config(), r.candidates) == &r.candidates[1] ||
             rung_of(t.config(), r.opponents) == &r.opponents[2]));
    }
    make_results(runs, second, ahead);
    const Plan all = all_trials(planned);
    const Outcomes outcomes(all, runs);
    for (const ladder::Contest& c : contests(outcomes, ladder::Family::own_candidate)) {
      INFO(c.task << " " << ahead);
      CHECK(c.done == (c.task == other));
      CHECK(c.above() == (c.task == other && ahead > 0));
      // All ten signs alike, and Holm over 15 tasks of which 14 are not done
      if (c.done) CHECK(c.holm == doctest::Approx(15 * 2. / 1024));
      if (!c.done) CHECK(c.holm == 1);
    }
    CHECK(ladder::for_all_tasks(outcomes) == nullptr);
    write(planned, request, folder.path, "poslab reproduce ladder");
    const std::string said = read_file(folder / "verdict.md");
    CHECK(
        holds(said, ahead > 0 ? "at the same budget, is 1 of them: " + other : "is none of them. Not above: " + other));
    CHECK(holds(said, "The goal, 6 tasks above, is still open."));
    CHECK(holds(said, "Not done, and in the family with p = 1: even_pairs"));
    CHECK_FALSE(holds(said, "not the registered experiment"));
    CHECK(holds(read_file(folder / "chosen.md"), fmt::format("Chosen on 1 of 15 tasks: {}: {} against {}.", other,
                                                             r.candidates[1].name, r.opponents[2].name)));
    CHECK(
        holds(read_file(folder / "chosen.md"), "(chance 50.0 / 50.0, majority 50.0 / 50.0, content only 60.0 / 60.0)"));
    CHECK_FALSE(holds(read_file(folder / "README.md"), "could not be drawn"));
  }
}

TEST_CASE("ladder: with all tasks done one configuration is judged on all of them, as a family of its own") {
  const TemporaryFolder folder;
  const SweepFolder runs(folder / "runs");
  const Request request{{"ladder"}, "tiny", {}, {}, {}};
  std::vector<Planned> planned = plan(request);
  make_results(runs, all_trials(planned), 0.05);
  REQUIRE(add_second_stages(planned, request, runs));
  const Plan all = all_trials(planned);
  make_results(runs, all, 0.05);
  const Outcomes outcomes(all, runs);
  CHECK(ladder::for_all_tasks(outcomes) == &registered().candidates[1]);
  for (const auto family : {ladder::Family::own_candidate, ladder::Family::one_for_all})
    for (const ladder::Contest& c : contests(outcomes, family)) CHECK(c.above());
  write(planned, request, folder.path, "poslab reproduce ladder");
  const std::string said = read_file(folder / "verdict.md");
  CHECK(holds(said, "The goal, 6 tasks above, is reached."));
  CHECK(holds(said, "One configuration for all tasks. 15 of 15 tasks have a verdict."));
}

TEST_CASE("ladder: other lengths than the registered ones are refused, and other steps are named on the page") {
  const auto planned = [](const ValueLists& settings) {
    return plan({{"ladder"}, "tiny", {"even_pairs"}, {}, settings});
  };
  CHECK(holds(refusal([&] {
                planned({{"train_length", {"10"}}});
              }),
              "leave train_length and eval_lengths as they are"));
  CHECK(holds(refusal([&] { plan({{"ladder"}, "paper", {}, {}, {}}); }), "--size tiny"));
  // One run of each stage is really trained, in one command, and the others are there: the second stage follows.
  const TemporaryFolder folder, other;
  const Request request{{"ladder"},
                        "tiny",
                        {"even_pairs"},
                        {},
                        {{"steps", {"1"}}, {"layers", {"1"}}, {"d_model", {"16"}}, {"batch", {"1"}}}};
  std::vector<Planned> all = plan(request);
  const Plan first = all_trials(all);
  make_results(SweepFolder(other / "runs"), first, 0.05);
  REQUIRE(add_second_stages(all, request, SweepFolder(other / "runs")));
  Plan made;  // all but the last of each stage
  for (const Trial& t : all_trials(all))
    if (t.id != first.back().id && t.id != all_trials(all).back().id) made.push_back(t);
  make_results(SweepFolder(folder / "out/runs"), made, 0.05);
  Program program(folder,
                  "reproduce ladder --tasks even_pairs --jobs 2 --threads 1 --set steps=1 --set layers=1 "
                  "--set d_model=16 --set batch=1 --out " +
                      (folder / "out"));
  CAPTURE(program.output());
  CHECK(program.status() == 0);
  const std::string said = read_file(folder / "out/verdict.md");
  CHECK(holds(said, "This is not the registered experiment: preset tiny and 1 steps in place of tiny and 3000."));
  CHECK(holds(said, "1 of 15 tasks has a verdict."));
  CHECK(holds(read_file(folder / "out/README.md"), fmt::format("All {} trials are done.", made.size() + 2)));
}
