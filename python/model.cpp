// A trained model of a run folder: logits of tokens of one's own, its activations seen and changed by functions of
// Python, its weights, and what it writes.
#include "autograd/tape.h"
#include "core/stop.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/language/learner.h"
#include "experiment/t5/learner.h"
#include "lab/runs/run.h"
#include "nn/generate.h"
#include "nn/t5_generate.h"
#include "python/long_call.h"
#include "python/trace.h"
#include "tasks/retrieval/symbols.h"

namespace poslab::python {
namespace {

// What one pass reads. absent: drawn or counted as the run is tested
struct Input {
  Ids tokens;  // (B, T)
  int outputs;
  Ids read;  // (B, O), of a T5's decoder; empty for others
  std::vector<Positions> positions{};
};

// Of a language model, without its folder, which is locked while a Run has it.
struct Writer {
  language::State state;
  language::Source source;
};

struct Model {
  std::string run;
  Params params;
  int vocabulary;
  std::function<Tensor(const Input&, Trace*)> net;
  std::shared_ptr<const Writer> writer{};       // of a language model
  std::shared_ptr<const t5::State> answerer{};  // of a T5
};

PositionSample positions_for(const Choices& config, int slots) {
  return {sampler(config), Resample::per_forward, {}, 1, slots};
}

// The input length whose strings have so many slots, as the test has them; T for other tokens.
int length_of(const Choices& c, int T) {
  for (int length = 1; length < T; ++length)
    if (slots(c, length) == T) return length;
  return T;
}

Model load(const std::string& path) {
  const Kind& kind = kind_of_folder(path);
  if (kind == strings_kind()) {
    const auto s = std::make_shared<const State>(RunFolder::open(path).load("cpu"));
    const auto net = [s, tested = s->test_net()](const Input& a, Trace* trace) {
      const int B = a.tokens.shape()[0], T = a.tokens.shape()[1];
      const MatmulPrecision as_this_run = s->matmul_precision();
      const PositionSample drawn = a.positions.empty()
                                       ? test_draw(s->config, length_of(s->config, T), 0, B, T, a.tokens)
                                       : PositionSample(a.positions);
      return tested(a.tokens, a.outputs, {drawn, {}, trace});
    };
    return {path, s->params, s->net.spec().symbols_in, net};
  }
  if (kind == language_kind()) {
    const auto run = open_as<language::TextLearner>(language_kind(), path).learner;
    const auto writer = std::make_shared<const Writer>(Writer{run->state, *run->source});
    const auto net = [writer](const Input& a, Trace* trace) {
      const language::State& s = writer->state;
      const UseEngine as_this_run(products(s.config));
      const PositionSample drawn =
          a.positions.empty() ? language::test_positions(s.config, a.tokens.shape()[1]) : PositionSample(a.positions);
      return s.net(a.tokens, a.outputs, {drawn, {}, trace});
    };
    return {path, writer->state.params, writer->state.net.spec().vocabulary, net, writer};
  }
  const auto answerer = std::make_shared<const t5::State>(
      open_as<t5::QuestionLearner>(t5_kind(), path).learner->state);
  const auto net = [answerer](const Input& a, Trace* trace) {
    const t5::State& s = *answerer;
    const UseEngine as_this_run(products(s.config));
    const PositionSample drawn =
        a.positions.empty() ? positions_for(s.config, a.tokens.shape()[1]) : PositionSample(a.positions);
    const PositionSample read = positions_for(s.config, a.read.shape()[1]);
    return s.net.decode(a.read, s.net.encode(a.tokens, {}, {drawn, {}, trace}), {}, {read, {}, trace});
  };
  return {path, answerer->params, answerer->net.spec().vocabulary, net, {}, answerer};
}

// Positions (T) of all sequences, or (B, T), for T tokens.
std::vector<Positions> given_positions(nb::handle positions, const Ids& tokens) {
  if (positions.is_none()) return {};
  const Tensor p = tensor_of(positions);
  const int B = tokens.shape()[0], T = tokens.shape()[1];
  if (p.dim(-1) != T || p.dims() > 2 || (p.dims() == 2 && p.dim(0) != B && p.dim(0) != 1))
    bad_input("positions have shape {} and tokens {}; give ({}) or ({}, {})", to_string(p.shape()),
              to_string(tokens.shape()), T, B, T);
  const std::vector<real> values = p.values();
  return {Positions::of_tokens(p.dims() == 2 ? p.dim(0) : 1, {values.begin(), values.end()})};
}

// Tokens (B, T) that the model knows.
Ids given_tokens(const Model& m, const char* what, nb::handle given) {
  const Ids tokens = ids_of(given);
  if (tokens.shape().size() != 2)
    bad_input("{} have shape {}; they must be (sequences, time)", what, to_string(tokens.shape()));
  for (int64_t n = 0; n < tokens.size(); ++n)
    if (tokens[n] < 0 || tokens[n] >= m.vocabulary)
      bad_input("token {}: the model of {} knows 0 to {}", tokens[n], m.run, m.vocabulary - 1);
  return tokens;
}

// What the decoder of a T5 reads; empty for other models.
Ids given_read(const Model& m, nb::handle given, const Ids& tokens, const std::optional<int>& outputs) {
  if (m.answerer && (given.is_none() || outputs))
    bad_input("{} is a T5, whose decoder reads tokens too: say read, (sequences, slots), {} and the answer so far{}",
              m.run, m.answerer->net.spec().start, outputs ? "; it has logits for each, so no outputs" : "");
  if (!m.answerer && !given.is_none()) bad_input("{} is no T5; leave out read", m.run);
  if (!m.answerer) return {};
  const Ids read = given_tokens(m, "read", given);
  if (read.shape()[0] != tokens.shape()[0])
    bad_input("read has {} sequences and tokens {}; give as many", read.shape()[0], tokens.shape()[0]);
  return read;
}

// Logits, and what the patterns have captured.
std::pair<Tensor, nb::dict> run(const Model& m, IdsLike given, std::optional<int> outputs, nb::object given_to_read,
                                nb::object positions, const TraceLike& said, bool gradient) {
  const Ids tokens = given_tokens(m, "tokens", given), read = given_read(m, given_to_read, tokens, outputs);
  Trace trace = trace_of(said);
  std::optional<NoGrad> off;
  if (!gradient) off.emplace();
  const Tensor logits = m.net({tokens, outputs.value_or(tokens.shape()[1]), read, given_positions(positions, tokens)},
                              said.empty() ? nullptr : &trace);
  return {logits, captured_by(trace)};
}

std::vector<int> tokens_of(const Model& m, const std::string& text) {
  if (m.writer) return m.writer->source.prompt(text);
  if (!m.answerer) bad_input("{} is of a task; pl.tasks has its tokens", m.run);
  const std::vector<int> tokens = symbols::read(text);
  if (tokens.empty()) bad_input("the prompt is empty; give the model a text to read");
  return tokens;
}

// What comes behind the prompt.
nb::bytes written(const Model& m, const std::string& prompt, int count, double temperature, int top_k, double top_p,
                  uint64_t seed) {
  if (!m.writer) bad_input("{} is no language model, so it goes on with no text", m.run);
  if (count < 1 || count > 1000000) bad_input("count is {}; give a number from 1 to 1000000", count);
  const Writer& r = *m.writer;
  const Generation wanted{count, {temperature, top_k, top_p}, seed, sampler(r.state.config)};
  wanted.choice.check();
  const std::string text = long_call([&] {
    std::string all;
    generate(r.state.net, r.source.prompt(prompt), wanted, [&](int token) {
      stop_if_wanted();
      all += r.source.text(token);
      return true;
    });
    return all;
  });
  return nb::bytes(text.data(), text.size());
}

std::string answered(const Model& m, const std::string& prompt, int count, int beams, double length_penalty,
                     const std::string& early_stopping) {
  if (!m.answerer) bad_input("{} is no T5, so it has no answer to a text", m.run);
  const t5::State& s = *m.answerer;
  T5Generation how{count, beams, length_penalty};
  how.early_stopping =
      word_of<EarlyStopping>("early_stopping", early_stopping,
                             {{"off", EarlyStopping::off}, {"on", EarlyStopping::on}, {"never", EarlyStopping::never}});
  how.ends = {symbols::end}, how.positions = sampler(s.config);
  how.check();
  const std::vector<int> tokens = tokens_of(m, prompt);
  return long_call([&] {
    const NoGrad still;
    const PositionSample positions = positions_for(s.config, int(tokens.size()));
    const Tensor states = s.net.encode(Ids({1, int(tokens.size())}, tokens), {}, {positions, {}});
    return symbols::written(how.beams == 1 ? answer(s.net, states, {}, how)[0]
                                           : beam_search(s.net, states, {}, how)[0].at(0).tokens);
  });
}

}  // namespace

void add_model(nb::module_& m) {
  nb::class_<Model>(m, "Model")
      .def_prop_ro("parameters",
                   [](const Model& model) {
                     nb::dict all;
                     for (const Params::Entry& e : model.params.entries()) all[e.name.c_str()] = nb::cast(e.tensor);
                     return all;
                   })
      .def("run", run, "tokens"_a, "outputs"_a.none(), "read"_a.none(), "positions"_a.none(), "trace"_a, "gradient"_a)
      .def_prop_ro("start",
                   [](const Model& model) -> std::optional<int> {
                     if (!model.answerer) return {};
                     return model.answerer->net.spec().start;
                   })
      .def("tokens", tokens_of, "text"_a)
      .def("write", written, "prompt"_a, "count"_a, "temperature"_a, "top_k"_a, "top_p"_a, "seed"_a)
      .def("answer", answered, "prompt"_a, "count"_a, "beams"_a, "length_penalty"_a, "early_stopping"_a);
  m.def("load", load, "path"_a);
}

}  // namespace poslab::python
