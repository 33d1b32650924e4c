// Runs in which a decoder answers a task token by token, the form in which most papers after Ruoss et al. 2023 study
// length generalization: it reads the input and a separator, and writes the answer. Training gives it the right answer
// so far (teacher forcing); the test gives it its own answer so far (free running), and counts whole answers, too.
//
//   reads    x_1 ... x_L  ;  y_1 ... y_{O-1}           L + O slots
//   expected             y_1  y_2 ... y_O              at the last O of them
//
// Strings, lengths and positions are as in runs of strings with this seed. Leaves out dropout and small tests.
#include "experiment/answering.h"

#include <algorithm>
#include <cmath>

#include "autograd/tape.h"
#include "core/stop.h"
#include "encodings/samplers.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/language/learner.h"
#include "experiment/lengths.h"
#include "experiment/strings.h"
#include "tasks/baselines.h"
#include "tasks/curriculum.h"
#include "tasks/task.h"

namespace poslab {
namespace answering {

namespace {

const ChoiceTable& all_choices() {
  Option task = Option::text("task", "", "the task to learn; see `poslab list tasks`");
  task.words = names_of(all_tasks());
  static const ChoiceTable table = choice_table(
      "decoder",
      {.studied = {task, encoding_option("rope", "the positional encoding"), positions_option(),
                   temperature_option("a factor on all logits of a query, by the number of keys")},
       .model = {{"layers", 4, {1, 256}, "number of layers"},
                 {"heads", 4, {1, 1024}, "attention heads; must divide d_model"},
                 {"d_model", 64, {1, 65536}, "width"},
                 {"d_ff", 172, {1, 1 << 20}, "width of the feed-forward network"},
                 loops_option()},
       .training = {{"steps", 10000, {1, 1e9}, "training steps"},
                    {"batch", 128, {1, 1 << 16}, "strings in a step"},
                    {"train_length", 40, {1, 1 << 16}, "longest training input"},
                    {"curriculum", names_of(all_curricula()), "which length a step uses"},
                    {"loss_on",
                     {"answer", "all"},
                     "tokens whose loss counts: only the answer's, or also the input's"}},
       .rates = rate_options(100, 0),
       .evaluation = {Option::lengths("eval_lengths", "1:100", {1, 1 << 16}, "input lengths to test, FROM:TO"),
                      {"eval_samples", 128, {1, 1 << 14}, "strings for each length"}}});
  return table;
}
Choices configure(const Settings& settings) { return poslab::configure(all_choices(), settings); }

// The decoder itself checks the sizes of the model.
void check(const RunSpec& c) {
  if (c["task"].empty()) bad_input("which task? Give --task NAME; `poslab list tasks` shows them");
  check_loops(c), refuse_aligned(c.temperature);
  const MatmulPrecision tried = precision(c);  // throws if the device does not support it
  const Chosen<Sampler> drawn = sampler(c);
  if (const int pool = pool_of(drawn); pool < answering::longest(c))
    bad_input(
        "positions = {}: it has positions for {} tokens, but the longest input and answer have {}; {}, or take shorter "
        "strings",
        drawn.spelled(), pool, answering::longest(c), more_positions(drawn));
}

struct State {
  explicit State(const RunSpec& c)
      : config((answering::check(c), c)),
        params(uint64_t(c.whole("seed"))),
        net(params, spec_of(c)),
        adam((params.pack(device(c)), params), c.number("lr")) {
    adam.clip = c.number("clip");
  }
  RunSpec config;
  Params params;
  Decoder net;
  Adam adam;
};

// The expected token after each input token, (B, n): tokens of the answer or, if `all`, also tokens of the input.
Ids expected(const Questions& q, const Ids& read, bool all) {
  if (!all) return q.strings.targets;
  const int B = q.sequences(), T = read.shape()[1], O = q.outputs();
  std::vector<int> next;
  for (int b = 0; b < B; ++b) {
    next.insert(next.end(), read.data() + int64_t(b) * T + 1, read.data() + int64_t(b + 1) * T);
    next.push_back(q.strings.targets[int64_t(b + 1) * O - 1]);
  }
  return Ids({B, T}, next);
}

Questions questions(const RunSpec& c, int count, int length, Purpose purpose, int64_t step, int first = 0) {
  const Stream random = stream(uint64_t(c.count("seed")), purpose, uint64_t(step), uint32_t(first));
  return {length, make_batch(task(c["task"]), count, length, random)};
}
Questions draw(const RunSpec& c, int64_t step, int length) {
  return questions(c, c.whole("batch"), length, Purpose::tokens, step);
}

StepPlan plan(const State& s, const Questions& q) {
  const RunSpec& c = s.config;
  const int64_t step = s.adam.step;
  const bool all = c["loss_on"] == "all";
  const Ids read = read_by(q, q.strings.targets, symbols(c)), next = expected(q, read, all);
  const PositionSample drawn = positions(c, Purpose::positions, step, q);
  const int outputs = all ? read.shape()[1] : q.outputs();
  StepPlan plan{learning_rate(c, step), {}, most_probable};
  for (const Cut& cut : cuts(c, q.sequences()))
    plan.parts.push_back({[&s, outputs, tokens = cut.of(read), places = drawn.part(cut.from, cut.to)](Trace* trace) {
                            return s.net(tokens, outputs, {places, {}, trace});
                          },
                          cut.of(next)});
  return plan;
}

struct Right {
  int64_t slots = 0, of_slots = 0;      // counted slots (spec B.1)
  int64_t answers = 0, of_answers = 0;  // right as a whole
  double by_slot() const { return double(slots) / double(of_slots); }
  double whole() const { return double(answers) / double(of_answers); }
  void add(const Questions& q, const Ids& answer) {
    const int O = q.outputs();
    for (int b = 0; b < q.sequences(); ++b) {
      const int counted = q.strings.scored_slots[b];
      int right = 0;
      for (int64_t i = int64_t(b) * O; i < int64_t(b) * O + counted; ++i) right += answer[i] == q.strings.targets[i];
      slots += right, of_slots += counted, answers += right == counted, ++of_answers;
    }
  }
};

StepResult result(const State&, const Questions& q, const StepOutcome& done) {
  const int B = q.sequences(), O = q.outputs(), shown = int(done.shown.size()) / B;  // the answer is the last O
  std::vector<int> answers;
  for (auto end = done.shown.begin() + shown; int(answers.size()) < B * O; end += shown)
    answers.insert(answers.end(), end - O, end);
  Right right;
  right.add(q, Ids({B, O}, answers));
  return {done.done, done.loss, right.by_slot(), done.grad_norm, double(right.of_slots), q.length};
}

const Columns& test_columns() {
  static const Columns all =
      columns({Column::length(), Column::share("accuracy"), Column::share("exact_match"),
               Column::share("teacher_forced"), Column::number("loss", "{:.6g}"), Column::count("samples"),
               Column::share("chance"), Column::share("majority"), Column::share("content_only")});
  return all;
}

// Loss and `teacher_forced` come from the first pass, which reads the right answer.
Row evaluate(const Decoder& net, const RunSpec& c, int length) {
  constexpr int baseline_samples = 500;
  const Inference as_this_run(c);
  const Task& t = task(c["task"]);
  const int samples = c.whole("eval_samples"), T = slots(c, length), cut = sub_batch(T), separator = symbols(c);
  Right free, forced;
  double loss = 0;
  for (int first = 0; first < samples; first += cut) {
    const Questions q = questions(c, std::min(cut, samples - first), length, Purpose::test_tokens, length, first);
    const auto pass = [&](const Ids& answer) {
      Stoppable whole(true);
      const Ids read = read_by(q, answer, separator);
      const Tensor logits = net(read, q.outputs(), {positions(c, Purpose::test_positions, length, q), {}});
      whole.complete();
      return logits;
    };
    const Tensor logits = pass(q.strings.targets);
    loss += double(cross_entropy(logits, q.strings.targets).item()) * q.sequences() / samples;
    forced.add(q, most_probable_ids(logits));
    const auto next = [&](const Ids& answer) { return most_probable_ids(pass(answer)); };
    free.add(q, free_running(most_probable_ids(logits), next));
  }
  const Baselines b = baselines(t, length, baseline_samples, uint64_t(c.count("seed")));
  return {test_columns(),
          {double(length), free.by_slot(), free.whole(), forced.by_slot(), loss, double(samples), b.chance, b.majority,
           b.content_only}};
}

class AnsweringLearner final : public StateLearner<State, Questions> {
 public:
  using StateLearner::StateLearner;
  std::string batch_words() const override { return fmt::format("{} strings", state.config.whole("batch")); }
  std::any draw_longest(int64_t s) const override { return answering::draw(state.config, s, trained()); }

