// A run of a language model as values: its options, the batch of a step, and the figures of a test.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "encodings/samplers.h"
#include "experiment/language/language.h"

using namespace poslab;
using namespace poslab::language;

namespace {

const language::Settings tiny = {{"text", "copy_grammar"}, {"layers", "1"},        {"heads", "2"},
                                 {"key_heads", "1"},       {"d_model", "32"},      {"d_ff", "48"},
                                 {"batch", "8"},           {"train_length", "48"}, {"lr", "0.01"},
                                 {"eval_times", "1/2"},    {"warmup", "5"},        {"eval_samples", "4"}};
RunSpec with(const Settings& more) {
  return RunSpec(language::configure(overlaid(language::all_choices(), tiny, more)));
}

Source of_grammar() {
  Source s;
  s.grammar = CopyGrammar{.symbols = 6, .clause = 4, .back = 2};
  return s;
}

}  // namespace

TEST_CASE("lm: options have one spelling, other options win over presets, and options that do not fit are refused") {
  const RunSpec c(language::configure({{"layers", "2"}, {"preset", "tiny"}, {"encoding", "rerope:window=512"}}));
  CHECK(c.whole("layers") == 2);
  CHECK(c.whole("d_model") == 96);
  CHECK(c["encoding"] == "rerope:window=512");
  const ChoiceTable& table = language::all_choices();
  CHECK(kept(table, c).size() == table.options.size() - 3);  // all but out, threads and keep_checkpoints
  CHECK(language::configure(kept(table, c)).spelled() == Choices(c).spelled());
  for (const ChoicePreset& p : table.presets)
    CHECK_NOTHROW(language::check(RunSpec(language::configure({{"preset", p.name}}))));
  CHECK(eval_lengths(language::configure({{"train_length", "10"}, {"eval_times", "1/2.5"}})) ==
        std::vector<int>{10, 25});
  CHECK_THROWS_AS(language::configure({{"layer", "2"}}), BadInput);
  CHECK_THROWS_AS(language::configure({{"encoding", "ropo"}}), BadInput);
  CHECK_THROWS_AS(language::configure({{"steps", "0"}}), BadInput);
  CHECK_THROWS_AS(language::check(with({{"train_length", "4"}})), BadInput);
  CHECK_THROWS_AS(language::check(with({{"positions", "randomized:max_position=60"}})), BadInput);
  CHECK_THROWS_AS(language::check(with({{"merges", "10"}})), BadInput);
}

TEST_CASE("lm: a batch is a function of seed and step, and its targets are the next tokens") {
  const RunSpec c(with({}));
  const Source source = of_grammar();
  const Batch one = draw_batch(c, source, 3), same = draw_batch(c, source, 3), other = draw_batch(c, source, 4);
  bool differs = false;
  for (int64_t i = 0; i < one.read.size(); ++i) {
    CHECK(one.read[i] == same.read[i]);
    differs = differs || one.read[i] != other.read[i];
    if ((i + 1) % 48) CHECK(one.expected[i] == one.read[i + 1]);
  }
  CHECK(differs);
}

