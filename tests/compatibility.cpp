// What the program of commit 1d9a7c3 left, before schemes and samplers owned their options: ids of trials, checkpoints,
// run folders. tests/golden/ holds them; plan.toml there says how every old option was said.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/run_record.h"
#include "lab/runs/sweep/kept.h"
#include "lab/runs/sweep/plan.h"
#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::sweep;
using namespace poslab::test;

namespace {

const std::string golden = std::string(source_folder) + "/tests/golden/";

std::string ids(const Plan& plan) {
  std::string text;
  for (const Trial& t : plan) text += t.id + "\n";
  return text;
}

// What an older version wrote, as this one writes it: the names of options are those of now, and nothing else differs.
std::string in_current_names(std::string text) {
  for (const auto& [before, now] : {std::pair{"widening = 1                    #", "ffn_multiplier = 1              #"},
                                    {"\"widening\":", "\"ffn_multiplier\":"},
                                    {"when positions are drawn anew", "when positions are resampled"}})
    for (size_t at; (at = text.find(before)) != std::string::npos;) text.replace(at, std::strlen(before), now);
  return text;
}

// The header of a checkpoint and what stands after it. The checksum is of both.
std::pair<nlohmann::json, std::string> parts_of(const std::string& checkpoint) {
  uint64_t size;
  std::memcpy(&size, checkpoint.data(), sizeof size);
  nlohmann::json header = nlohmann::json::parse(checkpoint.substr(8, size));
  CHECK(header["__metadata__"].erase("crc32") == 1);
  return {header, checkpoint.substr(8 + size)};
}

// The id of the one trial that these lines of TOML make.
std::string id(const std::string& toml) {
  const Plan plan = make_plan("task = \"even_pairs\"\n" + toml, "sweep.toml");
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].impossible == "");
  return plan[0].id;
}

}  // namespace

TEST_CASE("compatibility: a plan of old options has its old ids, and old plans are written as they were") {
  CHECK(ids(make_plan(read_file(golden + "plan.toml"), "plan.toml")) == read_file(golden + "plan.ids"));
  const std::string path = std::string(source_folder) + "/results/ruoss2023-tiny/plan.jsonl";
  CHECK(plan_lines(read_plan(path)) == in_current_names(read_file(path)));
}

TEST_CASE("compatibility: an option's former name is read wherever options are, and gives the same trial") {
  CHECK(id("encoding = \"rope\"\nwidening = 2") == id("encoding = \"rope\"\nffn_multiplier = 2"));
  CHECK(id("encoding = \"rope\"\nwidening = 2") ==
        "80a06ed265fa9043");  // as the program before the name changed gave it
  const TemporaryFolder folder;
  const std::string train =
      "train --steps 1 --d-model 8 --heads 1 --layers 1 --task even_pairs --encoding rope "
      "--eval-lengths 1:2 --eval-samples 1 --out " +
      folder / "run";
  for (const char* typed : {"--widening 2", "--ffn-multiplier 2", "--set widening=2", "--set ffn_multiplier=2"}) {
    std::filesystem::remove_all(folder / "run");
    Program poslab(folder, fmt::format("{} {}", train, typed));
    CHECK(poslab.status() == 0);
    CHECK(holds(read_file(folder / "run/config.toml"), "\nffn_multiplier = 2 "));
    CHECK_FALSE(holds(read_file(folder / "run/config.toml"), "widening"));
  }
}

TEST_CASE("compatibility: the spelling of an option and the old option are one configuration") {
  const std::string random = "positions = \"randomized\"\n";
  CHECK(id("encoding = \"alibi:symmetric\"") == id("encoding = \"alibi\"\nalibi_symmetric = true"));
  CHECK(id("encoding = \"rope:pairing=half\"") == id("encoding = \"rope\"\nrope_pairing = \"half\""));
  CHECK(id(random + "encoding = \"relative:mode=released\"") ==
        id(random + "encoding = \"relative\"\nrelative_mode = \"released\""));
  CHECK(id("encoding = \"rope\"\npositions = \"randomized:max_position=4096,first=1,unsorted\"") ==
        id(random + "encoding = \"rope\"\nmax_position = 4096\nfirst_position = 1\nunsorted = true"));
  CHECK(id("encoding = \"rope:pairing=interleaved\"") == id("encoding = \"rope\""));
  CHECK(id("encoding = \"rope\"") != id("encoding = \"rope:pairing=half\""));
  const Choices c = configure({{"task", "even_pairs"}, {"encoding", "alibi:symmetric,mode=differences"}});
  CHECK(c["encoding"] == "alibi");
  CHECK(c["alibi_symmetric"] == "on");
  CHECK(c["relative_mode"] == "differences");
  // A later word for the encoding takes back the options of an earlier one.
  CHECK(to_toml(configure({{"encoding", "alibi:symmetric"}, {"encoding", "rope"}})) ==
        to_toml(configure({{"encoding", "rope"}})));
  CHECK(to_toml(configure(read_toml(to_toml(c), "config.toml"))) == to_toml(c));
}

