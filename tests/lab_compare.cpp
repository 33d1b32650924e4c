// Comparisons: which trials, in which order, and the ranking of made-up results. A toy one is trained from end to end.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "experiment/build.h"
#include "lab/papers/compare/compare.h"
#include "lab/papers/compare/ranking.h"
#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::test;
using compare::Options, compare::plan, compare::in_order;
using reproduce::Plan, reproduce::Planned, reproduce::Outcomes, reproduce::SweepFolder, sweep::Trial;

namespace {

// A run folder as far as a ranking reads it.
void make_run(const SweepFolder& runs, const Trial& t, double beyond, double loss, double trained = 1) {
  const std::string run = runs.run(t);
  std::filesystem::create_directories(run);
  std::string eval = "length,accuracy,unmasked_accuracy,loss,samples,chance,majority,content_only\n";
  for (int length = 1; length <= t.config().lengths("eval_lengths").to; ++length)
    eval += fmt::format("{0},{1},{1},{2},32,0.5,0.55,0.7\n", length,
                        length <= t.config().whole("train_length") ? trained : beyond, loss);
  write_file(run + "/eval.csv", eval);
  write_file(run + "/result.json",
             fmt::format(R"({{"paper_score":{},"baselines":{{"chance":0.5,"majority":0.55,"content_only":0.7}},)"
                         R"("seconds":{},"parameters":1234}})",
                         beyond, t.config()["encoding"] == "none" ? 10. : 25.));
}

const Options four = {{"even_pairs", "bucket_sort"}, {"none", "rope", "alibi", "learned"}};

// Mean and loss of each scheme: rope and alibi overlap, learned is the same as none.
const std::map<std::string, double> scores = {{"none", 0.6}, {"rope", 0.8}, {"alibi", 0.79}, {"learned", 0.6}};
double score(const Trial& t) {  // rope and alibi vary over the seeds, differently
  const double seed = double(t.config().count("seed")),
               spread = t.config()["encoding"] == "rope" ? 0.02 * seed : 0.01 * (2 - seed);
  return scores.at(t.config()["encoding"]) +
         (t.config()["encoding"] == "none" || t.config()["encoding"] == "learned" ? 0 : spread) +
         (t.config()["task"] == "even_pairs" ? 0.1 : 0);
}
double loss(const Trial& t) {
  return t.config()["encoding"] == "learned" ? scores.at("none") : scores.at(t.config()["encoding"]);
}

std::string drawn(const TemporaryFolder& folder, const Options& options, const std::function<bool(const Trial&)>& done,
                  const std::string& name = "ranking") {
  const std::vector<Planned> planned = plan(options);
  const SweepFolder runs(folder / "runs");
  std::filesystem::create_directories(runs.path());
  for (const Trial& t : in_order(planned)) {
    std::filesystem::remove_all(runs.run(t));
    if (done(t)) make_run(runs, t, score(t), loss(t));
  }
  reproduce::write(planned, compare::request(options), folder.path, "poslab compare");
  return read_file(folder / (name + ".md"));
}

}  // namespace

TEST_CASE("compare: commas part encodings, and the options of one") {
  using Words = std::vector<std::string>;
  const auto read = compare::read_spellings;
  CHECK(read("rope,alibi:symmetric,rope|none") == Words{"rope", "alibi:symmetric", "rope|none"});
  CHECK(read("alibi:mode=differences,symmetric,rope") == Words{"alibi:mode=differences,symmetric", "rope"});
  CHECK(read("self_extend:group=4,window=20,window") == Words{"self_extend:group=4,window=20", "window"});
  CHECK(read("none*4+alibi*4, rope") == Words{"none*4+alibi*4", "rope"});
  CHECK(holds(refusal([&] { read("rope,,alibi"); }), "2: an encoding is missing in \"rope,,alibi\""));
}

