// Options that are spelled out but have no effect on a model (lab/runs/option_effect.h).
#include "lab/runs/option_effect.h"

#include <doctest/doctest.h>

#include "experiment/kind.h"

using namespace poslab;

namespace {

std::vector<std::string> of_run(const Settings& more, const Kind& kind = strings_kind()) {
  Settings usual = {{"preset", "tiny"}, {"encoding", "rope"}, {"layers", "2"}, {"heads", "4"}, {"d_model", "64"}};
  if (kind == strings_kind()) usual.insert(usual.end(), {{"task", "bucket_sort"}, {"eval_lengths", "1:30"}});
  return options_without_effect(RunSpec(kind.configure(overlaid(kind.table(), usual, more))));
}

}  // namespace

TEST_CASE("option_effect: an option of a scheme, sampler or temperature is named if logits are the same without it") {
  for (const auto& [subject, spelled, option] : {std::tuple{"encoding", "yarn:beta_fast=64", "beta_fast = 64"},
                                                 {"encoding", "pi:length=4", "length = 4"},
                                                 {"encoding", "pi:length=4,factor=2", "length = 4"},
                                                 {"encoding", "bipe:between=alibi", "between = alibi"},
                                                 {"encoding", "alibi:mode=differences", "mode = differences"},
                                                 {"encoding", "mobius:fraction=0.3", "fraction = 0.3"},
                                                 {"positions", "coupled:two_ended", "two_ended = on"}}) {
    const std::vector<std::string> lines = of_run({{subject, spelled}});
    REQUIRE_MESSAGE(lines.size() == 1, std::string(spelled));
    CHECK(lines[0].starts_with(fmt::format("{} = ", subject)));
    CHECK(lines[0].find(fmt::format(": {} changes nothing here", option)) != std::string::npos);
  }
}

TEST_CASE("option_effect: no line for an option that changes logits, is the default, or is one of several schemes'") {
  for (const auto& [subject, spelled] : {std::pair{"encoding", "rope:base=500"}, {"encoding", "pi:factor=2"},
                                         {"encoding", "t5:buckets=8"}, {"encoding", "pi:length=100,factor=8,dynamic"},
                                         {"encoding", "rope:base=10000"}, {"encoding", "rope|pi:length=4"},
                                         {"encoding", "bipe:inside=sincos"},
                                         {"positions", "randomized:max_position=77"},
                                         {"test_positions", "interpolated"}, {"temperature", "log_n"},
                                         {"test_temperature", "llama4:length=20"}}) {
    CHECK_MESSAGE(of_run({{subject, spelled}}).empty(), std::string(spelled));
  }
}

TEST_CASE("option_effect: trials of a sweep that differ in the trained length have separate lines") {
  for (const auto& [length, lines] : {std::pair{"10", 0}, {"20", 1}, {"10", 0}})  // 1L: 20 slots
    CHECK(of_run({{"encoding", "pi:length=20"}, {"train_length", length}}).size() == size_t(lines));
}

TEST_CASE("option_effect: language models, T5 in both directions, and a model too large to be tried") {
  const std::string spelled = "pi:length=4";
  CHECK(of_run({{"encoding", spelled}, {"text", "copy_grammar"}}, language_kind()).size() == 1);
  CHECK(of_run({{"encoding", spelled}, {"text", "copy_grammar"}, {"train_length", "100000"}}, language_kind()).empty());
  CHECK(of_run({{"encoding", spelled}}, t5_kind()).size() == 1);
  CHECK(of_run({{"encoding", "t5:unscaled,buckets=8"}}, t5_kind()).empty());
}
