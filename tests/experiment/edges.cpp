// The limits of experiments: options and lengths that few runs have, and numbers that are missing.
#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"
#include "experiment/align.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/kind.h"
#include "experiment/lengths.h"
#include "experiment/pca.h"
#include "experiment/state.h"
#include "experiment/step.h"
#include "experiment/t5/t5.h"
#include "tasks/task.h"

using namespace poslab;

namespace {

RunSpec small_run(const Settings& more) {
  const Settings usual = {{"task", "reverse_string"}, {"encoding", "alibi"}, {"layers", "2"}, {"heads", "1"},
                          {"d_model", "8"}, {"batch", "2"}, {"train_length", "6"}, {"eval_lengths", "1:9"}};
  return RunSpec(configure(overlaid(all_choices(), usual, more)));
}

}  // namespace

TEST_CASE("runs: a list of positions that is too short only for the test is refused with that reason") {
  const auto refused = [](const char* list) -> std::string {
    try {
      strings_kind().check(small_run({{"encoding", "rope"}, {"positions", std::string("given:at=") + list}}));
      return "";
    } catch (const BadInput& e) { return e.what(); }
  };
  const std::string words = "the longest string of reverse_string has ";
  const std::string but = ", output slots included, but the list of ";
  CHECK(refused("0 1 2 3 4 5 6 7 8 9 10 11")
            .starts_with(words + "18 slots at test (eval_lengths = 1:9)" + but + "given ends after 12"));
  CHECK(refused("0 1 2 3").starts_with(words + "12 slots in training (train_length = 6)" + but + "given ends after 4"));
  CHECK(small_run({{"test_positions", "sequential|randomized"}})["test_positions"] == "sequential|randomized");
  CHECK_THROWS_WITH_AS(small_run({{"test_positions", "sequentia"}}), doctest::Contains("did you mean \"sequential\"?"),
                       BadInput);
}

TEST_CASE("runs: a finite table is checked for the positions of the longest strings before training begins") {
  const auto refused = [](const Settings& more) -> std::string {
    try {
      strings_kind().check(small_run(more));
      return "";
    } catch (const BadInput& e) { return e.what(); }
  };
  // reverse_string has 12 slots in training and 18 at test.
  const auto learned = [&](const std::string& training, const std::string& test) {
    return refused(
        {{"encoding", "learned"}, {"positions", training}, {"test_positions", test}, {"max_position", "40"}});
  };
  CHECK(learned("sequential", "stretched:gap=2") == "");               // the last position is 34
  CHECK(learned("sequential", "stretched:gap=2.2") == "");             // it is 37.4, between two rows
  CHECK(learned("sequential", "stretched:gap=2.3") != "");             // it is 39.1, but the last row is 39
  CHECK(learned("sequential", "stretched:gap=2.4") ==
        "test_positions = stretched:gap=2.4: the longest string of reverse_string has 18 slots at test (eval_lengths = "
        "1:9), whose positions are 0 to 40.8, but the table of learned has 40 rows, from position 0 on; train with a "
        "larger max_position, or take other positions or shorter strings");
  CHECK(learned("stretched:gap=3", "same").starts_with("positions = stretched:gap=3: the longest string of "
                                                       "reverse_string has 18 slots at test"));
  CHECK(learned("stretched:gap=4", "sequential").find("12 slots in training (train_length = 6)") != std::string::npos);
  CHECK(learned("random_floats:range=40", "sequential").find(" to 40, but the table") != std::string::npos);
  CHECK(learned("random_floats:range=39", "sequential") == "");
  CHECK(learned("cape", "sequential").find("on; take other positions") != std::string::npos);  // it may be below 0
  CHECK(learned("sequential", "clipped:limit=39") == "");
  CHECK(learned("sequential", "clipped:limit=17|stretched:gap=9") == "");   // the embedding uses the first sampler
  const auto added = [&](const char* test) {
    return refused({{"encoding", "learned&rope"}, {"test_positions", test}, {"max_position", "40"}});
  };
  CHECK(added("sequential&stretched:gap=9") == "");
  CHECK(added("stretched:gap=9&sequential").find("positions are 0 to 153, but the table of learned") !=
        std::string::npos);
  // bert_relative, alone or as one of two, has rows for distances up to 39 from any first position; rope has no table.
  const auto given = [&](const char* encoding, const std::string& last) {
    return refused({{"encoding", encoding},
                    {"test_positions", "given:at=100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 " +
                                           last},
                    {"max_position", "40"}});
  };
  CHECK(given("bert_relative", "139") == "");
  CHECK(given("bert_relative", "140") != "");
  CHECK(given("rope", "140") == "");
  CHECK(given("tupe:table=sincos", "140") == "");
  CHECK(given("tupe", "120") != "");
  CHECK(given("sincos&bert_relative", "139") == "");
  CHECK(given("learned&rope", "139").find("the table of learned has 40 rows") != std::string::npos);
  // Positions given for the test need not be enough for training, and vice versa.
  CHECK(refused({{"encoding", "rope"}, {"test_positions", "given:at=0 1"}, {"eval_lengths", "1"}}) == "");
  CHECK(refused({{"encoding", "rope"}, {"positions", "given:at=0 1 2 3 4 5 6 7 8 9 10 11"},
                 {"test_positions", "sequential"}}) == "");
}