  std::vector<TestPart> test(const RunSpec& c) const override {
    answering::check(at_temperature_of(state.config, c));
    const Decoder net = language::tested_net(state.net, state.params, state.config, c);
    const DecoderSpec spec = spec_of(c);
    const double samples = c.whole("eval_samples");
    std::vector<TestPart> all;
    for (const int length : every_length(c))
      all.push_back({fmt::format("length {}", length), samples * slots(c, length),
                     forward(spec, c, length, samples).of(passes * samples), [=] { return evaluate(net, c, length); }});
    return all;
  }

  Probed probed(const RunSpec&, const std::vector<int>& lengths, int samples,
                const std::string& command) const override {
    check_lengths(state.config, lengths, command);
    return {.layers = state.net.spec().layers,
            .heads = state.net.spec().heads,
            .causal = true,
            .keys = [this](int length) { return asked(length, 0).strings.tokens.shape()[1]; },
            .run =
                [this, samples](const Look& look) {
                  const Decoder net = look.temperature ? state.net.at_temperature(*look.temperature) : state.net;
                  for (int n = 0; n < (look.samples ? look.samples : samples); ++n)
                    look.observe([&](Trace* trace) {
                      pass(net, asked(look.length, n, look.strings), look.length, trace);
                    });
                },
            .forward = [this](int length) { return forward(state.net.spec(), state.config, length, 1); },
            .inputs = samples};
  }

