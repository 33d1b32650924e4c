// Runs of every kind that begin with the weights of another model (lab/runs/origin.h).
#include "lab/runs/origin.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "autograd/tape.h"
#include "lab/files/progress.h"
#include "lab/hub/hf_model.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/own_files.h"
#include "lab/runs/sweep/state.h"
#include "lab/runs/whole_run.h"
#include "tests/experiment/small_kinds.h"
#include "tests/lab/hub/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

Settings with(const Settings& more, const std::string& out) {
  Settings all = more;
  all.emplace_back("out", out);
  return all;
}

// Trains, and returns what was written to stderr.
std::string trained(const Kind& kind, const Settings& all, const TemporaryFolder& folder) {
  {
    const LogFile in_place_of_stderr(folder / "log");
    train_run(kind, all, {}, false);
  }
  return read_file(folder / "log");
}

std::map<std::string, std::vector<real>> tensors(const std::string& run, const Kind& kind) {
  std::map<std::string, std::vector<real>> all;
  for (const auto& [name, x] : Checkpoint(read_file(run + "/checkpoint.safetensors"), run, kind).tensors())
    all[name] = x.values();
  return all;
}

}  // namespace

TEST_CASE("from: a run of any kind begins with another's weights, resumes bit for bit, and says where it came from") {
  for (const SmallKind& k : small_kinds()) {
    CAPTURE(k.name);
    const TemporaryFolder folder;
    const std::string a = folder / "a", b = folder / "b", c = folder / "c";
    trained(k.kind, with(overlaid(k.kind.table(), k.settings, {{"encoding", "rope"}, {"positions", "sequential"}}), a),
            folder);
    const Settings more = {{"from", a}, {"encoding", "t5"}, {"steps", "7"}};
    const std::string said = trained(k.kind, with(more, b), folder);
    CHECK(holds(said, "begins with " + a + ", step 5, encoding rope"));
    CHECK(holds(said, "\n  new      "));
    CHECK(holds(said, "\n  dropped  none\n"));
    CHECK_FALSE(holds(said, "\n  kept     none\n"));

    // The weights are in the first checkpoint, so that a kill right after it loses nothing.
    const RunSpec spec(k.kind.configure(settings_from(open_origin(k.kind, a), k.kind, with(more, c))));
    { create_run(spec); }
    auto before = tensors(a, k.kind), begun = tensors(c, k.kind);
    const auto origin = nlohmann::json::parse(read_file(c + "/origin.json"));
    CHECK(origin["kept"].size() + origin["new"].size() + 2 == begun.size());
    CHECK(origin["kept"].size() + 2 == before.size());
    CHECK(origin["new"].size() >= 1);
    for (const std::string name : origin["kept"]) CHECK_MESSAGE(before.at(name) == begun.at(name), name);
    CHECK(begun.at("adam.m") == std::vector<real>(begun.at("adam.m").size(), 0));
    CHECK(origin["step"] == 5);
    CHECK(origin["checksum"] == checksum_of_bytes(read_file(a + "/checkpoint.safetensors")));

    std::filesystem::remove_all(a);  // the origin is no longer needed
    resume_run(c, {});
    for (const char* name : {"/checkpoint.safetensors", "/metrics.jsonl", "/eval.csv", "/config.toml", "/origin.json"})
      CHECK_MESSAGE(read_file(b + name) == read_file(c + name), name);
    const auto result = nlohmann::json::parse(read_file(b + "/result.json"));
    CHECK(result["files"]["origin"] == origin["checksum"]);
    CHECK(result["config"]["from"] == a);
    write_file(b + "/origin.json", "{}");
    CHECK_FALSE(refusal([&] { check_own_files(b, read_record(b + "/result.json")); }).empty());
  }
}

