#include "experiment/language/learner.h"

#include <algorithm>
#include <cmath>

#include "experiment/align.h"
#include "experiment/language/inside.h"
#include "nn/generate.h"

namespace poslab {
namespace language {
namespace {

const Columns& text_columns() {
  static const Columns all = [] {
    std::vector<Column> list = {Column::length(),       Column::word("set"),        Column::count("samples"),
                                Column::number("loss"), Column::number("accuracy"), Column::number("bits_per_byte")};
    for (const char* what : {"loss", "accuracy"})
      for (int p = 1; p <= parts; ++p) list.push_back(Column::number(fmt::format("{}_{}", what, p)));
    return columns(list);
  }();
  return all;
}

int longest(const Choices& c) {
  const std::vector<int> tested = eval_lengths(c);
  return std::max(c.whole("train_length"), *std::max_element(tested.begin(), tested.end()));
}

// The lengths of plain, then of repeated windows; packed documents have no repeated ones.
std::vector<int> tested_lengths(const Choices& c) {
  std::vector<int> all = eval_lengths(c);
  if (packs(c)) return all;
  for (const int length : eval_lengths(c)) all.push_back(length);
  return all;
}

std::unique_ptr<Learner> make(const RunSpec& c, const std::shared_ptr<const Source>& text) {
  State state(c, text->tokens());
  return std::make_unique<TextLearner>(std::move(state), text);
}

const Columns& score_columns() {
  static const Columns all = columns(
      {Column::number("loss"), Column::number("accuracy"), Column::number("bits_per_byte"), Column::count("longest"),
       Column::number("longest_loss"), Column::number("longest_accuracy"), Column::number("longest_bits_per_byte")});
  return all;
}

// Scores on texts that are not repeated, at the trained and at the longest length.
Row scores(const Choices& c, const Results& all) {
  const Row *trained = nullptr, *longest = nullptr;
  const Results plain = only(all, "set", "plain");
  for (const Row& at : plain) {
    if (at.length() == c.whole("train_length")) trained = &at;
    if (!longest || at.length() > longest->length()) longest = &at;
  }
  const auto of = [](const Row* at, const char* name) { return at ? (*at)[name] : std::nan(""); };
  return {score_columns(),
          {of(trained, "loss"), of(trained, "accuracy"), of(trained, "bits_per_byte"), of(longest, "length"),
           of(longest, "loss"), of(longest, "accuracy"), of(longest, "bits_per_byte")}};
}

std::string shown(const Choices&, const Results& all) {
  const Results again = only(all, "set", "repeated");
  std::string text = "  length   accuracy     loss   bits a byte";
  text += again.empty() ? "\n" : "     repeated: accuracy     loss\n";
  for (const Row& plain : only(all, "set", "plain")) {
    text += fmt::format("{:8} {:8.1f} % {:8.4f} {:13.4f}", plain.length(), 100 * plain["accuracy"], plain["loss"],
                        plain["bits_per_byte"]);
    for (const Row& same : again)
      if (same.length() == plain.length())
        text += fmt::format(" {:20.1f} % {:8.4f}", 100 * same["accuracy"], same["loss"]);
    text += "\n";
  }
  return text;
}

}  // namespace

Row row_of(const AtLength& at) {
  std::vector<Row::Cell> cells = {double(at.length),  at.repeated ? "repeated" : "plain",
                                  double(at.samples), at.loss,
                                  at.accuracy,        at.bits_per_byte};
  cells.insert(cells.end(), std::begin(at.loss_of_part), std::end(at.loss_of_part));
  cells.insert(cells.end(), std::begin(at.accuracy_of_part), std::end(at.accuracy_of_part));
  return {text_columns(), std::move(cells)};
}

std::vector<TestPart> test_of(const Decoder& net, const RunSpec& c, const std::shared_ptr<const Source>& text) {
  check_windows(c, *text, true);
  std::vector<TestPart> all;
  for (const bool repeated : packs(c) ? std::vector{false} : std::vector{false, true})
    for (const int length : eval_lengths(c)) {
      const int samples = c.whole("eval_samples");
      const int64_t there = windows(c, *text, length, repeated);
      all.push_back({fmt::format("length {}", length), double(samples) * length,
                     forward(net.spec(), c, length).of(samples),
                     [=] { return row_of(evaluate(net, c, *text, length, repeated)); },
                     there < samples ? fmt::format("{} samples of at most {} windows", samples, there) : ""});
    }
  return all;
}

Decoder tested_net(const Decoder& net, const Params& params, const RunSpec& own, const RunSpec& tested) {
  Decoder other = net.with_loops(tested.whole("loops"));
  if (tested["encoding"] != own["encoding"]) other = other.with_encoding(tested.scheme);
  if (tested["temperature"] == own["temperature"]) return other;
  other = other.at_temperature(tested.temperature);
  check_aligned(tested.temperature, params);
  return other;
}

std::vector<TestPart> TextLearner::test(const RunSpec& c) const {
  language::check(at_temperature_of(state.config, c));
  source->check_unchanged();
  return test_of(tested_net(state.net, state.params, state.config, c), c, source);
}

std::string TextLearner::batch_words() const {
  return fmt::format("{} texts of {} tokens", state.config.whole("batch"), state.config.whole("train_length"));
}

Probed TextLearner::probed(const RunSpec&, const std::vector<int>& lengths, int samples,
                           const std::string& command) const {
  check_lengths(state, lengths, command, false);
  return language::probed(state, *source, samples);
}

std::vector<int> TextLearner::tokens_of(const std::string& text) const {
  if (text.empty()) return {};
  if (source->grammar) bad_input("--text: the symbols of copy_grammar are not letters; leave --text out");
  return source->reader().encode(text);
}

Sample TextLearner::sample(const SampleOptions& o) const {
  if (!o.text.empty() && o.length)
    bad_input("--text and --length {}: the text has a length of its own; leave one out", o.length);
  if (!o.text.empty() && o.number > 1)
    bad_input("--text and --sample {}: the text replaces the test's; leave one out", o.number);
  const RunSpec& c = state.config;
  std::vector<int> tokens = tokens_of(o.text);
  const int T = !tokens.empty() ? int(tokens.size()) : o.length ? o.length : c.whole("train_length");
  check_lengths(state, {T}, "view", false);
  if (tokens.empty()) {
    tokens = test_window(c, *source, T, o.number - 1);
    tokens.pop_back();
  }
  const DecoderSpec& spec = state.net.spec();
  return {.layers = spec.blocks(),
          .heads = spec.heads,
          .matrices = matrices_of(spec.encoding, spec.shape()),
          .symbols = symbols(*source, tokens),
          .slots = "a token sees itself and those before it.",
          .pass = [this, tokens, T](Trace& trace) {
            const Inference as_this_run(state.config);
            state.net.states(Ids({1, T}, tokens), {test_positions(state.config, T), {}, &trace});
          }};
}

Reader reader_of(const Decoder& net, const RunSpec& c, const std::function<PositionSample(int slots)>& draw) {
  return {net.spec().vocabulary, [&, draw](const Reading& r, Trace* trace) {
            const MatmulPrecision as_this_run = precision(c);
            const PositionSample positions =
                r.positions.empty() ? draw(r.tokens.shape()[1]) : PositionSample(r.positions);
            return net(r.tokens, r.outputs, {positions, {}, trace});
          }};
}

Reader TextLearner::reader() const {
  return reader_of(state.net, state.config, [this](int slots) { return test_positions(state.config, slots); });
}

std::string TextLearner::write(const std::string& prompt, const Generation& asked) const {
  Generation wanted = asked;
  wanted.positions = test_sampler(state.config), wanted.tokens = source->written();
  const MatmulPrecision as_this_run = precision(state.config);
  std::string all;
  generate(state.net, source->prompt(prompt), wanted, [&](int token) {
    if (std::count(source->ends.begin(), source->ends.end(), token)) return false;
    all += source->text(token);
    return true;
  });
  return all;
}

const Params& TextLearner::own_params() const {
  if (state.trained_elsewhere)
    bad_input("the weights of an external checkpoint stay in its files; the package safetensors reads them");
  return state.params;
}

Inspection TextLearner::inside(std::vector<int> lengths, int n, const std::string& text) const {
  const int trained = state.config.whole("train_length");
  if (lengths.empty()) lengths = {trained, 2 * trained};
  const std::vector<int> said = tokens_of(text);
  check_lengths(state, lengths);
  if (!said.empty()) check_lengths(state, {int(said.size())});
  const auto look = [this, lengths, said, n] {
    std::vector<AttentionMaps> maps;
    if (!said.empty()) maps.push_back(attention_maps(state, *source, said));
    for (const int length : lengths) {
      if (!said.empty()) break;
      std::vector<int> window = test_window(state.config, *source, length, 0);
      window.pop_back();
      maps.push_back(attention_maps(state, *source, window));
    }
    const int T = std::min(lengths.back(), most_of_biases);
    return Inside{
        dispersed(language::probed(state, *source, n), lengths, n),
        biases(*state.net.encoding().layers[0], state.net.spec().shape(), test_positions(state.config, T).at_layer(0),
               state.net.device()),
        pca(state, *source, lengths, n), maps, coverage(state, lengths)};
  };
  const std::vector<int> points(lengths.size(), *std::min_element(lengths.begin(), lengths.end())),
      of_maps = said.empty() ? lengths : std::vector{int(said.size())};
  return inspection(language::probed(state, *source, n), lengths, look, points, of_maps);
}

}  // namespace language

const Kind& language_kind() {
  static const Kind kind = {.name = "language",
                            .word = "lm ",
                            .studied = "text",
                            .marked_by = "text",
                            .last_file = "eval.csv",
                            .format = "poslab language model 1",
                            .checkpoints_are_read = "a language model; `poslab lm` reads",
                            .tested = {"encoding", "temperature", "loops", "documents", "separator", "eval_times",
                                       "eval_samples", "matmul"},
                            .table = language::all_choices,
                            .configure = language::configure,
                            .check = language::check,
                            .longest = language::longest,
                            .tested_lengths = language::tested_lengths,
                            .make = language::make,
                            .columns = language::text_columns(),
                            .collected = {"length", "set", "accuracy", "loss", "bits_per_byte", "samples"},
                            .score_columns = language::score_columns(),
                            .scores = language::scores,
                            .shown = language::shown,
                            .load = language::load};
  return kind;
}

}  // namespace poslab
