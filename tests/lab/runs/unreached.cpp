// Notes about settings that change nothing (lab/runs/unreached.h).
#include <doctest/doctest.h>

#include "experiment/strings.h"
#include "lab/runs/sweep/plan.h"
#include "lab/runs/unreached.h"

using namespace poslab;

namespace {

std::vector<std::string> of_run(const Settings& more, const Settings& inherited = {}) {
  const Settings usual = {{"preset", "tiny"}, {"task", "even_pairs"}, {"causal", "on"}, {"eval_lengths", "1:30"},
                          {"encoding", "rope"}};
  return unreached(RunSpec(strings_kind().configure(overlaid(strings_kind().table(), usual, more))), inherited);
}

}  // namespace

TEST_CASE("unreached: a scheme whose other layers a model lacks, and a sampler that shifts all positions") {
  using Lines = std::vector<std::string>;
  CHECK(of_run({}) == Lines{});
  for (const auto& [scheme, layers, least] : {std::tuple{"irope:length=1", 3, 4}, {"rnope:window=5", 3, 4},
                                              {"hfwa:window=5", 1, 2}, {"hfwa2:window=5", 1, 2}}) {
    INFO(scheme);
    CHECK(of_run({{"encoding", scheme}, {"layers", fmt::format("{}", least)}}).empty());
    const Lines lines = of_run({{"encoding", scheme}, {"layers", fmt::format("{}", layers)}});
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find(fmt::format("layers = {} do not reach", layers)) != std::string::npos);
    CHECK(lines[0].ends_with(fmt::format("take at least {} layers", least)));
  }
  for (const char* scheme : {"alibi", "relative", "t5", "kerple", "shaw"})
    CHECK(of_run({{"encoding", scheme}, {"positions", "contiguous"}}) ==
          Lines{choose_encoding(scheme, trained_on(40)).spelled() +
                " reads only how far apart two positions are, so positions = contiguous change nothing here"});
  CHECK(of_run({{"encoding", "rope"}, {"positions", "contiguous"}}).empty());
  CHECK(of_run({{"encoding", "none"}, {"test_positions", "randomized"}}) ==
        Lines{"at test none reads no positions, so positions = randomized change nothing here"});
}

TEST_CASE("unreached: a length that no string exceeds, in training and at test") {
  const auto begins = [](const Settings& more, const std::string& line) {
    const std::vector<std::string> lines = of_run(more);
    CHECK_MESSAGE((lines.size() == 1 && lines[0].starts_with(line)), line);
  };
  begins({{"encoding", "yarn:dynamic,length=500"}}, "yarn:length=500,dynamic: length = 500 is not reached");
  begins({{"encoding", "hope_hf:length=100000"}}, "hope_hf:length=100000: length = 100000 is above all wavelengths");
  begins({{"encoding", "clipped_rope:length=100000"}}, "clipped_rope:length=100000: length = 100000 is above all");
  begins({{"encoding", "clipped_rope:length=100000,planes=2"}},
         "encoding = clipped_rope:length=100000,planes=2: length = 100000 changes nothing here");
  begins({{"positions", "interpolated:trained=500"}}, "interpolated:trained=500: trained = 500 is not reached");
  begins({{"test_positions", "clipped:limit=1000"}}, "at test clipped:limit=1000: limit = 1000 is not reached");
  begins({{"test_temperature", "llama4:length=500"}}, "at test llama4:length=500: length = 500 is not reached");
  CHECK(of_run({{"test_positions", "clipped:limit=3"}, {"encoding", "yarn:dynamic,length=8"}}).empty());
}

