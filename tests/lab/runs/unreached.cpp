// Notes on settings that change nothing (lab/runs/unreached.h).
#include <doctest/doctest.h>

#include "experiment/strings.h"
#include "lab/runs/sweep/plan.h"
#include "lab/runs/unreached.h"

using namespace poslab;

namespace {

std::vector<std::string> of_run(const Settings& more) {
  const Settings usual = {{"preset", "tiny"}, {"task", "even_pairs"}, {"causal", "on"}, {"eval_lengths", "1:30"},
                          {"encoding", "rope"}};
  return unreached(RunSpec(strings_kind().configure(overlaid(strings_kind().table(), usual, more))));
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
                " reads no position alone, only how far apart two are, so positions = contiguous change nothing here"});
  CHECK(of_run({{"encoding", "rope"}, {"positions", "contiguous"}}).empty());
  CHECK(of_run({{"encoding", "none"}, {"test_positions", "randomized"}}) ==
        Lines{"at test none reads no positions, so positions = randomized change nothing here"});
}

TEST_CASE("unreached: a plan says each line once") {
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