  Sample sample(const SampleOptions& o) const override {
    if (!o.text.empty()) bad_input("--text goes with runs of `poslab lm`; this one is of `poslab decoder`");
    const RunSpec& c = state.config;
    const int length = o.length ? o.length : c.whole("train_length");
    check_lengths(c, {length}, "view");
    const Questions q = asked(length, o.number - 1);
    const Ids read = read_by(q, q.strings.targets, symbols(c));
    const std::vector<std::string> alphabet = task(c["task"]).alphabet;
    Sample s{.layers = state.net.spec().blocks(),
             .heads = state.net.spec().heads,
             .matrices = matrices_of(state.net.spec().encoding, state.net.spec().shape()),
             .outputs = q.outputs(),
             .slots = "dashed lines separate the input from the separator and the answer so far."};
    const int input = read.shape()[1] - q.outputs();
    for (int t = 0; t < read.shape()[1]; ++t)
      s.symbols.push_back(t < input ? alphabet[size_t(read[t])] : t == input ? ";" : fmt::format("{}", read[t]));
    s.pass = [this, q, length](Trace& trace) { pass(state.net, q, length, &trace); };
    return s;
  }

  Respondent respondent(const std::string& under, const std::string& temperature) const override {
    Settings changes = {{"eval_lengths", "1"}};  // only the question is tested
    if (!under.empty()) changes.emplace_back("positions", under);
    if (!temperature.empty()) changes.emplace_back("temperature", temperature);
    const RunSpec c = state.config.with(changes);
    answering::check(at_temperature_of(state.config, c));
    Respondent r = answering::respondent(c, language::tested_net(state.net, state.params, state.config, c));
    r.config = state.config, r.steps = state.adam.step, r.parameters = state.params.count();
    return r;
  }

  Reader reader() const override {
    const auto draw = [this](int T) { return positions(state.config, Purpose::test_positions, 0, T); };
    return language::reader_of(state.net, state.config, draw);
  }

