// Strings that the user types: how they are read, that the answer is the model's, and refusals.
#include "experiment/ask.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "experiment/attention_maps.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/strings.h"
#include "tasks/retrieval/retrieval.h"
#include "tests/support/places.h"
#include "tests/tasks/task_oracle.h"

using namespace poslab;
using test::holds;

namespace {

std::string refusal(const std::string& name, const std::string& text) {
  try {
    read_input(task(name), text);
  } catch (const BadInput& e) { return e.what(); }
  return "";
}

RunSpec tiny(const Settings& more = {}) {
  const Settings usual = {{"task", "reverse_string"}, {"encoding", "relative"}, {"positions", "randomized"},
                          {"max_position", "64"},     {"layers", "2"},          {"heads", "2"},
                          {"d_model", "16"},          {"train_length", "6"},    {"eval_lengths", "1:9"}};
  return RunSpec(configure(overlaid(all_choices(), usual, more)));
}

}  // namespace

TEST_CASE("ask: strings drawn by a task are valid, can be written, and are read again") {
  for (const Task& entry : all_tasks()) {
    CAPTURE(entry.name);
    const Task& t = task(entry.name);
    REQUIRE(int(t.alphabet.size()) == t.symbols_in);
    for (int length = 1; length <= 40; ++length) {
      Rng rng(stream(4, Purpose::tokens, uint64_t(length)));
      const Tokens x = t.input(rng, length);
      const std::string text = written_input(t, x);
      CAPTURE(text);
      CHECK(t.fits(x));
      CHECK(read_input(t, text) == x);
      CHECK(read_input(t, "  " + text + " ") == x);
    }
  }
}

TEST_CASE("ask: a run whose tests have dropout is asked without it, and the answer says so") {
  const auto note = [](const char* on) {
    return StringsLearner(State(tiny({{"test_dropout", on}}))).respondent("", "").note;
  };
  CHECK(note("off").empty());
  CHECK(note("on") == "; without the dropout that the run's tests have");
}

TEST_CASE("ask: given positions, temperature and silenced heads") {
  const State state(tiny());
  const Tokens input = {0, 1, 1, 0};
  const Looked plain = ask(state, input, Asking{});
  CHECK(plain.answer.said == ask(state, input, 1).said);
  CHECK(plain.time == 8);
  REQUIRE(plain.attention.size() == 2u * 2 * 8 * 8);
  const std::vector<real> layer1 = asked_attention(state, input, 1).values();
  CHECK(std::equal(layer1.begin(), layer1.end(), plain.attention.begin() + 2 * 8 * 8));
  REQUIRE(plain.positions.size() == 8);
  const auto same = [&](const Asking& how) {
    return ask(state, input, how).answer.probability == plain.answer.probability;
  };
  CHECK(same({.positions = plain.positions}));
  CHECK_FALSE(same({.positions = {0, 1, 2, 3, 4, 5, 6, 50}}));
  CHECK(same({.temperature = choose_temperature("constant:tau=1")}));
  CHECK_FALSE(same({.temperature = choose_temperature("constant:tau=0.1")}));
  CHECK_FALSE(same({.silenced = {{1, 0}}}));
  // Without heads the output slots do not see the input: all give the same answer.
  const Answer deaf = ask(state, input, {.silenced = {{0, 0}, {0, 1}, {1, 0}, {1, 1}}}).answer;
  for (size_t n = 2; n < deaf.probability.size(); ++n)
    CHECK(deaf.probability[n] == doctest::Approx(deaf.probability[n % 2]).epsilon(1e-5));
  CHECK_THROWS_AS(ask(state, input, {.positions = {1, 2}}), BadInput);
  for (const auto& head : std::vector<std::pair<int, int>>{{2, 0}, {-1, 0}, {0, -1}, {0, 2}})
    CHECK_THROWS_WITH_AS(ask(state, input, {.silenced = {head}}),
                         doctest::Contains("the model has 2 layers of 2 heads; name one of them"), BadInput);
  CHECK_THROWS_AS(ask(state, {}, Asking{}), BadInput);
}