TEST_CASE("lm: the requested share of windows repeat their beginning, in units of many lengths") {
  const Source source = of_grammar();
  const auto units = [&](const char* share) {
    const RunSpec c(with({{"repeats", share}, {"batch", "256"}}));
    const Batch batch = draw_batch(c, source, 1);
    std::vector<int> all;  // 49: the window does not repeat
    for (int b = 0; b < 256; ++b) {
      const int* first = batch.read.data() + b * 48;
      int unit = 1;
      while (unit < 25 && !std::equal(first + unit, first + 48, first)) ++unit;
      all.push_back(unit < 25 ? unit : 49);
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  CHECK(units("0").front() == 49);
  const std::vector<int> all = units("1"), half = units("0.5");
  CHECK(all.front() == 6);
  CHECK(all.back() == 24);
  const auto repeat = std::count_if(half.begin(), half.end(), [](int unit) { return unit < 49; });
  CHECK(repeat > 96);
  CHECK(repeat < 160);
}

TEST_CASE("lm: a repeated text repeats its unit to the end, after the prefix of every window") {
  Source source;
  source.test.files = {{"a", 1000}};
  source.test.read = [](const TextFile&, int64_t from, int64_t bytes) {
    std::string text;
    for (int64_t n = from; n < from + bytes; ++n) text += char('a' + n % 26);
    return text;
  };
  source.prefix = {256, 256};
  Rng rng({0, 30, 1});
  const TokenizedText text = source.repeated(true, 7, 40, rng);
  const std::vector<int>& w = text.tokens;
  REQUIRE(w.size() == 40);
  CHECK(std::accumulate(text.bytes.begin(), text.bytes.end(), 0) == 38);  // the prefix is not part of the text
  CHECK(text.bytes[1] == 0);
  CHECK(w[0] == 256);
  CHECK(w[1] == 256);
  for (size_t n = 3; n < 9; ++n) CHECK((w[n] - w[n - 1] + 26) % 26 == 1);
  for (size_t n = 9; n < w.size(); ++n) CHECK(w[n] == w[n - 7]);
  CHECK(source.repeated(true, 50, 40, rng).tokens.size() == 40);
}

TEST_CASE("lm: a model that knows nothing has the loss ln V for every token, and bits per byte count bytes") {
  const RunSpec c(with({}));
  Source source;
  source.vocabulary = Vocabulary({{'a', 'b'}});
  source.test.files = {{"a", 4000}};
  source.test.read = [](const TextFile&, int64_t from, int64_t bytes) {
    std::string text;
    for (int64_t n = from; n < from + bytes; ++n) text += n % 3 ? n % 3 == 1 ? 'a' : 'b' : ' ';
    return text;
  };
  State s(c, source.tokens());
  for (const Params::Entry& e : s.params.entries())
    if (e.name == "head.w") std::fill_n(e.tensor.data(), e.tensor.size(), real(0));
  for (const bool repeated : {false, true}) {
    const AtLength at = evaluate(s, source, 96, repeated);
    CHECK(at.loss == doctest::Approx(std::log(257.)));
    for (const double part : at.loss_of_part) CHECK(part == doctest::Approx(std::log(257.)));
    // a space, and "ab" as one token: three bytes in two tokens
    CHECK(at.bits_per_byte == doctest::Approx(std::log2(257.) * 2 / 3).epsilon(0.02));
    CHECK(at.accuracy == 0);  // with equal logits the answer is the first token, a zero byte
  }
}

TEST_CASE("lm: bits per byte count the bytes of the text, not of the tokens' own texts nor of a prefix") {
  struct Pairs : Tokenizer {  // token 0, a space that the text lacks; then token 1, "unknown", for every two bytes
    int size() const override { return 2; }
    const std::string& text(int token) const override { return texts[token]; }
    size_t longest() const override { return 7; }
    TokenizedText tokenize(std::string_view text, size_t most) const override {
      TokenizedText all;
      if (most) all.add(0, 0);
      while (all.tokens.size() < most && all.covered + 2 <= text.size()) all.add(1, all.covered + 2);
      return all;
    }
    std::string texts[2] = {" ", "unknown"};
  };
  Source source;
  source.tokenizer = std::make_shared<const Pairs>();
  source.test.files = {{"a", 4000}};
  source.test.read = [](const TextFile&, int64_t, int64_t bytes) { return std::string(size_t(bytes), 'a'); };
  State s(with({{"eval_times", "1/2"}}), source.tokens());
  for (const Params::Entry& e : s.params.entries())
    if (e.name == "head.w") std::fill_n(e.tensor.data(), e.tensor.size(), real(0));
  const auto bits = [&](int length, bool repeated) { return evaluate(s, source, length, repeated).bits_per_byte; };
  // one bit a token, two bytes a token; the first token is only read
  CHECK(bits(96, false) == doctest::Approx(0.5));
  CHECK(bits(48, true) == doctest::Approx(48. / (2 * 46)));  // two more spaces: the unit is 24
  // after a prefix of one token the space is predicted, though not in the text; after three, two tokens are only read
  source.prefix = {0};
  CHECK(bits(96, false) == doctest::Approx(96. / (2 * 95)));
  source.prefix = {0, 0, 0};
  CHECK(bits(96, false) == doctest::Approx(94. / (2 * 93)));
  CHECK(evaluate(s, source, 96, false).loss == doctest::Approx(std::log(2.)));
  s.config.set("eval_tail", "20");
  CHECK(bits(96, false) == doctest::Approx(0.5));
}

TEST_CASE("lm: an empty prompt begins a text, if the model has a token for that") {
  Source source;
  CHECK(source.prompt("ab") == std::vector<int>{'a', 'b'});
  CHECK_THROWS_WITH_AS(
      source.prompt(""),
      "the prompt is empty, and the model has no token that begins a text; give it a letter to begin with", BadInput);
  source.begin = {7};  // the token that begins a text
  CHECK(source.prompt("") == std::vector<int>{7});
  CHECK(source.prompt("a") == std::vector<int>{'a'});
  source.prefix = {8, 9};
  CHECK(source.prompt("") == std::vector<int>{8, 9});
  CHECK(source.prompt("a") == std::vector<int>{8, 9, 'a'});
}

TEST_CASE("lm: with eval_tail only the last tokens count, and they are the same for all lengths") {
  const Source source = of_grammar();
  State s(with({{"encoding", "window:window=8"}, {"eval_tail", "24"}, {"eval_times", "1/2/4"}}), source.tokens());
  for (int n = 0; n < 20; ++n) train_step(s, draw_batch(s.config, source, s.adam.step));
  for (const bool repeated : {false, true}) {
    const AtLength at = evaluate(s, source, 48, repeated), longer = evaluate(s, source, 192, repeated);
    // one layer that sees 8 keys: tokens further back change nothing
    CHECK(longer.loss == doctest::Approx(at.loss).epsilon(1e-5));
    CHECK(longer.loss_of_part[3] == doctest::Approx(at.loss_of_part[3]).epsilon(1e-5));
  }
  const double last = evaluate(s, source, 48, false).loss;
  s.config.set("eval_tail", "0");
  CHECK(evaluate(s, source, 48, false).loss != doctest::Approx(last));
  CHECK_THROWS_AS(language::check(with({{"eval_tail", "49"}})), BadInput);
  CHECK_THROWS_AS(language::check(with({{"eval_tail", "4"}})), BadInput);
}

TEST_CASE("lm: training lowers the loss, and another scheme can be tested") {
  const Source source = of_grammar();
  State s(with({}), source.tokens());
  const double before = evaluate(s, source, 48, false).loss;
  double last = 0;
  for (int n = 0; n < 60; ++n) last = train_step(s, draw_batch(s.config, source, s.adam.step)).loss;
  CHECK(s.adam.step == 60);
  const AtLength after = evaluate(s, source, 48, false);
  CHECK(before > 2.2);  // ln 10 = 2.3
  CHECK(after.loss < 1.6);
  CHECK(last < 1.6);
  CHECK(after.accuracy > 0.35);
  CHECK(after.loss > source.grammar->least_loss());
  double mean = 0;
  for (const double part : after.loss_of_part) mean += part / parts;
  CHECK(mean == doctest::Approx(after.loss));  // 48 tokens in 8 equal parts
  s.net = s.net.with_encoding(choose_encoding("none"));
  CHECK(evaluate(s, source, 48, false).loss != doctest::Approx(after.loss));
}

TEST_CASE("lm: every sampler that needs no classes trains, and the test may have other positions") {
  const Source source = of_grammar();
  int trained = 0;
  for (const Sampler& s : all_samplers()) {
    CAPTURE(s.name);
    const Settings more = {{"positions", s.name}, {"test_positions", "sequential"}, {"train_length", "16"},
                           {"eval_times", "1/2"}, {"encoding", s.name == "randomized_offsets" ? "relative" : "rope"}};
    if (s.name == "given") continue;  // its list has one length
    if (s.reads_classes) {
      CHECK_THROWS_WITH_AS(language::check(with(more)), doctest::Contains("reads which tokens are digits"), BadInput);
      continue;
    }
    State state(with(more), source.tokens());
    const double before = train_step(state, draw_batch(state.config, source, 0)).loss;
    while (state.adam.step < 8) train_step(state, draw_batch(state.config, source, state.adam.step));
    const auto loss = [&](const Settings& test) {
      return evaluate(state.net, state.config.with(test), source, 32, false).loss;
    };
    CHECK(loss({}) < before);
    CHECK(loss({}) == loss({{"positions", "sequential"}, {"test_positions", "same"}}));
    if (s.random && s.name != "contiguous") CHECK(loss({}) != loss({{"test_positions", "same"}}));
    ++trained;
  }
  CHECK(trained >= 14);
  CHECK_THROWS_WITH_AS(language::check(with({{"test_positions", "randomized:max_position=60"}})),
                       doctest::Contains("test_positions = randomized:max_position=60: it has"), BadInput);
  CHECK_NOTHROW(language::check(with({{"positions", "randomized:max_position=60"}, {"test_positions", "sequential"}})));
}

TEST_CASE("lm: training that diverges ends with an error, and keeps the weights") {
  const Source source = of_grammar();
  State s(with({}), source.tokens());
  for (const Params::Entry& e : s.params.entries())
    if (e.name == "norm.gain") e.tensor.data()[0] = INFINITY;
  const real first = s.params.at("head.w").data()[5];
  CHECK_THROWS_AS(train_step(s, draw_batch(s.config, source, 0)), Failure);
  CHECK(s.params.at("head.w").data()[5] == first);
}