TEST_CASE("compare: all encodings, each beside its like") {
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

TEST_CASE("compare: whatever is cut off, what is left is a whole comparison") {
  const std::vector<std::string> tasks = {"reverse_string", "even_pairs"};
  const Plan all = in_order(plan({tasks, {"geometric", "rope", "cope", "none"}, "tiny", "sequential", false, 2}));
  const size_t half = all.size() / 2;
  for (size_t n = 0; n < all.size(); ++n) CHECK(all[n].config().count("seed") == (n < half ? 0 : 1));
  // Fused first, in it by task: rope, none, and with a mask none, rope, alibi. Then those that write out their logits.
  std::vector<std::string> first;
  for (size_t n = 0; n < half; ++n) first.push_back(all[n].config()["task"] + " " + all[n].config()["encoding"]);
  CHECK(first == std::vector<std::string>{"reverse_string rope", "reverse_string none", "reverse_string none",
                                          "reverse_string rope", "reverse_string alibi", "even_pairs rope",
                                          "even_pairs none", "even_pairs none", "even_pairs rope", "even_pairs alibi",
                                          "reverse_string geometric", "reverse_string cope", "even_pairs geometric",
                                          "even_pairs cope"});
}

TEST_CASE("compare: what is asked for wrongly is refused with a remedy") {
  const auto said = [](const Options& options) { return refusal([&] { plan(options); }); };
  CHECK(holds(said({{"even_pair"}, {"rope"}}), "did you mean \"even_pairs\""));
  CHECK(holds(said({{}, {"rop"}}), "did you mean \"rope\""));
  CHECK(holds(said({{}, {"alibi:symetric"}}), "did you mean \"symmetric\""));
  CHECK(holds(said({{}, {"rope"}, "tinny"}), "did you mean \"tiny\""));
  CHECK(holds(said({{}, {"rope"}, "tiny", "randomised"}), "did you mean \"randomized\""));
  CHECK(holds(said({{}, {"rope"}, "tiny", "sequential", false, 0, {{"eval_lengths", {"41:100"}}}}),
              "2: eval_lengths = 41:100 with train_length = 20: what is compared"));
  CHECK(holds(said({{}, {"none*3+alibi*3"}}), "2: none of these can be trained; the first, none*3+alibi*3: "));
}

TEST_CASE("compare: positions and biases that stand in files, whose names the page repeats") {
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

  std::filesystem::create_directories(folder / "out/runs");
  Program draws(folder, fmt::format("compare --task even_pairs --encodings {} --positions {} --seeds 1 --draw --out {} "
                                    "--set train_length=1 --set eval_lengths=1:2",
                                    encodings, positions, folder / "out"));
  REQUIRE_MESSAGE(draws.status() == 0, draws.output());
  CHECK(holds(read_file(folder / "out/README.md"), "--positions " + positions + " --seeds 1"));
}

TEST_CASE("compare: one that cannot be trained is listed with its reason, and stops nothing") {
  const TemporaryFolder folder;
  const Options options = {{"even_pairs", "bucket_sort"}, {"none", "rope", "none*3+alibi*3"}};
  CHECK(in_order(plan(options)).size() == 2 * 2 * 3);
  const std::string text = drawn(folder, options, [](auto&) { return true; });
  CHECK(holds(text, "2 encodings ranked"));
  CHECK(holds(text, "impossible: "));
  CHECK(holds(text, "is for 6 heads, and the model has heads = 8"));
}

TEST_CASE("compare: the ranking of three seeds") {
  const TemporaryFolder folder;
  const std::string text = drawn(folder, four, [](auto&) { return true; });
  CAPTURE(text);
  CHECK(holds(text,
              "4 encodings ranked by mean accuracy on the lengths 21 to 100 of even_pairs, bucket_sort: rope is "
              "first with 87.0 % [85.0, 89.0], then alibi (85.0 %) and none (65.0 %)."));
  CHECK(holds(text, "Not told apart from it, as their intervals overlap its own: alibi."));
  CHECK(holds(text,
              "Ahead of no positions at all (65.0 %): 2; behind: 0. With an interval that excludes zero: 2 ahead, 0 "
              "behind."));
  CHECK(holds(text,
              "even_pairs: from none (70.0 %) to rope (92.0 %); chance 50.0, majority 55.0, content only 70.0: 2 "
              "of 4 are above all three."));
  CHECK(holds(text, "At the lengths of training all have at least 90 %."));
  CHECK(holds(text, "Equal to the last digit: none, learned."));
  CHECK(holds(text,
              "| rope | 1 | 3 | **87.0** ([85.0, 89.0]) | **+22.0** ([+20.0, +24.0]) | 92.0 ([90.0, 94.0]) | 82.0 "
              "([80.0, 84.0]) | 100.0 | 1234 | 2.5 |"));
  // A baseline stands where its mean belongs.
  CHECK(text.find("| alibi | 2 ") < text.find("| content only | – | – | 70.0 "));
  CHECK(text.find("| content only ") < text.find("| none | 3 "));
  CHECK(text.find("| learned | 4 ") < text.find("| majority "));

  const std::string csv = read_file(folder / "ranking.csv"), page = read_file(folder / "index.html");
  CHECK(holds(csv, "rope,sequential,off,mean,1,6,6,3,0.87"));
  CHECK(holds(csv, "\nnone,sequential,off,bucket_sort,,3,3,3,0.6"));
  CHECK(holds(page, "<p class=\"kicker\">poslab compare</p>"));
  CHECK(holds(page, "Accuracy against length, bucket_sort"));
  CHECK(holds(page, "<text x=\"57.8\" y=\"39.0\" text-anchor=\"end\">rope</text>"));
  CHECK_FALSE(holds(text + csv + page, "nan"));
}

TEST_CASE("compare: one seed has no intervals, and says so") {
  const TemporaryFolder folder;
  const std::string text = drawn(folder, four, [](const Trial& t) { return t.config().count("seed") == 0; });
  CHECK(holds(text, "It has one seed and so no interval"));
  CHECK(holds(text, "| alibi | 1 | 1 | 86.0 | +21.0 | 91.0 | 81.0 | 100.0 | 1234 | 2.5 |"));
  CHECK(holds(text, "Ahead of no positions at all (65.0 %): 2; behind: 0."));
  CHECK_FALSE(holds(text, "**"));
  CHECK(holds(text, "8 of 24 trials are done; 16 to do."));
}

TEST_CASE("compare: of a cut run what is done for all is ranked, and what is missing is named") {
  const TemporaryFolder folder;
  const std::string text = drawn(folder, four, [](const Trial& t) {
    return t.config()["encoding"] != "learned" &&
           (t.config()["task"] == "even_pairs" || t.config()["encoding"] == "rope");
  });
  CHECK(holds(text, "3 encodings ranked by mean accuracy on the lengths 21 to 100 of even_pairs: rope is first"));
  CHECK(holds(text, "Does not count yet, as it is not done for all: bucket_sort."));
  CHECK(holds(text, "Without any result yet: learned."));
  CHECK(holds(text, "| 82.0 ([80.0, 84.0]) | 100.0 |"));  // rope's bucket_sort is shown all the same
  const std::string none = drawn(folder, four, [](auto&) { return false; });
  CHECK(holds(none, "Nothing can be ranked yet."));
  CHECK(holds(none, "24 to do."));
  CHECK_FALSE(holds(none, "could not be drawn"));
}

TEST_CASE("compare: one that failed on a task is not ranked, and keeps no other from it") {
  const TemporaryFolder folder;
  const std::vector<Planned> planned = plan(four);
  const SweepFolder runs(folder / "runs");
  std::filesystem::create_directories(runs.path());
  for (const Trial& t : in_order(planned))
    if (t.config()["encoding"] == "alibi" && t.config()["task"] == "even_pairs")
      write_file(runs.failed(t), "training has diverged\n");
    else
      make_run(runs, t, score(t), loss(t), t.config()["encoding"] == "learned" ? 0.8 : 1);
  reproduce::write(planned, compare::request(four), folder.path, "poslab compare");
  const std::string text = read_file(folder / "ranking.md");
  CHECK(holds(text, "3 encodings ranked by mean accuracy on the lengths 21 to 100 of even_pairs, bucket_sort"));
  CHECK(holds(text,
              "Not ranked, as not all of the tasks that count are done:\n\n| encoding | even_pairs | bucket_sort "
              "|\n|---|---|---|\n| alibi | – | 80.0 ([79.0, 81.0]) |"));
  CHECK(holds(text, "training has diverged"));
  CHECK(holds(text,
              "At the lengths of training 1 of 3 have less than 90 %, so they have not learned the tasks yet: "
              "learned; the lowest is learned with 80.0 %."));
}

TEST_CASE("compare: the program trains, takes more encodings into the same folder, and draws") {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  const auto says = [&](const std::string& words) {
    Program program(folder, "compare --task even_pairs,reverse_string " + words +
                                fmt::format(" --seeds 1 --jobs 2 --threads 1 --out {} --set steps=8 --set layers=1 "
                                            "--set heads=2 --set d_model=16 --set batch=4 --set eval_lengths=1:22 "
                                            "--set eval_samples=2",
                                            out));
    const int status = program.status();
    return std::pair(status, program.output());
  };
  const auto [status, said] = says("--encodings rope,alibi:symmetric");
  CAPTURE(said);
  CHECK(status == 0);
  CHECK(holds(said, "4 trials; all take about 0:0"));
  CHECK(holds(said, "All 4 trials are done."));
  CHECK(holds(read_file(out + "/ranking.md"), "2 encodings ranked"));
  CHECK(holds(read_file(out + "/README.md"), "poslab compare --task even_pairs,reverse_string --encodings"));

  const auto [again, more] = says("--encodings none,rope,alibi:symmetric,cope");
  CAPTURE(more);
  CHECK(again == 0);
  CHECK(holds(more, "14 trials, 4 of them done; the others take about 0:0"));
  CHECK(holds(read_file(out + "/ranking.md"), "3 encodings ranked"));
  CHECK(holds(read_file(out + "/causal.md"), "4 encodings ranked"));
  CHECK(holds(read_file(out + "/causal.csv"), "cope,sequential,on,reverse_string,"));
  CHECK_FALSE(holds(read_file(out + "/README.md"), "nan"));
  CHECK(says("--encodings none,rope,alibi:symmetric,cope --draw").first == 0);
  CHECK(says("--encodings none,rope --plan").second.find("choose another --out") != std::string::npos);
}
