// The second source (lab/papers/chi2023/chi2023.h): its plan, its refusals, and the whole source on toy models.
#include <set>

#include "lab/papers/chi2023/chi2023.h"
#include "lab/papers/paper.h"
#include "lab/papers/reproduce.h"
#include "lab/runs/results_csv.h"
#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::reproduce;
using namespace poslab::test;
using chi2023::Mode;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> toy = {"tasks=passkey/line",
                                      "layers=1",
                                      "decoder_layers=1",
                                      "heads=2",
                                      "d_model=16",
                                      "d_ff=16",
                                      "tokens=128",
                                      "train_length=40",
                                      "shortest=32",
                                      "eval_lengths=40/48/64",
                                      "steps=3",
                                      "eval_samples=8",
                                      "lm_layers=1",
                                      "lm_heads=2",
                                      "lm_key_heads=2",
                                      "lm_d_model=16",
                                      "lm_d_ff=16",
                                      "lm_batch=2",
                                      "lm_steps=3",
                                      "lm_train_length=16",
                                      "lm_eval_samples=2",
                                      "lm_eval_times=1/2/4",
                                      "seeds=1"};

}  // namespace

TEST_CASE("chi2023: every table's tests leave files of their own, after the training of their model") {
  for (const ModelSize& size : chi2023::all_sizes()) {
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
    CHECK(fig1[0][0].tests.empty());
  }
}

TEST_CASE("chi2023: a task is tested with the first model that learned it, and none is trained for nothing") {
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

TEST_CASE("chi2023: the source's numbers, and settings that do not fit") {
  CHECK(paper_value("chi2023_dispersion", "line 15000", "entropy") == doctest::Approx(6.63));
  CHECK(paper_value("chi2023_temperatures", "xl pmax topic", "4") == doctest::Approx(0.65));
  CHECK(std::isnan(paper_value("chi2023_temperatures", "xxl entropy topic", "5")));  // lost
  CHECK(paper_value("chi2023_documents", "large pmax 30", "29") == doctest::Approx(37.0));
  const auto said = [](const std::vector<std::string>& sets) { return refusal([&] { chi2023::setup("tiny", sets); }); };
  CHECK(said({"steps=5", "lm_steps=5", "seeds=2"}) == "");
  CHECK(holds(said({"steps"}), "--set steps is not KEY=VALUE"));
  CHECK(holds(said({"encoding=alibi"}), "each table says for itself which"));
  CHECK(holds(said({"lm_encoding=alibi"}), "each table says for itself which"));
  CHECK(holds(said({"lm_stepps=3"}), "unknown lm option \"stepps\"; did you mean \"steps\""));
  CHECK(holds(said({"eval_lengths=512.5"}), "eval_lengths = \"512.5\" is not a whole number"));
  CHECK(holds(said({"stepps=3"}), "did you mean \"steps\""));
  CHECK(holds(said({"eval_lengths=128"}), "none is beyond the trained length 128"));
  CHECK(holds(refusal([] { chi2023::setup("paper", {}); }), "unknown size \"paper\""));
}

TEST_CASE("chi2023: all of it on toy models") {
  const TemporaryFolder folder;
  const std::string out = folder / "toy";
  std::string all, words = " --size tiny --jobs 2 --threads 1 --out '" + out + "'";
  for (const std::string& set : toy) words += " --set " + set;
  for (const Artifact* a : artifacts({"chi2023"}))
    if (a->name != "chi2023:propositions") all += " " + a->name;  // they train nothing, and take long: drawn once
  CHECK(Program(folder, "reproduce chi2023:propositions --draw" + words).status() == 0);
  words = "reproduce" + all + words;
  Program planned(folder, words + " --plan");
  REQUIRE_MESSAGE(planned.status() == 0, planned.output());
  CHECK(holds(planned.output(), "toy/plan-t5.jsonl: 6 models; train them with"));
  Program trained(folder, "sweep run '" + out + "/plan-lm.jsonl' --out '" + out + "/runs' --threads 1");  // a cluster
  CHECK_MESSAGE(trained.status() == 0, trained.output());
  CHECK(states(read_plan(out + "/plan-lm.jsonl"), SweepFolder(out + "/runs")) == std::vector{TrialState::done});
  Program first(folder, words);
  REQUIRE_MESSAGE(first.status() == 0, first.output());
  CHECK(holds(first.output(), "7 of 7 runs are trained, and"));
  for (const Artifact* a : artifacts({"chi2023"})) {
    const std::string name = out + "/" + a->name.substr(a->name.find(':') + 1), text = read_file(name + ".md");
    CHECK(fs::exists(name + ".csv"));
    CHECK_MESSAGE(!holds(text, "could not be drawn"), name);
    CHECK_MESSAGE(!holds(text, "nan"), name);
  }
  const chi2023::Results results(chi2023::setup("tiny", toy), out);
  const chi2023::Test plain{"t5", "line", Mode::original, true}, aligned{"t5", "line", Mode::entropy, true};
  for (const Row& at : read_results(out + "/runs/named/t5-0/tests/line-entropy.csv", t5_kind()))
    CHECK(results.accuracy(aligned, at.length()).at(0) == at["accuracy"]);
  CHECK(results.accuracy(plain, 64).size() == 1);
  const auto cut = [&](const std::string& file, const chi2023::Test& test) {
    const std::string path = out + "/runs/named/t5-0/" + file, whole = read_file(path);
    write_file(path, whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1));
    const std::string said = refusal([&] { results.accuracy(test, 64); });
    write_file(path, whole);
    return said;
  };
  CHECK(holds(cut("eval.csv", plain), "and its test"));
  const std::string file = out + "/runs/named/t5-0/aligned/line-entropy.json", whole = read_file(file);
  std::string of_other = whole;
  const size_t id = of_other.find("/runs/") + 6;
  write_file(file, of_other.replace(id, 16, "0123456789abcdef"));
  CHECK(holds(refusal([&] { results.temperature(aligned, 64); }), "/runs/0123456789abcdef, and this is trial "));
  write_file(file, whole);
  CHECK(holds(cut("tests/line-entropy.csv", aligned), "tests/line-entropy.csv has "));
  const double tau = results.temperature(aligned, 64).at(0);
  CHECK(tau <= 1);
  CHECK(tau >= 0.5);
  CHECK(results.figure(aligned, 0, "entropy", false).at(0) < results.figure(aligned, 64, "entropy", false).at(0));
  CHECK(results.loss({"lm", "", Mode::pmax, true}, 64).size() == 1);
  CHECK(holds(read_file(out + "/table1.md"), "| line, 40 |"));
  CHECK(holds(read_file(out + "/table7.md"), "source 8.61"));

  const std::string before = read_file(out + "/README.md");
  Program draw(folder, words + " --draw");
  CHECK(draw.status() == 0);
  CHECK(read_file(out + "/README.md") == before);
  words.replace(words.find(all), all.size(), " chi2023:table2 chi2023:table3");
  words.replace(words.find("--set steps=3"), 13, "--set steps=4");
  Program other(folder, words + " --draw");
  CHECK_MESSAGE(holds(other.output(), "1 of 5 runs are trained"), other.output());  // the language model is the same
}
