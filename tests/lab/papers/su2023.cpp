// Su 2023 (lab/papers/su2023/su2023.h): its plan, and the values kept for Python. Its tables and claims, and the whole
// source on toy models, are tested in tests/python/test_papers.py.
#include "lab/papers/su2023/su2023.h"

#include <set>

#include "experiment/language/options.h"
#include "lab/files/json.h"
#include "lab/papers/reproduce.h"
#include "lab/runs/results_csv.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::reproduce;
using namespace poslab::test;
namespace fs = std::filesystem;

namespace {

std::vector<const Artifact*> all_of_it() { return artifacts({"su2023"}); }

// The rows of a test with these options; all rows have the same numbers.
std::string made_up_test(const Choices& c) {
  std::string csv = header_of(language_kind()) + "\n";
  const std::vector<int> lengths = language_kind().tested_lengths(c);
  for (size_t n = 0; n < lengths.size(); ++n) {
    csv += fmt::format("{},{},{}", lengths[n], n < lengths.size() / 2 ? "plain" : "repeated", c["eval_samples"]);
    for (size_t column = 3; column < language_kind().columns->size(); ++column) csv += ",0.5";
    csv += "\n";
  }
  return csv;
}

}  // namespace

TEST_CASE("su2023: windows depend on the trained length, HFWA's as in the source") {
  const su2023::Setup tiny = su2023::setup("tiny", {});
  const ModelSource source = su2023::source({"tiny", {}, "nowhere"});
  const auto of = [&](const char* artifact, const std::string& name) {
    const Json about = source.about_artifact(*artifacts({artifact})[0]);
    for (const Json& m : about["methods"])
      if (m["method"] == name) return m;
    return Json();
  };
  CHECK(of("su2023:main", "ReRoPE-w32-logn")["encoding"] == "rerope:window=32");
  CHECK(of("su2023:methods", "LeakyReRoPE-w16-k16")["encoding"] == "rerope:window=16,leaky=16");
  CHECK(of("su2023:window", "ReRoPE-w48")["row"] == "ReRoPE-w384");
  CHECK(of("su2023:window", "ReRoPE-w64-logn_test_only")["temperature"] == "log_n:length=64,only_longer");
  CHECK(of("su2023:far", "YaRN")["encoding"] == "yarn:factor=32,length=64");
  CHECK(of("su2023:far", "YaRN")["file"] == "tests/YaRN-far.csv");
  const auto encoding_of = [](const su2023::Setup& s, const std::string& model) {
    for (const Model& m : su2023::models(s))
      if (m.name == model) return language::configure(m.settings)["encoding"];
    return std::string();
  };
  CHECK(encoding_of(su2023::setup("paper", {}), "hfwa") == "hfwa:length=512");  // its default window is 16 in 24 layers
  CHECK(encoding_of(tiny, "hfwa") == "hfwa:window=22,length=64");
  CHECK(encoding_of(tiny, "inverse_leaky") == "rerope:window=16,leaky=0.0625");
}

TEST_CASE("su2023: every method is tested in its own file, once for all tables") {
  for (const ModelSize& size : sizes_of("su2023")) {
    const su2023::Setup setup = su2023::setup(size.name, {});
    const ModelSource source = su2023::source({size.name, {}, "nowhere"});
    const std::vector<Plan> plans = source.plans(all_of_it());
    REQUIRE(plans.size() == 1);
    CHECK(plans[0].size() == su2023::models(setup).size() * size_t(size.seeds));
    for (const Trial& t : plans[0]) {
      std::set<std::string> files;
      for (const TrialTest& test : t.tests) CHECK(files.insert(test.file).second);
      CHECK(SweepFolder("nowhere").steps_left(t) == 1 + t.tests.size());
    }
    CHECK(source.plans(artifacts({"su2023:llama"}))[0].size() == size_t(size.seeds));
    CHECK(source.plans(artifacts({"su2023:matrices"})).empty());
  }
}

TEST_CASE("su2023: settings that do not fit are refused") {
  const auto said = [](const std::vector<std::string>& sets) { return refusal([&] { su2023::setup("tiny", sets); }); };
  CHECK(said({"steps=5", "seeds=2"}) == "");
  CHECK(holds(said({"steps"}), "2: --set steps is not KEY=VALUE"));
  CHECK(holds(said({"encoding=alibi"}), "each table sets it itself"));
  CHECK(holds(said({"stepps=3"}), "did you mean \"steps\""));
  CHECK(holds(said({"train_length=8"}), "take 16 or more"));
  CHECK(holds(refusal([] { su2023::setup("tinny", {}); }), "did you mean \"tiny\""));
  CHECK(holds(refusal([] { plan({{"su2023:main"}, "tiny", {}, {}, {}}); }), "request it in a separate command"));
}

TEST_CASE("su2023: trials are kept with their tests, and lose none of them") {
  const TemporaryFolder folder;
  const ModelSource source = su2023::source({"tiny", {"seeds=1"}, folder / "first"});
  const std::vector<Plan> plans = source.plans(artifacts({"su2023:llama"}));
  const SweepFolder runs(folder / "first/runs"), again(folder / "again/runs");
  const Trial& t = plans[0][0];
  const std::string csv = made_up_test(t.run), of = runs.run(t);
  make_folder(of + "/tests");
  write_file(of + "/eval.csv", csv), write_file(of + "/tests/ReRoPE.csv", csv);
  write_file(folder / "kept.jsonl", kept_lines(plans, runs));
  CHECK(restore(plans[0], again, folder / "kept.jsonl") == 1);
  CHECK(again.trained(t));
  CHECK(again.untested(t).size() == 1);  // the test of NTK-RoPE
  CHECK(read_file(again.run(t) + "/tests/ReRoPE.csv") == csv);
  CHECK(kept_lines(plans, again) == read_file(folder / "kept.jsonl"));
  // A test that was cut off, at the end of a line or within one, is not kept.
  for (const std::string& cut : {csv.substr(0, csv.rfind('\n', csv.size() - 2) + 1), csv.substr(0, csv.size() - 4)}) {
    write_file(of + "/tests/ReRoPE.csv", cut);
    const std::string said = refusal([&] { kept_lines(plans, runs); });
    CHECK(holds(said, "1: " + of + "/tests/ReRoPE.csv " +
                          (cut.ends_with('\n') ? "has 5 rows, but its test has 6" : "is cut off: line 7 reads ")));
  }
  // a file outside the plan is not one of the plan's tests
  Json strange = parse_json(read_file(folder / "kept.jsonl"), "it");
  strange.erase("checksum");
  strange["tests"] = {{"../../x.csv", {{"length", "1"}}}};
  write_file(folder / "kept.jsonl", strange.dump());
  CHECK(restore(plans[0], SweepFolder(folder / "strange/runs"), folder / "kept.jsonl") == 1);
  CHECK_FALSE(fs::exists(folder / "strange/x.csv"));
  strange["tests"]["../../x.csv"] = 1;
  write_file(folder / "kept.jsonl", strange.dump());
  CHECK(holds(refusal([&] { read_kept(folder / "kept.jsonl"); }), "its test ../../x.csv is not an object with"));
}

TEST_CASE("su2023: Python gets every table") {
  const ModelSource source = su2023::source({"tiny", {}, "nowhere"});
  for (const Artifact* a : all_of_it()) {
    const Json about = source.about_artifact(*a);
    if (a->name == "su2023:matrices") {
      CHECK(about["matrices"].size() == 6);
      continue;
    }
    CHECK(about["methods"].size() == source.tests(*a).size());
  }
  CHECK(source.models.trials().size() == 30);
}
