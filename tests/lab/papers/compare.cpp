// Comparisons: which trials, in which order. Their ranking is tested in tests/python/test_compare.py.
#include <doctest/doctest.h>

#include <set>

#include "experiment/build.h"
#include "lab/papers/compare/compare.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;
using compare::Options, compare::plan, compare::in_order;
using reproduce::Plan, reproduce::Planned, sweep::Trial;

TEST_CASE("compare: commas separate encodings, and the options of one") {
  using Words = std::vector<std::string>;
  const auto read = compare::read_spellings;
  CHECK(read("rope,alibi:symmetric,rope|none") == Words{"rope", "alibi:symmetric", "rope|none"});
  CHECK(read("alibi:mode=differences,symmetric,rope") == Words{"alibi:mode=differences,symmetric", "rope"});
  CHECK(read("self_extend:group=4,window=20,window") == Words{"self_extend:group=4,window=20", "window"});
  CHECK(read("none*4+alibi*4, rope") == Words{"none*4+alibi*4", "rope"});
  CHECK(holds(refusal([&] { read("rope,,alibi"); }), "2: an encoding is missing in \"rope,,alibi\""));
}

TEST_CASE("compare: all encodings in two plans, one with a causal mask") {
  const std::vector<Planned> planned = plan({{"even_pairs"}, {"all"}, "tiny", "sequential", false, 1});
  REQUIRE(planned.size() == 2);
  std::set<std::string> open, masked;
  for (const Planned& p : planned)
    for (const Trial& t : p.plan)
      (t.config().on("causal") ? masked : open).insert(read_spelling(t.config()["encoding"]).name);
  CHECK(open.size() == planned[0].plan.size());
  CHECK(masked.size() == planned[1].plan.size());
  for (const std::string& one : compare::references) CHECK(masked.erase(one) == 1);
  CHECK(open.size() + masked.size() == all_encodings().size());
  for (const Scheme& s : all_encodings()) {
    const bool needs = !s.causal_only(choose_encoding(s.name).choices).empty();
    INFO(s.name);
    CHECK(masked.count(s.name) == needs);
    CHECK(open.count(s.name) == !needs);
  }
  const std::vector<Planned> one = plan({{"even_pairs"}, {"rope", "cope"}, "tiny", "sequential", true, 1});
  REQUIRE(one.size() == 1);
  CHECK(one[0].plan.size() == 2);
}

TEST_CASE("compare: a trial is the same as in a sweep and in a reproduction") {
  const Plan ours = in_order(plan({{}, {"none", "alibi:symmetric", "rope|none"}}));
  const Plan sweep = sweep::make_plan(R"(preset = "tiny"
task = ["even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort"]
encoding = ["none", "alibi:symmetric", "rope|none"]
seeds = 3
)",
                                      "sweep.toml");
  const auto ids = [](const Plan& p) {
    std::set<std::string> all;
    for (const Trial& t : p) all.insert(t.id);
    return all;
  };
  CHECK(ours.size() == 4 * 3 * 3);
  CHECK(ids(ours) == ids(sweep));
  const std::set<std::string> paper = ids(reproduce::plan({{"ruoss2023:table1"}, "tiny", {}, {}, {}})[0].plan);
  for (const Trial& t : in_order(plan({{}, {"none", "sincos", "relative", "alibi", "rope", "learned"}})))
    CHECK(paper.count(t.id) == 1);
}

TEST_CASE("compare: trials are ordered so that every first part of them is a comparison") {
  const std::vector<std::string> tasks = {"reverse_string", "even_pairs"};
  const Plan all = in_order(plan({tasks, {"geometric", "rope", "cope", "none"}, "tiny", "sequential", false, 2}));
  const size_t half = all.size() / 2;
  for (size_t n = 0; n < all.size(); ++n) CHECK(all[n].config().count("seed") == (n < half ? 0 : 1));
  // Fused schemes first, by task: rope, none; with a mask none, rope, alibi. Then schemes that compute logits in full.
  std::vector<std::string> first;
  for (size_t n = 0; n < half; ++n) first.push_back(all[n].config()["task"] + " " + all[n].config()["encoding"]);
  CHECK(first == std::vector<std::string>{"reverse_string rope", "reverse_string none", "reverse_string none",
                                          "reverse_string rope", "reverse_string alibi", "even_pairs rope",
                                          "even_pairs none", "even_pairs none", "even_pairs rope", "even_pairs alibi",
                                          "reverse_string geometric", "reverse_string cope", "even_pairs geometric",
                                          "even_pairs cope"});
}

TEST_CASE("compare: an encoding that cannot be trained does not stop the others") {
  CHECK(in_order(plan({{"even_pairs", "bucket_sort"}, {"none", "rope", "none*3+alibi*3"}})).size() == 2 * 2 * 3);
}

TEST_CASE("compare: a wrong request is refused with a remedy") {
  const auto said = [](const Options& options) { return refusal([&] { plan(options); }); };
  CHECK(holds(said({{"even_pair"}, {"rope"}}), "did you mean \"even_pairs\""));
  CHECK(holds(said({{}, {"rop"}}), "did you mean \"rope\""));
  CHECK(holds(said({{}, {"alibi:symetric"}}), "did you mean \"symmetric\""));
  CHECK(holds(said({{}, {"rope"}, "tinny"}), "did you mean \"tiny\""));
  CHECK(holds(said({{}, {"rope"}, "tiny", "randomised"}), "did you mean \"randomized\""));
  CHECK(holds(said({{}, {"rope"}, "tiny", "sequential", false, 0, {{"eval_lengths", {"41:100"}}}}),
              "2: eval_lengths = 41:100 with train_length = 20: the tables compare"));
  CHECK(holds(said({{}, {"none*3+alibi*3"}}), "2: no encoding here can be trained; the first, none*3+alibi*3: "));
}

TEST_CASE("compare: positions and biases in files, whose names the printed command repeats") {
  const TemporaryFolder folder;
  write_file(folder / "slots.txt", "0\n2\n5\n"), write_file(folder / "heads.txt", "all 0:0.5\n");
  const std::string positions = "given:at=@" + folder / "slots.txt",
                    encodings = "rope,calibrated:of=@" + folder / "heads.txt";
  const Plan all = all_trials(plan({{"even_pairs"},
                                    compare::read_spellings(encodings),
                                    "tiny",
                                    positions,
                                    false,
                                    1,
                                    {{"train_length", {"1"}}, {"eval_lengths", {"1:2"}}}}));
  REQUIRE(all.size() == 2);
  CHECK(all[0].config()["positions"] == "given:at=0 2 5");
  CHECK(all[1].config()["encoding"] == "calibrated:of=all 0:0.5");

  Program plans(folder, fmt::format("compare --task even_pairs --encodings {} --positions {} --seeds 1 --plan --out {} "
                                    "--set train_length=1 --set eval_lengths=1:2",
                                    encodings, positions, folder / "out"));
  REQUIRE_MESSAGE(plans.status() == 0, plans.output());
  CHECK(holds(plans.output(), "--positions " + positions + " --seeds 1"));
}
