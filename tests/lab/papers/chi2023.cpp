// The second source (lab/papers/chi2023/chi2023.h): its plan, what it refuses, and its records.
#include "lab/papers/chi2023/chi2023.h"

#include <algorithm>
#include <set>

#include "experiment/t5/options.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::reproduce;
using namespace poslab::test;

TEST_CASE("chi2023: the tests of every table have files of their own, and follow the training of their model") {
  for (const ModelSize& size : sizes_of("chi2023")) {
    const ModelSource source = chi2023::source({size.name, {}, "nowhere"});
    size_t trials = 0;
    for (const Plan& plan : source.plans(artifacts({"chi2023"})))
      for (const Trial& t : plan) {
        std::set<std::string> files;
        for (const TrialTest& test : t.tests) CHECK_MESSAGE(files.insert(test.file).second, test.file);
        ++trials;
      }
    CHECK(trials == chi2023::models(chi2023::setup(size.name, {})).size() * size_t(size.seeds));
    CHECK(source.plans(artifacts({"chi2023:propositions"})).empty());
    const std::vector<Plan> fig1 = source.plans(artifacts({"chi2023:fig1"}));
    REQUIRE(fig1.size() == 1);
    CHECK(fig1[0].size() == size_t(size.seeds));
    REQUIRE(fig1[0][0].tests.size() == 1);  // it is a record
    CHECK(fig1[0][0].tests[0].words.empty());
    for (const Plan& plan : source.plans(artifacts({"chi2023:table6"})))
      for (const TrialTest& test : plan[0].tests) CHECK_MESSAGE(holds(test.file, "/documents-"), test.file);
  }
}

TEST_CASE("chi2023: a task is tested with the first model that has learned it, and no model is trained needlessly") {
  using Words = std::vector<std::string>;
  const chi2023::Setup apart = chi2023::setup("tiny", {"tasks=passkey/line"});
  CHECK(apart.tasks() == Words{"passkey", "line", "topic"});
  CHECK(apart.model_of("line") == "t5");
  CHECK(apart.model_of("topic") == "topic");
  CHECK(apart.model_of("documents") == "documents");
  const Words sets = {"tasks=topic/line:digits=2", "seeds=1"};
  const chi2023::Setup together = chi2023::setup("tiny", sets);
  CHECK(together.tasks() == Words{"topic", "line:digits=2"});
  CHECK(together.model_of("topic") == "t5");
  CHECK(together.model_of("line:digits=2") == "t5");
  for (const Plan& plan : chi2023::source({"tiny", sets, "nowhere"}).plans(artifacts({"chi2023"})))
    for (const Trial& t : plan) CHECK(t.name != "topic-0");
}

TEST_CASE("chi2023: settings that do not fit") {
  const auto said = [](const std::vector<std::string>& sets) { return refusal([&] { chi2023::setup("tiny", sets); }); };
  CHECK(said({"steps=5", "lm_steps=5", "seeds=2"}) == "");
  CHECK(holds(said({"steps"}), "--set steps is not KEY=VALUE"));
  CHECK(holds(said({"encoding=alibi"}), "each table sets it itself"));
  CHECK(holds(said({"lm_encoding=alibi"}), "each table sets it itself"));
  CHECK(holds(said({"lm_stepps=3"}), "unknown lm option \"stepps\"; did you mean \"steps\""));
  CHECK(holds(said({"eval_lengths=512.5"}), "eval_lengths = \"512.5\" is not a whole number"));
  CHECK(holds(said({"stepps=3"}), "did you mean \"steps\""));
  CHECK(holds(said({"eval_lengths=128"}), "none is beyond the trained length 128"));
  CHECK(holds(refusal([] { chi2023::setup("paper", {}); }), "unknown size \"paper\""));
}