TEST_CASE("compatibility: a window that a file leaves open is the number that it was, and one that was typed is said") {
  const auto kept = [](const std::string& encoding) {
    return configure({{"task", "even_pairs"}, {"encoding", encoding}});
  };
  const Choices old = kept("rerope"), now = kept("rerope:window=0.5L");
  CHECK(old["encoding"] == "rerope");
  CHECK(scheme(old).choices.whole("window") == 512);
  CHECK(trial_id(old) == "66256646bd2a142e");                  // as the program before shares gave it
  CHECK(now["encoding"] == "rerope:window=0.5L");
  CHECK(scheme(now).choices.whole("window") == 20);            // 40 symbols and an answer
  for (const Choices& c : {old, now, kept("rerope:window=512")})
    CHECK(configure(read_toml(to_toml(c), "config.toml"))["encoding"] == c["encoding"]);
  // A sweep's file is typed; the plan is poslab's.
  CHECK(id("encoding = \"rerope\"") == trial_id(now));
  const std::string path = std::string(source_folder) + "/tests/golden/plan_before_shares.jsonl";
  CHECK(plan_lines(read_plan(path)) == in_current_names(read_file(path)));
}

TEST_CASE("compatibility: old run folders load; what is written again has the same bytes, and tests as it did") {
  for (const char* name : {"alibi", "relative", "rope"}) {
    CAPTURE(name);
    const std::string folder = golden + "runs/" + name;
    const std::string bytes = read_file(folder + "/checkpoint.safetensors");
#ifndef POSLAB_DOUBLE
    const State state = checkpoint_state(bytes, "checkpoint", "");
    CHECK(to_toml(state.config) == in_current_names(read_file(folder + "/config.toml")));
    auto [header, tensors] = parts_of(bytes);
    nlohmann::json& config = header["__metadata__"]["config"];
    config = in_current_names(config.get<std::string>());
    CHECK(parts_of(checkpoint_bytes(state)) == std::pair{header, tensors});
    std::istringstream lines(read_file(folder + "/eval.csv"));
    std::string line;
    std::getline(lines, line);
    const Lengths lengths = state.config.lengths("eval_lengths");
    for (int length = lengths.from; length <= lengths.to; ++length) {
      REQUIRE(std::getline(lines, line));
      double accuracy, loss;
      REQUIRE(std::sscanf(line.c_str(), "%*d,%lf,%*f,%lf", &accuracy, &loss) == 2);
      const AtLength now = evaluate(state, length);
      CHECK(now.accuracy == doctest::Approx(accuracy).epsilon(1e-6));
      CHECK(now.loss == doctest::Approx(loss).epsilon(1e-5));
    }
#endif
  }
}

TEST_CASE("compatibility: the baseline of chance was called guess, in tests, results and what sweeps keep") {
  const std::string old = "tests/golden/runs/rope", header = "length,accuracy,unmasked_accuracy,loss,samples,guess,";
  CHECK(read_file(std::string(source_folder) + "/" + old + "/eval.csv").starts_with(header));
  const Results tested = read_test(std::string(source_folder) + "/" + old);
  CHECK(tested.front()["chance"] == 0.5);
  CHECK(to_csv(tested).starts_with("length,accuracy,unmasked_accuracy,loss,samples,chance,"));

  const TemporaryFolder folder;
  const std::string result =
      R"({"task": "even_pairs", "baselines": {"guess": 0.5, "majority": 0.6, "content_only": 0.7}})";
  std::ofstream(folder / "result.json") << result;
  CHECK(read_record(folder / "result.json").baselines->chance == 0.5);

  // The second trial has the first one's baseline. A trial that is kept today may refer to either.
  std::ofstream(folder / "kept.jsonl") << R"({"id": "a", "tested": {"length": "1 2", "guess": "0.5 0.25"}})"
                                       << "\n"
                                       << R"({"id": "b", "tested": {"length": "= a length", "guess": "= a guess"}})"
                                       << "\n"
                                       << R"({"id": "c", "tested": {"length": "3 4", "chance": "= b chance"}})"
                                       << "\n";
  const auto kept = read_kept(folder / "kept.jsonl");
  CHECK(kept.at("b").tested == "length,chance\n1,0.5\n2,0.25\n");
  CHECK(kept.at("c").tested == "length,chance\n3,0.5\n4,0.25\n");
}