TEST_CASE("ask: of all short strings those that the task draws are valid, and a few more that have an answer") {
  using testing::oracles;
  for (const auto& oracle : oracles()) {
    CAPTURE(oracle.task);
    const Task& t = task(oracle.task);
    // These are never drawn, but have answers too: a stack without actions, brackets around one operand, small numbers.
    const bool more = oracle.task == "stack_manipulation" || oracle.task.starts_with("modular") ||
                      oracle.task == "solve_equation" || oracle.task.starts_with("binary");
    const int longest = oracle.symbols.size() > 5 ? 5 : 6, V = t.symbols_in;
    for (int length = 1; length <= longest; ++length) {
      const testing::Law law = oracle.law(length);
      Tokens x(size_t(length), 0);
      int wrong = 0;
      for (;;) {
        std::string text;
        for (const int symbol : x) text += oracle.symbols[size_t(symbol)];
        const bool drawn = law.count(text) > 0, fits = t.fits(x);
        if ((drawn ? !fits : fits && !more) && ++wrong <= 3) MESSAGE(text);
        if (fits) {
          const Tokens y = t.answer(x);
          wrong += *std::max_element(y.begin(), y.end()) >= t.symbols_out;
        }
        int place = 0;
        while (place < length && ++x[size_t(place)] == V) x[size_t(place++)] = 0;
        if (place == length) break;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("ask: strings are read as people write them") {
  CHECK(read_input(task("stack_manipulation"), "01 pop PUSH1") == Tokens{0, 1, 2, 4});
  CHECK(read_input(task("stack_manipulation"), "0124") == Tokens{0, 1, 2, 4});
  CHECK(written_input(task("stack_manipulation"), {0, 1, 2, 4}) == "0 1 POP PUSH1");
  CHECK(read_input(task("binary_addition"), "11+1") == Tokens{1, 1, 2, 1});
  CHECK(read_input(task("binary_addition"), "1121") == Tokens{1, 1, 2, 1});
  CHECK(read_input(task("solve_equation"), "(3-X)=4") == Tokens{7, 3, 6, 9, 8, 10, 4});
  CHECK(read_input(task("missing_duplicate_string"), "01 1 01 ? _") == Tokens{0, 1, 1, 0, 1, 2, 3});
  CHECK(
      holds(refusal("reverse_string", "0120"), "\"2\" in \"0120\" is not a symbol of reverse_string; its symbols are"));
  CHECK(holds(refusal("reverse_string", "0−1"), "\"−\" in"));
  CHECK(holds(refusal("reverse_string", ""), "an empty string"));
  CHECK(holds(refusal("modular_arithmetic", "1+"), "digits 0 to 4 joined by + - *"));
  CHECK(holds(refusal("modular_arithmetic", "1+7"), "its symbols are 0 1 2 3 4 + - * _"));
  CHECK(holds(refusal("modular_arithmetic", "1_2"), "is not an input of"));
  CHECK(holds(refusal("modular_arithmetic_brackets", "((1+2)"), "is not an input of modular_arithmetic_brackets"));
  CHECK(holds(refusal("solve_equation", "(x-x)=4"), "with one x"));
  CHECK(holds(refusal("solve_equation", "(3-x)=("), "is not an input of"));
  CHECK(holds(refusal("stack_manipulation", "POP 1"), "one or more bits, then actions"));
  CHECK(holds(refusal("binary_addition", "11+"), "with a + between them"));
  CHECK(holds(refusal("binary_multiplication", "11*00"), "with a * between them"));
  CHECK(holds(refusal("missing_duplicate_string", "01?0"), "is not an input of"));
  CHECK(holds(refusal("compute_sqrt", "000"), "at least one 1"));
  CHECK(holds(refusal("reverse_string", std::string(100, '7')), "..."));
  CHECK_FALSE(holds(refusal("reverse_string", std::string(100, '7')), std::string(41, '7')));
}

TEST_CASE("ask: the answer is the model's, slot by slot") {
  for (const char* sampler : {"randomized", "sequential"}) {
    const State state(tiny({{"positions", sampler}}));
    const Tokens x = {0, 1, 1, 0, 1};
    const Answer a = ask(state, x);
    const PositionSample positions = test_draw(state.config, 5, 0, 1, 10);
    const std::vector<real> z = state.net(Ids({1, 10}, {0, 1, 1, 0, 1, 2, 2, 2, 2, 2}), 5, {positions, {}}).values();
    REQUIRE(a.probability.size() == 10);
    for (size_t o = 0; o < 5; ++o) {
      const double one = 1 / (1 + std::exp(double(z[2 * o]) - double(z[2 * o + 1])));
      CHECK(a.probability[2 * o + 1] == doctest::Approx(one).epsilon(1e-9));
      CHECK(a.said[o] == int(z[2 * o + 1] > z[2 * o]));
      CHECK(a.confidence(o) == doctest::Approx(std::max(one, 1 - one)));
    }
    CHECK(a.expected == Tokens{1, 0, 1, 1, 0});
    CHECK(a.scored == 5);
    int right = 0;
    for (size_t o = 0; o < 5; ++o) right += a.said[o] == a.expected[o];
    CHECK(a.right() == right);
    CHECK(a.accuracy_per_draw == doctest::Approx(a.accuracy()));
  }
}

TEST_CASE("ask: with random positions the answer is a mean over draws") {
  const State state(tiny());
  const Tokens x = {0, 1, 1, 0, 1, 1};
  const Answer three = ask(state, x, 3);
  CHECK(three.draws == 3);
  std::vector<double> mean(12, 0);
  for (int n = 0; n < 3; ++n) {
    const PositionSample positions = test_draw(state.config, 6, n, 1, 12);
    const std::vector<real> z =
        state.net(Ids({1, 12}, {0, 1, 1, 0, 1, 1, 2, 2, 2, 2, 2, 2}), 6, {positions, {}}).values();
    for (size_t o = 0; o < 6; ++o)
      for (size_t v = 0; v < 2; ++v)
        mean[2 * o + v] += 1 / (1 + std::exp(double(z[2 * o + 1 - v]) - double(z[2 * o + v]))) / 3;
  }
  for (size_t n = 0; n < 12; ++n) CHECK(three.probability[n] == doctest::Approx(mean[n]));
  CHECK(three.probability != ask(state, x).probability);
  for (const char* encoding : {"none", "geometric"}) CHECK(ask(State(tiny({{"encoding", encoding}})), x, 3).draws == 1);
  CHECK(ask(State(tiny({{"positions", "sequential"}})), x, 3).draws == 1);
}

TEST_CASE("ask: other positions and temperatures, and a refusal if the string is too long for them") {
  State state(tiny());
  const Tokens x = {0, 1, 1, 0, 1, 1}, at_500(500, 1);
  const auto plain = ask(state, x).probability;
  state.config.set("test_temperature", "constant:tau=0.5");
  CHECK(ask(state, x).probability != plain);
  CHECK_THROWS_WITH_AS(ask(state, at_500),
                       doctest::Contains("500 symbols and their 500 answer slots take 1000 positions"), BadInput);
  CHECK_THROWS_WITH_AS(ask(state, at_500), doctest::Contains("--positions randomized:max_position=1000"), BadInput);
  state.config.set("test_positions", "sequential");
  CHECK(ask(state, at_500).said.size() == 500);
  state.config.set("test_positions", "given:at=0 1 5 6 7");
  CHECK_THROWS_WITH_AS(ask(state, x), doctest::Contains("the list of given ends after 5; ask about a shorter string"),
                       BadInput);
  const State learned(tiny({{"encoding", "learned"}, {"positions", "sequential"}}));
  CHECK_THROWS_WITH_AS(ask(learned, at_500), doctest::Contains("learned a table of 64"), BadInput);
  CHECK_THROWS_WITH_AS(ask(state, Tokens(10001, 1)), doctest::Contains("ask about 1 to 10000"), BadInput);
  for (const size_t symbols : {0, 10001})
    CHECK_THROWS_WITH_AS(ask(state, Tokens(symbols, 1), {.positions = std::vector<double>(2 * symbols, 1)}),
                         doctest::Contains("ask about 1 to 10000"), BadInput);
}

TEST_CASE("ask: slots after the terminator do not count") {
  const State state(tiny({{"task", "binary_addition"}}));
  const Answer a = ask(state, {1, 1, 2, 1});
  CHECK(a.expected == Tokens{0, 0, 1, 2, 0});
  CHECK(a.scored == 4);
  CHECK(a.probability.size() == 15);
}

TEST_CASE("ask: attention weights are those that a trace records, and sum to one") {
  const State state(tiny());
  const Tokens x = {0, 1, 1, 0, 1};
  const Tensor a = asked_attention(state, x, 1);
  REQUIRE(a.shape() == Shape{2, 10, 10});
  const std::vector<real> w = a.values();
  for (size_t row = 0; row < 20; ++row) {
    double sum = 0;
    for (size_t j = 0; j < 10; ++j) sum += double(w[row * 10 + j]);
    CHECK(sum == doctest::Approx(1).epsilon(1e-5));
  }
  Trace trace({"block1.attention.weights"});
  const PositionSample positions = test_draw(state.config, 5, 0, 1, 10);
  state.net(Ids({1, 10}, {0, 1, 1, 0, 1, 2, 2, 2, 2, 2}), 10, {positions, {}, &trace});
  CHECK(trace.captured.begin()->second.values() == w);
}

TEST_CASE("ask: every task and every other topic has an example, a form and at most five lines of prose") {
  const auto short_prose = [](const std::string& name, const std::string& about) {
    CAPTURE(name);
    CHECK(about.size() > 40);
    CHECK(std::count(about.begin(), about.end(), '\n') < 5);
    size_t line = 0, longest = 0;
    for (const char c : about) longest = std::max(longest, line = c == '\n' ? 0 : line + 1);
    CHECK(longest <= 100);
  };
  for (const Task& t : all_tasks()) {
    short_prose(t.name, t.about);
    const TaskExample e = example(task(t.name));
    CHECK(task(t.name).answer(e.input) == e.answer);
    CHECK(!task(t.name).form.empty());
  }
  for (const Scheme& s : all_encodings()) short_prose(s.name, s.pages.about);
  for (const Sampler& s : all_samplers()) short_prose(s.name, s.about);
  for (const TemperaturePolicy& t : all_temperatures()) short_prose(t.name, t.about);
  for (const Retrieval& r : all_retrievals()) short_prose(r.name, r.about);
  for (const ChoicePreset& p : all_choices().presets) short_prose(p.name, p.about);
}

TEST_CASE("ask: the example in each task's summary can be typed as it stands and has that answer") {
  for (const Task& entry : all_tasks()) {
    CAPTURE(entry.summary);
    const size_t from = entry.summary.rfind("  "), arrow = entry.summary.find(" -> ");
    REQUIRE(from < arrow);
    std::string answer = entry.summary.substr(arrow + 4);
    std::erase(answer, ' ');
    const Task& t = task(entry.name);
    CHECK(written_answer(t.answer(read_input(t, entry.summary.substr(from, arrow - from)))) == answer);
  }
}