TEST_CASE("from: with its optimizer a run of any kind continues to the bits of a longer run") {
  for (const SmallKind& k : small_kinds()) {
    CAPTURE(k.name);
    const TemporaryFolder folder;
    const auto settings = [&](const char* steps, const char* out) {
      // without anything that depends on the number of steps: T5's falling rate and growing lengths, a curriculum
      Settings more = {{"steps", steps}, {"cooling", "0"}, {"optimizer", "fresh"}};
      if (k.kind == t5_kind()) more.emplace_back("growing", "0");
      return with(overlaid(k.kind.table(), k.settings, more), folder / out);
    };
    trained(k.kind, settings("3", "short"), folder), trained(k.kind, settings("7", "long"), folder);
    const Settings keep = {{"from", folder / "short"}, {"optimizer", "keep"}};
    trained(k.kind, with(overlaid(k.kind.table(), keep, {{"steps", "7"}, {"keep_checkpoints", "on"}}), folder / "on"),
            folder);
    CHECK(tensors(folder / "on", k.kind) == tensors(folder / "long", k.kind));
    CHECK(std::filesystem::exists(folder / "on/checkpoints/3.safetensors"));
    CHECK(holds(refusal([&] {
            trained(k.kind, with(keep, folder / "no"), folder);
          }),
          "2: steps = 3: with optimizer = keep, training goes on after step 3 of "));
  }
}

TEST_CASE("from: trials of a sweep begin with a run and have its options, except those that the sweep sets") {
  const TemporaryFolder folder;
  const std::string a = folder / "a";
  trained(language_kind(), with(overlaid(language_kind().table(), small_text, {{"heads", "2"}}), a), folder);
  const sweep::Plan plan = sweep::make_plan({{"from", {a}}, {"encoding", {"none", "yarn:factor=2"}}, {"steps", {"3"}},
                                             {"train_length", {"16"}}}, {}, "plan", language_kind());
  REQUIRE(plan.size() == 2);
  CHECK(plan[1].run["encoding"] == "yarn:factor=2,length=8");
  for (const sweep::Trial& t : plan) {
    CHECK(t.run["d_ff"] == "12");
    const std::string run = folder / t.id;
    trained(language_kind(), with(kept(language_kind().table(), t.run), run), folder);
    CHECK(nlohmann::json::parse(read_file(run + "/origin.json"))["kept"].size() == 21);
  }
  // The run at that path is trained again with another seed: trials that began with the old run have another origin.
  const sweep::SweepFolder runs(std::string(folder / ""));
  const auto rerun = [&](const std::string& path, const Settings& settings) {
    std::filesystem::remove_all(path);
    trained(language_kind(), with(settings, path), folder);
  };
  CHECK_NOTHROW(sweep::check_inputs(plan, runs));
  CHECK(runs.other_input(plan, plan[1]) == "");
  rerun(a, overlaid(language_kind().table(), small_text, {{"heads", "2"}, {"seed", "9"}}));
  CHECK(runs.other_input(plan, plan[0]) == "");                // it has begun, so it continues from its own folder
  std::filesystem::remove_all(folder / plan[1].id);
  CHECK(holds(runs.other_input(plan, plan[1]), fmt::format("the origin {} differs from the one that trial ", a)));
  rerun(folder / plan[1].id, kept(language_kind().table(), plan[1].run));
  CHECK(holds(refusal([&] { sweep::check_inputs(plan, runs); }), "have read different origins at the path "));
}