TEST_CASE("runs: lengths beyond all that a test has, and models too narrow for a plane, are refused") {
  const State state(small_run({{"d_model", "1"}}));
  CHECK_THROWS_WITH_AS(pca(state, {3}, 4), "inspect: d_model = 1 has no plane; use 2 or more", BadInput);
  for (const int length : {0, 10'000'000})
    CHECK_THROWS_WITH_AS(check_lengths(state.config, {length}, "inspect"), doctest::Contains("; ask for 1 to "),
                         BadInput);
  CHECK(!mean_from({}, 1));
}

TEST_CASE("runs: a word of several characters is no digit, whatever it begins with") {
  Task t;
  t.alphabet = {"1", "10", "+"};
  const auto of = [](TokenClass c) { return int(c); };
  const Ids classes = token_classes(t, Ids({1, 4}, {0, 1, 2, 3}));
  CHECK(std::vector<int>(classes.data(), classes.data() + 4) ==
        std::vector<int>{of(TokenClass::digit), of(TokenClass::sign), of(TokenClass::sign), of(TokenClass::empty)});
}

TEST_CASE("runs: if no tokens are known, samplers that depend on them treat all as digits") {
  const RunSpec c(small_run({{"encoding", "rope"}, {"positions", "coupled"}}));
  const auto of = [&](const Ids& tokens) { return test_draw(c, 4, 0, 1, 8, tokens).at_layer(0).tokens("test"); };
  CHECK(of({}) == of(Ids({1, 8}, std::vector<int>(8, 0))));
  CHECK(of({}) != of(Ids({1, 8}, {0, 1, 0, 1, 2, 2, 2, 2})));
}

TEST_CASE("t5: the learning rate rises, stays, and falls in the last steps, if cooling is on") {
  const auto rate = [](const char* cooling, int64_t step) {
    const RunSpec c(t5::configure({{"steps", "100"}, {"warmup", "10"}, {"cooling", cooling}, {"lr", "0.01"}}));
    return learning_rate(c, step) / 0.01;
  };
  for (const auto& [step, share] : {std::pair{0, 0.1}, {4, 0.5}, {9, 1.}, {79, 1.}, {80, 1.}, {90, 0.5}, {99, 0.05}})
    CHECK(rate("0.2", step) == doctest::Approx(share));
  CHECK(rate("0", 99) == doctest::Approx(1));
}

TEST_CASE("strings: the learning rate falls in the last steps, if cooling is on, and stays at 0 after them") {
  const auto rates = [](const Settings& more) {  // the learning rates of 4 steps and of one more
    State state(small_run(overlaid(all_choices(), {{"steps", "4"}, {"lr", "0.01"}}, more)));
    std::vector<double> made;
    for (int64_t step = 0; step < 5; ++step) {
      finish_step(state.config, start_step(state, draw_step(state.config, step)));
      made.push_back(state.adam.lr);
    }
    return made;
  };
  CHECK(rates({}) == std::vector<double>(5, 0.01));
  CHECK(rates({{"cooling", "0.5"}}) == std::vector{0.01, 0.01, 0.01, 0.005, 0.});
}

TEST_CASE("inspect: a scheme without logits lacks only the sorted logits") {
  const State state(small_run({{"encoding", "geometric"}}));
  const Dispersed made = dispersed(probed(state, 2), {3, 5}, 2);
  CHECK(made.shown == std::vector<int>{3, 5});
  CHECK(made.sorted.empty());
  REQUIRE(made.at.size() > 1);
  CHECK(made.at[0].of_model().largest_weight > 0);
  CHECK(dispersed(probed(State(small_run({})), 2), {3, 5}, 2).sorted.size() == 2);
}

TEST_CASE("align: the layer whose attention is NaN is named, whichever it is") {
  constexpr int layers = 3;
  for (int bad = 0; bad < layers; ++bad) {
    const auto run = [bad](const Look& look) {
      Trace trace({"*"});
      for (int layer = 0; layer < layers; ++layer) {
        const Tensor rows = Tensor::full({1, 1, 4, 5}, layer == bad ? real(NAN) : real(0.5));
        trace.captured["block" + std::to_string(layer) + ".attention.statistics"] = rows;
      }
      look.done(trace);
    };
    const Probed model{
        .layers = layers, .heads = 1, .causal = false, .keys = [](int length) { return length; }, .run = run};
    CHECK_THROWS_WITH_AS(
        align(model, {.mode = AlignMode::pmax, .shortest = 4, .longer = {8}}, [](int, int, int) {}),
        doctest::Contains(
            ("align --mode pmax: layer " + std::to_string(bad + 1) + " of 3: its attention over").c_str()),
        BadInput);
  }
}
