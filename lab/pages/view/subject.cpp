#include "lab/pages/view/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "autograd/tape.h"
#include "core/error.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/language/inside.h"
#include "experiment/lengths.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"
#include "lab/pages/page/page.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/language/run.h"
#include "lab/runs/naming.h"
#include "lab/runs/t5/run.h"
#include "tasks/retrieval/symbols.h"

namespace poslab::view {
namespace {

double matrices_of(const std::string& encoding, const ModelShape& shape) {
  const Chosen<Scheme> scheme = choose_encoding(encoding);
  return scheme->matrices(shape, scheme.choices);
}

// The kept checkpoints of a run and the newest one, which `state` has, and what reads them into it. Others may go on
// with the run meanwhile.
template <class State>
void find_checkpoints(Subject& s, const RunFolder& run, const Kind& kind, const std::shared_ptr<State>& state) {
  std::map<int64_t, std::string> paths = {{state->adam.step, run.checkpoint()}};
  for (const int64_t step : run.kept_steps()) paths[step] = run.kept_checkpoint(step);
  for (const auto& [step, path] : paths) s.steps.push_back(step);
  s.load = [paths, kind, state](int64_t step) {
    if (state->adam.step == step) return;
    const std::string& path = paths.at(step);
    Checkpoint(read_file(path), path, kind).read_into(state->params, state->adam);
  };
}

Subject of_task(const std::string& folder, const Wanted& wanted) {
  if (!wanted.text.empty())
    bad_input("--text goes with runs of `poslab lm`; `poslab ask {} STRING` shows what this one does",
              shell_word(folder));
  const RunFolder run = RunFolder::open(folder);
  const auto state = std::make_shared<State>(run.load("cpu"));
  const Choices& c = state->config;
  const int length = wanted.length ? wanted.length : c.whole("train_length");
  check_lengths(c, {length}, "view");
  const Batch batch = test_batch(c, length, wanted.sample - 1, 1);
  const int T = batch.tokens.shape()[1];
  Subject s{.folder = folder,
            .heading = page::headed(c["task"]),
            .setting = setting_of(values_of(c)),
            .layers = c.whole("layers"),
            .heads = c.whole("heads"),
            .matrices = matrices_of(c["encoding"], transformer_spec(c).shape()),
            .outputs = batch.outputs};
  const std::vector<std::string> alphabet = task(c["task"]).alphabet;
  for (int t = 0; t < T; ++t) s.symbols.push_back(t < T - batch.outputs ? alphabet[size_t(batch.tokens[t])] : "·");
  find_checkpoints(s, run, strings_kind(), state);
  s.pass = [state, batch, length, T, first = wanted.sample - 1](Trace& trace) {
    const NoGrad no_grad;
    const MatmulPrecision as_this_run = state->matmul_precision();
    const PositionSample positions = test_draw(state->config, length, first, 1, T, batch.tokens);
    state->test_net()(batch.tokens, T, {positions, {}, &trace});  // of all slots
  };
  return s;
}

Subject of_language(const std::string& folder, const Wanted& wanted) {
  language::Run run = language::open(folder);
  const auto state = std::make_shared<language::State>(std::move(run.state));
  const Choices& c = state->config;
  if (run.source.grammar && !wanted.text.empty())
    bad_input("--text: {} reads copy_grammar, whose symbols are no letters; leave it out", folder);
  std::vector<int> tokens;
  if (!wanted.text.empty()) {
    if (wanted.length)
      bad_input("--text and --length {}: the text has a length of its own; leave one out", wanted.length);
    tokens = run.source.reader().encode(wanted.text);
  }
  const int T = !tokens.empty() ? int(tokens.size()) : wanted.length ? wanted.length : c.whole("train_length");
  language::check_lengths(*state, {T}, "view", false);
  if (tokens.empty()) {
    tokens = language::test_window(c, run.source, T, wanted.sample - 1);
    tokens.pop_back();
  }
  Subject s{.folder = folder,
            .heading = run.source.grammar ? "copy_grammar" : language::text_of(folder).path,
            .setting = setting_of(values_of(c)),
            .layers = state->net.spec().layers,
            .heads = state->net.spec().heads,
            .matrices = matrices_of(c["encoding"], state->net.spec().shape()),
            .symbols = language::symbols(run.source, tokens)};
  find_checkpoints(s, run.folder, language_kind(), state);
  s.pass = [state, tokens, T](Trace& trace) {
    const NoGrad no_grad;
    state->net.states(Ids({1, T}, tokens), {language::test_positions(state->config, T), {}, &trace});
  };
  return s;
}

Subject of_t5(const std::string& folder, const Wanted& wanted) {
  if (!wanted.text.empty()) bad_input("--text goes with runs of `poslab lm`; {} is of `poslab t5`", folder);
  t5::Run run = t5::open(folder);
  const auto state = std::make_shared<t5::State>(std::move(run.state));
  Choices& c = state->config;
  const int length = wanted.length ? wanted.length : c.whole("train_length");
  if (length < shortest_retrieval)
    bad_input("view: length {} of a T5; ask for {} tokens or more", length, shortest_retrieval);
  c.set("eval_lengths", fmt::format("{}", length));
  t5::check(c);
  const int questions = c.whole("eval_samples");
  if (wanted.sample > questions)
    bad_input("--sample {}: the test of {} has {} questions at each length (eval_samples); ask for one of these",
              wanted.sample, folder, questions);
  const Chosen<Retrieval> task = t5::tasks(c)[0];
  const t5::Batch batch = t5::test_batch(c, task, length, {wanted.sample - 1, 1, questions});
  const T5Spec& spec = state->net.spec();
  Subject s{.folder = folder,
            .heading = task.spelled(),
            .setting = setting_of(values_of(c)),
            .layers = spec.layers,
            .heads = spec.heads,
            .matrices = matrices_of(c["encoding"], spec.shape(false)),
            .block = "encoder.block"};
  for (int t = 0; t < length; ++t) s.symbols.push_back(symbols::written({batch.context[t]}));
  find_checkpoints(s, run.folder, t5_kind(), state);
  s.pass = [state, batch, length](Trace& trace) {
    const NoGrad no_grad;
    state->net.encode(batch.context, {}, {t5::test_positions(state->config, length, batch), {}, &trace});
  };
  return s;
}

}  // namespace

Subject open(const std::string& folder, const Kind& kind, const Wanted& wanted) {
  Subject s = kind == strings_kind() ? of_task(folder, wanted)
              : kind == t5_kind() ? of_t5(folder, wanted)
                                    : of_language(folder, wanted);
  const auto check = [&](const char* option, const std::vector<int>& asked, int most) {
    for (const int n : asked)
      if (n < 1 || n > most) bad_input("{} {}: {} has 1 to {}", option, n, folder, most);
  };
  check("--layers", wanted.layers, s.layers);
  check("--heads", wanted.heads, s.heads);
  for (const int64_t step : wanted.steps)
    if (!std::count(s.steps.begin(), s.steps.end(), step))
      bad_input("--steps {}: {} has checkpoints of steps {}; a training with --keep-checkpoints keeps all", step,
                folder, fmt::join(s.steps, ", "));
  if (!wanted.steps.empty()) s.steps = wanted.steps;
  return s;
}

}  // namespace poslab::view
