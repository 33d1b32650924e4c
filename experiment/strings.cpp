#include "experiment/strings.h"

#include <algorithm>
#include <cmath>

#include "experiment/build.h"
#include "experiment/lengths.h"
#include "tasks/task.h"

namespace poslab {
namespace {

const Columns& string_columns() {
  static const Columns all =
      columns({Column::length(), Column::share("accuracy"), Column::share("unmasked_accuracy"),
               Column::number("loss", "{:.6g}"), Column::count("samples"), Column::share("chance"),
               Column::share("majority"), Column::share("content_only")});
  return all;
}

std::unique_ptr<Learner> make_strings(const RunSpec& c, const std::shared_ptr<const language::Source>&) {
  return std::make_unique<StringsLearner>(State(c));
}

std::string shown_mean(const std::string& what, const Mean& m) {
  return fmt::format("  {:<15}{:>4} .. {:<5}{:9.1f}{:9.1f}{:10.1f}{:14.1f}\n", what, m.from, m.to, 100 * m.accuracy,
                     100 * m.baselines.chance, 100 * m.baselines.majority, 100 * m.baselines.content_only);
}

}  // namespace

const Kind& strings_kind() {
  static const Kind kind = {
      .name = "strings",
      .word = "",
      .studied = "task",
      .marked_by = "resample",
      .last_file = "result.json",
      .format = state_format,
      .checkpoints_are_read = "a task; `poslab resume`, eval and ask read",
      .tested = {"loops", "eval_lengths", "eval_samples", "test_positions", "test_temperature", "test_dropout",
                 "matmul"},
      .table = all_choices,
      .configure = configure,
      .check = check,
      .longest = longest,
      .tested_lengths = every_length,
      .make = make_strings,
      .columns = string_columns(),
      .collected = {"length", "accuracy", "samples", "chance", "majority", "content_only"},
      .score_columns = paper_score_columns(),
      .scores = paper_scores,
      .shown = shown_by_length,
      .load = string_load};
  return kind;
}

std::vector<TestPart> StringsLearner::test(const RunSpec& c) const {
  const auto tested = std::make_shared<State>(state);
  check(tested->config = c);
  tested->test_net();  // a temperature of another model is refused
  const double samples = c.whole("eval_samples");
  std::vector<TestPart> all;
  for (const int length : every_length(c))
    all.push_back({fmt::format("length {}", length), samples * slots(c, length),
                   string_forward(c, length, samples).of(samples), [=] { return row_of(evaluate(*tested, length)); }});
  return all;
}

// -- inspections

double matrices_of(const Chosen<Scheme>& scheme, const ModelShape& shape) {
  return scheme->pages.cost.matrices(shape, scheme.choices);
}

namespace {

void refuse_text(const std::string& text) {
  if (!text.empty())
    bad_input("--text goes with runs of `poslab lm`; `poslab ask RUN STRING` shows what this one does with a string");
}

}  // namespace

Probed StringsLearner::probed(const RunSpec&, const std::vector<int>& lengths, int samples,
                              const std::string& command) const {
  check_lengths(state.config, lengths, command);
  return poslab::probed(state, samples);
}

Sample StringsLearner::sample(const SampleOptions& o) const {
  refuse_text(o.text);
  const RunSpec& c = state.config;
  const int length = o.length ? o.length : c.whole("train_length"), first = o.number - 1;
  check_lengths(c, {length}, "view");
  const Batch batch = test_batch(c, length, first, 1);
  const int T = batch.tokens.shape()[1];
  Sample s{.layers = blocks(c, T - batch.outputs),
           .heads = c.whole("heads"),
           .matrices = matrices_of(c.scheme, transformer_spec(c).shape()),
           .outputs = batch.outputs,
           .slots = "dashed lines separate the input from the answer slots."};
  const std::vector<std::string> alphabet = task(c["task"]).alphabet;
  for (int t = 0; t < T; ++t) s.symbols.push_back(t < T - batch.outputs ? alphabet[size_t(batch.tokens[t])] : "·");
  s.pass = [this, batch, length, T, first](Trace& trace) {
    const Inference as_this_run(state.config);
    const PositionSample positions = test_draw(state.config, length, first, 1, T, batch.tokens);
    state.test_net()(batch.tokens, T, {positions, {}, &trace});  // of all slots
  };
  return s;
}

namespace {

// The input length for which a test has this many slots; T if no length has.
int length_of(const RunSpec& c, int T) {
  for (int length = 1; length < T; ++length)
    if (slots(c, length) == T) return length;
  return T;
}

}  // namespace

Reader StringsLearner::reader() const {
  return {state.net.spec().symbols_in, [this, tested = state.test_net()](const Reading& r, Trace* trace) {
            const int B = r.tokens.shape()[0], T = r.tokens.shape()[1];
            const MatmulPrecision as_this_run = precision(state.config);
            const PositionSample positions =
                r.positions.empty() ? test_draw(state.config, length_of(state.config, T), 0, B, T, r.tokens)
                                    : PositionSample(r.positions);
            return tested(r.tokens, r.outputs, {positions, {}, trace});
          }};
}

Inspection StringsLearner::inside(std::vector<int> lengths, int n, const std::string& text) const {
  refuse_text(text);
  if (lengths.empty()) lengths = paper_lengths(state.config);
  check_lengths(state.config, lengths);
  std::vector<int> points;
  for (const int length : lengths) points.push_back(task(state.config["task"]).output_length(length));
  const auto look = [this, lengths, n] {
    const RunSpec& c = state.config;
    const int T = slots(c, std::min(lengths.back(), most_of_biases));
    const PositionSample draw = test_draw(c, lengths.back(), 0, 1, T, Ids({1, T}, std::vector<int>(size_t(T), 0)));
    return Inside{dispersed(poslab::probed(state, n), lengths, n),
                  biases(*state.net.encoding().layers[0], transformer_spec(c).shape(), draw.at_layer(0),
                         state.params.device()),
                  pca(state, lengths, n), attention_maps(state, lengths), coverage(c, lengths, state.adam.step)};
  };
  return inspection(poslab::probed(state, n), lengths, look, points, lengths);
}

Row row_of(const AtLength& a) {
  const Baselines& b = a.baselines;
  return {string_columns(),
          {double(a.length), a.accuracy, a.unmasked_accuracy, a.loss, double(a.samples), b.chance, b.majority,
           b.content_only}};
}

std::vector<AtLength> at_lengths(const Results& rows) {
  std::vector<AtLength> all;
  for (const Row& row : rows) {
    const auto value = [&](const char* name) { return row.has(name) ? row[name] : 0; };
    all.push_back({row.length(),
                   int(row["samples"]),
                   row["accuracy"],
                   value("unmasked_accuracy"),
                   row["loss"],
                   {value("chance"), value("majority"), value("content_only")}});
  }
  return all;
}

const Columns& paper_score_columns() {
  static const Columns all =
      columns({Column::share("paper_score"), Column::share("released_score"), Column::share("chance"),
               Column::share("majority"), Column::share("content_only")});
  return all;
}

Row paper_scores(const Choices& c, const Results& rows) {
  const double none = std::nan("");
  const std::vector<AtLength> all = at_lengths(rows);
  const std::optional<Mean> paper = paper_score(c, all), released = released_score(c, all);
  const Baselines b = paper ? paper->baselines : Baselines{none, none, none};
  return {paper_score_columns(),
          {paper ? paper->accuracy : none, released ? released->accuracy : none, b.chance, b.majority, b.content_only}};
}

std::string shown_by_length(const Choices& c, const Results& rows) {
  const std::vector<AtLength> all = at_lengths(rows);
  std::string text = fmt::format("accuracy in %, {} strings of each length", c.whole("eval_samples"));
  if (c.has("test_positions"))
    text += fmt::format(", positions at test {}, dropout {}", c["test_positions"], c.on("test_dropout") ? "on" : "off");
  text += "\n\n";
  text += fmt::format("  {:<15}{:<13}{:>8}{:>9}{:>10}{:>14}\n", "", "lengths", "accuracy", "chance", "majority",
                      "content only");
  const Lengths trained = trained_lengths(c);
  const int each = (int(all.size()) + 9) / 10, last = all.back().length;
  for (int from = all.front().length, to; from <= last; from = to + 1) {
    const bool shorter = from < trained.from, longer = from > trained.to;              // no row mixes trained and new
    to = std::min({from + each - 1, last, shorter ? trained.from - 1 : longer ? last : trained.to});
    const size_t first = size_t(from - all.front().length), past = size_t(to - all.front().length + 1);
    if (const auto m = mean_from({all.begin() + long(first), all.begin() + long(past)}, from))
      text += shown_mean(shorter ? "shorter" : longer ? "longer" : "as in training", *m);
  }
  text += '\n';
  if (const auto m = paper_score(c, all)) text += shown_mean("paper score", *m);
  if (const auto m = released_score(c, all)) text += shown_mean("released score", *m);
  if (const std::string after = after_origin(c); !after.empty())
    text += fmt::format("\nas in training: {}{}, whose own lengths are not counted\n", in_words(trained), after);
  if (paper_score(c, all))
    text +=
        "\npaper score: the mean over all lengths beyond the trained ones; released score: without the first of "
        "them\n";
  return text + "content only: one symbol for all slots, based only on how often each symbol occurs\n";
}

}  // namespace poslab