TEST_CASE("chi2023: a guess is one of the answers in the context, or one of all numbers") {
  CHECK(chi2023::guess("line", 128) == 1 / 31.);  // (128 - 3) / 4
  CHECK(chi2023::guess("topic", 128) == 1 / 5.);
  CHECK(chi2023::guess("passkey:digits=1", 64) == 1 / 16.);
  CHECK(chi2023::guess("passkey", 64) == 1 / 256.);
}

TEST_CASE("chi2023: records of a T5") {
  t5::State state(RunSpec(t5::configure({{"tasks", "passkey/line"},
                                         {"layers", "1"},
                                         {"decoder_layers", "1"},
                                         {"heads", "2"},
                                         {"d_model", "16"},
                                         {"d_ff", "16"},
                                         {"train_length", "40"},
                                         {"eval_lengths", "40/48"}})));
  const Json bias = chi2023::biases(state.net), logits = chi2023::logits(state);
  CHECK(bias["distance"].size() == 321);
  REQUIRE(bias["bias"].size() == 2);
  CHECK(bias["bias"][0][0] == bias["bias"][0][1]);  // beyond the last bucket
  CHECK(bias["bias"][0] != bias["bias"][1]);
  for (const char* task : {"passkey", "line"})
    for (const char* length : {"40", "48"}) {
      const auto sorted = logits["tasks"][task][length].get<std::vector<double>>();
      CHECK(sorted.size() == 41);
      CHECK(std::is_sorted(sorted.begin(), sorted.end()));
    }
}

TEST_CASE("measured: a record is measured once, and a damaged one is named") {
  const TemporaryFolder folder;
  const std::string path = folder / "record.json";
  int times = 0;
  const auto measure = [&] { return ++times, Json{{"x", 0.5}}; };
  for (int n = 0; n < 2; ++n) CHECK(record(path, measure) == Json{{"x", 0.5}});
  CHECK(times == 1);
  write_file(path, "[1");
  CHECK(holds(refusal([&] { record(path, measure); }), "record.json is damaged; remove it, and it is measured again"));
}

TEST_CASE("chi2023: records are kept, without the path of a run") {
  const TemporaryFolder folder;
  const ModelSource source = chi2023::source({"tiny", {"seeds=1"}, folder / "first"});
  const std::vector<Plan> plans = source.plans(artifacts({"chi2023:table1", "chi2023:fig1"}));
  const SweepFolder runs(folder / "first/runs"), again(folder / "again/runs");
  const Trial& t = plans[0][0];
  const std::string of = runs.run(t);
  make_folder(of + "/aligned");
  std::string table = "task,length,accuracy\n";
  std::map<int, int> tasks;
  for (const int length : kind_of(t.run).tested_lengths(t.run))
    table += fmt::format("task{},{},1\n", tasks[length]++, length);
  write_file(of + "/eval.csv", table);
  write_file(of + "/biases.json", R"({"distance": [-1, 0, 1], "bias": [[0.1, 1e-7, 3]]})");
  write_file(of + "/aligned/line-pmax.json", Json{{"mode", "pmax"}, {"run", "/some/where/" + t.id}}.dump());
  write_file(folder / "kept.jsonl", kept_lines(plans, runs));
  CHECK(restore(plans[0], again, folder / "kept.jsonl") == 1);
  CHECK(again.untested(t).size() == 1);  // the test with the alignment on passkeys
  CHECK(parse_json(read_file(again.run(t) + "/aligned/line-pmax.json"), "it") == Json{{"mode", "pmax"}});
  CHECK(kept_lines(plans, again) == read_file(folder / "kept.jsonl"));
  write_file(of + "/biases.json", "[]");
  CHECK(holds(refusal([&] { kept_lines(plans, runs); }), "biases.json is damaged: it is not an object with fields"));
  for (const Json& other : {Json{{"run", "/some/where/0123456789abcdef"}}, Json{{"id", "0123456789abcdef"}}}) {
    write_file(of + "/biases.json", other.dump());
    const std::string said = refusal([&] { kept_lines(plans, runs); });
    CHECK(holds(said, "biases.json belongs to the trial 0123456789abcdef, but this is"));
  }
}
