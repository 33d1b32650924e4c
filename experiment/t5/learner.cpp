#include "experiment/t5/learner.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiment/align.h"
#include "experiment/t5/inside.h"
#include "nn/t5_generate.h"
#include "tasks/retrieval/symbols.h"

namespace poslab {
namespace t5 {
namespace {

const Columns& question_columns() {
  static const Columns all = [] {
    std::vector<Column> list = {Column::word("task"), Column::length(), Column::count("samples"),
                                Column::number("loss"), Column::number("accuracy")};
    for (int p = 1; p <= places; ++p) list.push_back(Column::number(fmt::format("accuracy_{}", p)));
    return columns(list);
  }();
  return all;
}

int longest_tested(const Choices& c) {
  const std::vector<int> tested = eval_lengths(c);
  return std::max(c.whole("train_length"), *std::max_element(tested.begin(), tested.end()));
}

std::vector<int> tested_lengths(const Choices& c) {
  std::vector<int> all;
  for (size_t task = 0; task < choose_retrievals(c["tasks"]).size(); ++task)
    for (const int length : eval_lengths(c)) all.push_back(length);
  return all;
}

std::unique_ptr<Learner> make(const RunSpec& c, const std::shared_ptr<const language::Source>&) {
  return std::make_unique<QuestionLearner>(State(c));
}

const Columns& score_columns() {
  static const Columns all =
      columns({Column::number("accuracy"), Column::count("longest"), Column::number("longest_accuracy")});
  return all;
}

// Means over the tasks, at the trained and at the longest length.
Row scores(const Choices& c, const Results& all) {
  std::map<int, std::pair<double, int>> by_length;   // the sum, and the number of tasks
  for (const Row& at : all) by_length[at.length()].first += at["accuracy"], ++by_length[at.length()].second;
  const auto mean = [](const auto& at) { return at.first / at.second; };
  const auto trained = by_length.find(c.whole("train_length"));
  const auto& [longest, of_longest] = *by_length.rbegin();
  return {score_columns(), {trained == by_length.end() ? std::nan("") : mean(trained->second), double(longest),
                  mean(of_longest)}};
}

std::string shown(const Choices&, const Results& all) {
  std::string text = "  task         length   accuracy     loss     by place of the answer, from beginning to end\n";
  for (const Row& at : all) {
    double by_place[places];
    for (int p = 0; p < places; ++p) by_place[p] = at[fmt::format("accuracy_{}", p + 1)];
    text += fmt::format("  {:<10} {:8} {:8.1f} % {:8.4f}    {}\n", at.word("task"), at.length(), 100 * at["accuracy"],
                        at["loss"], shown_places(by_place));
  }
  return text;
}

}  // namespace

Row row_of(const AtLength& at) {
  std::vector<Row::Cell> cells = {at.task, double(at.length), double(at.samples), at.loss, at.accuracy};
  cells.insert(cells.end(), std::begin(at.accuracy_of_place), std::end(at.accuracy_of_place));
  return {question_columns(), std::move(cells)};
}

std::string shown_places(const double (&accuracy)[places]) {
  std::string text;
  for (const double x : accuracy) text += std::isnan(x) ? std::string("    -") : fmt::format(" {:4.0f}", 100 * x);
  return text;
}

std::vector<TestPart> QuestionLearner::test(const RunSpec& c) const {
  t5::check(at_temperature_of(state.config, c));
  T5 net = state.net;
  if (c["encoding"] != state.config["encoding"]) net = net.with_encoding(c.scheme);
  if (c["temperature"] != state.config["temperature"]) {
    net = net.at_temperature(c.temperature);
    check_aligned(c.temperature, state.params);
  }
  check_rows(net, c);
  const double samples = c.whole("eval_samples");
  std::vector<TestPart> all;
  for (const Chosen<Retrieval>& task : retrievals(c))
    for (const int length : eval_lengths(c))
      all.push_back({fmt::format("{}, length {}", task->name, length), samples * length,
                     forward(net.spec(), length, samples).of(samples),
                     [=] { return row_of(evaluate(net, c, task, length)); }});
  return all;
}

namespace {

void refuse_text(const std::string& text) {
  if (!text.empty()) bad_input("--text goes with runs of `poslab lm`; this one is of `poslab t5`");
}

// The state under a test of these lengths, which are checked.
std::shared_ptr<const State> tested_at(const State& state, RunSpec c, const std::vector<int>& lengths) {
  c.set("eval_lengths", fmt::format("{}", fmt::join(lengths, "/")));
  t5::check(c), check_rows(state.net, c);
  const auto made = std::make_shared<State>(state);
  made->config = c;
  return made;
}

Probed probed_and_kept(const std::shared_ptr<const State>& state, int samples) {
  Probed p = probed(*state, samples);
  p.run = [state, run = p.run](const Look& look) { run(look); };
  return p;
}

}  // namespace

Probed QuestionLearner::probed(const RunSpec& c, const std::vector<int>& lengths, int samples,
                               const std::string&) const {
  return probed_and_kept(tested_at(state, c, lengths), samples);
}

Sample QuestionLearner::sample(const SampleOptions& o) const {
  refuse_text(o.text);
  const int length = o.length ? o.length : state.config.whole("train_length"),
            questions = state.config.whole("eval_samples");
  if (length < shortest_retrieval)
    bad_input("view: length {} is too short for a T5; ask for {} tokens or more", length, shortest_retrieval);
  if (o.number > questions)
    bad_input("--sample {}: the test has {} questions at each length (eval_samples); ask for one of these", o.number,
              questions);
  const std::shared_ptr<const State> at = tested_at(state, state.config, {length});
  const Chosen<Retrieval> task = retrievals(at->config)[0];
  const Batch batch = test_batch(at->config, task, length, {o.number - 1, 1, questions});
  const T5Spec& spec = state.net.spec();
  Sample s{.of = task.spelled(),
           .layers = spec.layers,
           .heads = spec.heads,
           .matrices = matrices_of(spec.encoding, spec.shape(false)),
           .block = "encoder.block",
           .slots = "the context and the question after it, as the encoder reads them."};
  for (int t = 0; t < length; ++t) s.symbols.push_back(symbols::written({batch.context[t]}));
  s.pass = [this, at, batch, length](Trace& trace) {
    const Inference as_this_run(state.config);
    state.net.encode(batch.context, {}, {test_positions(at->config, length, batch), {}, &trace});
  };
  return s;
}

Reader QuestionLearner::reader() const {
  const auto draw = [this](int slots) {
    return PositionSample(sampler(state.config), Resample::per_forward, {}, 1, slots);
  };
  return {.vocabulary = state.net.spec().vocabulary,
          .logits =
              [this, draw](const Reading& r, Trace* trace) {
                const MatmulPrecision as_this_run = precision(state.config);
                const PositionSample positions =
                    r.positions.empty() ? draw(r.tokens.shape()[1]) : PositionSample(r.positions);
                const Tensor states = state.net.encode(r.tokens, {}, {positions, {}, trace});
                return state.net.decode(r.read, states, {}, {draw(r.read.shape()[1]), {}, trace});
              },
          .start = state.net.spec().start};
}

std::vector<int> QuestionLearner::read(const std::string& text) const { return symbols::read(text); }

std::string QuestionLearner::answer(const std::string& prompt, const T5Generation& asked) const {
  T5Generation how = asked;
  how.ends = {symbols::end}, how.positions = sampler(state.config);
  how.check();
  const MatmulPrecision as_this_run = precision(state.config);
  return symbols::written(poslab::answer(state.net, read(prompt), how));
}

Inspection QuestionLearner::inside(std::vector<int> lengths, int n, const std::string& text) const {
  refuse_text(text);
  const int trained = state.config.whole("train_length");
  if (lengths.empty()) lengths = {trained, 4 * trained};
  const Probed attention = probed(state.config, lengths, n, "inspect");
  const auto look = [this, attention, lengths, n] {
    const int T = std::min(lengths.back(), most_of_biases);
    const PositionSample draw(sampler(state.config), Resample::per_forward, {}, 1, T);
    return Inside{dispersed(attention, lengths, n),
                  biases(*state.net.encoding().layers[0], state.net.spec().shape(false), draw.at_layer(0),
                         state.params.device())};
  };
  return inspection(attention, lengths, look);
}

}  // namespace t5

const Kind& t5_kind() {
  static const Kind kind = {.name = "t5",
                            .word = "t5 ",
                            .studied = "tasks",
                            .marked_by = "tasks",
                            .last_file = "eval.csv",
                            .format = "poslab T5 1",
                            .checkpoints_are_read = "a T5; `poslab t5` reads",
                            .tested = {"tasks", "encoding", "temperature", "eval_lengths", "eval_samples", "matmul"},
                            .table = t5::all_choices,
                            .configure = t5::configure,
                            .check = t5::check,
                            .longest = t5::longest_tested,
                            .tested_lengths = t5::tested_lengths,
                            .make = t5::make,
                            .columns = t5::question_columns(),
                            .collected = {"task", "length", "accuracy", "loss", "samples"},
                            .score_columns = t5::score_columns(),
                            .scores = t5::scores,
                            .shown = t5::shown,
                            .load = t5::load};
  return kind;
}

}  // namespace poslab