TEST_CASE("unreached: a pool that nothing draws from, a schedule without room, more questions than a step has tokens") {
  const auto says = [](const Settings& more, const char* line) {
    const std::vector<std::string> lines = of_run(more);
    return std::any_of(lines.begin(), lines.end(), [&](auto& one) { return one.starts_with(line); });
  };
  const char *pool = "max_position = 50 changes nothing here", *first = "first_position = 1 changes only rounding",
             *cooling = "cooling = 1 changes nothing here: steps = 20 and warmup = 20 leave no step";
  for (const char* positions :
       {"sequential", "stretched", "interpolated:trained=5", "restart", "cape", "random_floats"})
    CHECK_MESSAGE(says({{"max_position", "50"}, {"positions", positions}}, pool), positions);
  CHECK_FALSE(says({{"max_position", "50"}, {"positions", "randomized"}}, pool));
  CHECK_FALSE(says({{"max_position", "50"}, {"test_positions", "randomized"}}, pool));
  CHECK_FALSE(says({{"max_position", "50"}, {"encoding", "learned"}}, pool));
  for (const char* scheme : {"rope", "pi", "rerope"})
    CHECK_MESSAGE(says({{"first_position", "1"}, {"encoding", scheme}}, first), scheme);
  CHECK_FALSE(says({{"first_position", "1"}, {"encoding", "sincos"}}, first));
  CHECK(says({{"steps", "20"}, {"warmup", "20"}, {"cooling", "1"}}, cooling));
  CHECK_FALSE(says({{"steps", "20"}, {"warmup", "10"}, {"cooling", "1"}}, "cooling"));
  CHECK(says({{"steps", "20"}, {"warmup", "10"}, {"cooling", "0.9"}},
             "cooling = 0.9 is cut: warmup = 10 of steps = 20 leaves 10 of them, a share of 0.5, in which"));
  CHECK_FALSE(says({{"steps", "20"}, {"warmup", "10"}, {"cooling", "0.5"}}, "cooling"));
  CHECK(says({{"lr_floor", "1"}, {"cooling", "0.5"}}, "lr_floor = 1 keeps lr"));
  CHECK(says({{"steps", "4"}, {"warmup", "9"}}, "warmup = 9 is longer than steps = 4"));
}

TEST_CASE("unreached: options that the command line refuses are named if a file or a grid has them") {
  const std::pair<const char*, const char*> cases[] = {{"schedule", "cosine"}, {"lr_floor", "0.5"},
                                                       {"resample", "per_layer"}, {"test_dropout", "on"},
                                                       {"accumulate", "64"}};
  for (const auto& [name, value] : cases) {
    const Settings set = {{name, value}, {"dropout", "0"}};
    const std::vector<std::string> lines = of_run(set);
    REQUIRE_MESSAGE(lines.size() == 1, name);
    CHECK(lines[0].starts_with(fmt::format("{} = ", name)));
    CHECK(lines[0].find(" changes nothing: ") != std::string::npos);
    CHECK_MESSAGE(of_run(set, {{name, value}}).empty(), name);     // no note if the origin has it
  }
  const sweep::Plan plan = sweep::make_plan("preset = \"tiny\"\ntask = \"even_pairs\"\nencoding = \"rope\"\n"
                                            "schedule = [\"linear\", \"cosine\"]\n", "plan.toml");
  const std::vector<std::string> lines = sweep::unreached(plan);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with("schedule = cosine changes nothing: cooling = 0 keeps"));
}

TEST_CASE("unreached: a plan gives each line once") {
  const sweep::Plan plan = sweep::make_plan("preset = \"tiny\"\ntask = \"even_pairs\"\neval_lengths = \"1:30\"\n"
                                            "encoding = [\"rope\", \"rerope:window=500\"]\nseeds = 3\n", "plan.toml");
  const std::vector<std::string> lines = sweep::unreached(plan);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with("rerope:window=500: window = 500 is not reached"));
}

TEST_CASE("unreached: a scheme whose layers differ names the least number of them") {
  for (const Scheme& s : all_encodings()) {
    const Chosen<Scheme> scheme = choose_encoding(s.name);
    CHECK_MESSAGE((scheme->pages.least_layers(scheme.choices) > 1) == scheme->pages.pictures.layers_differ, s.name);
  }
}