  Inspection inside(std::vector<int> lengths, int n, const std::string& text) const override {
    if (!text.empty()) bad_input("--text goes with runs of `poslab lm`; this one is of `poslab decoder`");
    if (lengths.empty()) lengths = {trained(), 4 * trained()};
    const Probed attention = probed(state.config, lengths, n, "inspect");
    const auto look = [this, attention, lengths, n] {
      const int T = std::min(slots(state.config, lengths.back()), most_of_biases);
      return Inside{dispersed(attention, lengths, n),
                    biases(*state.net.encoding().layers[0], state.net.spec().shape(),
                           positions(state.config, Purpose::test_positions, lengths.back(), T).at_layer(0),
                           state.net.device())};
    };
    return inspection(attention, lengths, look);
  }

 private:
  Questions batch(int64_t step) const override {
    const RunSpec& c = state.config;
    const CurriculumSpec how{c["curriculum"], c.whole("train_length"), c.count("steps")};
    return answering::draw(c, step, training_length(how, uint64_t(c.count("seed")), step));
  }
  int trained() const { return state.config.whole("train_length"); }
  Questions asked(int length, int n, Purpose purpose = Purpose::test_tokens) const {
    return questions(state.config, 1, length, purpose, length, n);
  }
  void pass(const Decoder& net, const Questions& q, int length, Trace* trace) const {
    const Inference as_this_run(state.config);
    const Ids read = read_by(q, q.strings.targets, symbols(state.config));
    net.states(read, {positions(state.config, Purpose::test_positions, length, q), {}, trace});
  }
};

// The paper's scores by slot, and the share of whole answers at the same lengths.
const Columns& score_columns() {
  static const Columns all = [] {
    std::vector<Column> list = *paper_score_columns();
    list.push_back(Column::share("exact_match"));
    return columns(list);
  }();
  return all;
}
// The share of fully right answers at lengths from .. to; NaN if none was tested.
double exact_match(const Results& all, int from, int to) {
  double sum = 0, tested = 0;
  for (const Row& row : all)
    if (row.length() >= from && row.length() <= to) sum += row["exact_match"], ++tested;
  return sum / tested;
}

Row scores(const Choices& c, const Results& all) {
  std::vector<Row::Cell> cells = paper_scores(c, all).cells();
  cells.push_back(exact_match(all, trained_lengths(c).to + 1, all.back().length()));
  return {score_columns(), cells};
}

std::string shown(const Choices& c, const Results& all) {
  const auto [shortest, trained] = trained_lengths(c);
  std::string text = shown_by_length(c, all) + "\naccuracy is by slot, with the model's own earlier symbols as input";
  for (const auto& [share, where] : {std::pair{exact_match(all, shortest, trained), "trained lengths"},
                                     {exact_match(all, trained + 1, all.back().length()), "longer ones"}})
    if (!std::isnan(share)) text += fmt::format("\nwhole answers: {:.1f} % at {}", 100 * share, where);
  return text + "\n";
}

std::unique_ptr<Learner> make(const RunSpec& c, const std::shared_ptr<const language::Source>&) {
  return std::make_unique<AnsweringLearner>(State(c));
}

}  // namespace
}  // namespace answering

const Kind& answering_kind() {
  static const Kind kind = {
      .name = "answering",
      .word = "decoder ",
      .summary = "decoders that answer a task token by token: train, resume, eval",
      .studied = "task",
      .marked_by = "loss_on",
      .last_file = "result.json",
      .format = "poslab decoder of a task 1",
      .checkpoints_are_read = "a decoder of a task; `poslab decoder` reads",
      .tested = {"encoding", "temperature", "loops", "eval_lengths", "eval_samples", "matmul"},
      .table = answering::all_choices,
      .configure = answering::configure,
      .check = answering::check,
      .longest = answering::longest,
      .tested_lengths = every_length,
      .make = answering::make,
      .columns = answering::test_columns(),
      .collected = {"length", "accuracy", "exact_match", "samples", "chance", "majority", "content_only"},
      .score_columns = answering::score_columns(),
      .scores = answering::scores,
      .shown = answering::shown,
      .load = answering::load};
  return kind;
}

}  // namespace poslab