TEST_CASE("from: shares in the encoding refer to the origin's trained length; its base and pairing stay") {
  const TemporaryFolder folder;
  const std::string a = folder / "a";
  trained(language_kind(), with(overlaid(language_kind().table(), small_text,
                                         {{"heads", "2"}, {"encoding", "rope:base=500,pairing=half"}}), a), folder);
  const auto encoding = [&](const Settings& more) {
    return language_kind().configure(settings_from(open_origin(language_kind(), a), language_kind(), more))["encoding"];
  };
  CHECK(encoding({{"train_length", "32"}}) == "rope:pairing=half,base=500");
  CHECK(encoding({{"train_length", "32"}, {"encoding", "yarn:factor=4"}}) ==
        "yarn:factor=4,length=8,base=500,pairing=half");
  CHECK(encoding({{"encoding", "rerope:window=0.5L|none"}}) == "rerope:window=4,pairing=half,base=500|none");
  CHECK(encoding({{"encoding", "yarn:length=16,base=70"}}) == "yarn:length=16,base=70,pairing=half");
  CHECK(encoding({{"encoding", "abf"}}) == "abf:pairing=half");                     // abf changes the base
  CHECK(encoding({{"preset", "none"}, {"encoding", "rope"}}) == "rope");            // a trial's plan names all options
}

TEST_CASE("from: misfits are refused by the option that differs") {
  const TemporaryFolder folder;
  const std::string a = folder / "a";
  trained(language_kind(), with(overlaid(language_kind().table(), small_text, {{"heads", "2"}}), a), folder);
  const auto refused = [&](const Kind& kind, Settings more) {
    more.emplace_back("from", a);
    return refusal([&] { train_run(kind, {}, {with(more, folder / "no")}, false); });
  };
  CHECK(refused(language_kind(), {{"d_ff", "20"}}) ==
        "2: d_ff = 20: " + a + " has 12, and so block0.ffn.w1 is (8, 12), and (8, 20) here; leave d_ff out, or begin "
        "with another model");
  CHECK(holds(refused(language_kind(), {{"layers", "3"}}), "2: layers = 3: " + a + " has 2, and so block2."));
  CHECK(holds(refused(language_kind(), {{"layers", "1"}}), "2: layers = 1: " + a + " has 2, and so block1."));
  CHECK(refused(language_kind(), {{"heads", "1"}}) ==
        "2: heads = 1: " + a + " has 2, and the new run keeps its heads; leave it out");
  CHECK(holds(refused(language_kind(), {{"tied", "on"}}), "2: tied = on: " + a + " has off, and so head.w "));
  CHECK(holds(refused(language_kind(), {{"preset", "tiny"}}), "2: preset = tiny with from = "));
  CHECK(holds(refused(language_kind(), {{"text", ""}}), " was trained on copy_grammar, and has other tokens; "));
  CHECK(holds(refused(t5_kind(), {}), "2: " + a + "/checkpoint.safetensors is of a language model; `poslab lm` reads"));
  CHECK_FALSE(std::filesystem::exists(folder / "no"));
  const auto of_checkpoint = [&](const Kind& kind, const std::string& name) {
    return refusal([&] { open_origin(kind, golden_folder + name); });
  };
  CHECK(holds(of_checkpoint(t5_kind(), "llama"), " of Hugging Face's form, but `poslab t5 train` begins"));
  CHECK(holds(of_checkpoint(language_kind(), "qwen3"), "2: from = "));
  CHECK(holds(of_checkpoint(language_kind(), "olmo2"), " has norms of queries and keys, which poslab does not train"));
}

TEST_CASE("from: a checkpoint of Hugging Face's form gives the logits of its stored matrices") {
  const HfModel model = open_hf_model(golden_folder + "llama");
  const Origin origin = open_origin(language_kind(), golden_folder + "llama");
  const auto source = std::make_shared<language::Source>();
  source->grammar = CopyGrammar{};
  const std::unique_ptr<Learner> learner = language_kind().make(origin.config, source);
  {
    const TemporaryFolder folder;
    const LogFile in_place_of_stderr(folder / "log");
    give_weights(origin, *learner);
  }
  const NoGrad still;
  const Ids tokens({1, 5}, {3, 1, 4, 1, 5});
  const std::vector<real> got = learner->reader().logits({tokens, 5}, nullptr).values(),
                          wanted = model.net(tokens, 5, {language::test_positions(learner->config(), 5), {}}).values();
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-4));
}
