// A trained model of a run folder: logits of tokens of one's own, its activations seen and changed by functions of
// Python, its weights.
#include "autograd/tape.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "lab/language/run.h"
#include "lab/run_config.h"
#include "python/convert.h"

namespace poslab::python {
namespace {

// What is asked of one pass. absent: drawn or counted as the run is tested
struct Asked {
  Ids tokens;  // (B, T)
  int outputs;
  std::vector<Positions> positions{};
};

struct Model {
  std::string run;
  Params params;
  int vocabulary;
  std::function<Tensor(const Asked&, Trace*)> net;
};

// The input length whose strings have so many slots, as the test has them; T for other tokens.
int length_of(const Config& c, int T) {
  for (int length = 1; length < T; ++length)
    if (slots(c, length) == T) return length;
  return T;
}

Model load(const std::string& path) {
  switch (kind_of_folder(path)) {
    case RunKind::task: {
      const auto s = std::make_shared<const State>(RunFolder::open(path).load("cpu"));
      const auto net = [s, tested = s->test_net()](const Asked& a, Trace* trace) {
        const int B = a.tokens.shape()[0], T = a.tokens.shape()[1];
        s->set_matmul();
        const PositionSample drawn = a.positions.empty()
                                         ? test_draw(s->config, length_of(s->config, T), 0, B, T, a.tokens)
                                         : PositionSample(a.positions);
        return tested(a.tokens, a.outputs, {drawn, {}, trace});
      };
      return {path, s->params, s->net.spec().symbols_in, net};
    }
    case RunKind::language: {
      const auto s = std::make_shared<const language::State>(language::open(path).state);
      const auto net = [s](const Asked& a, Trace* trace) {
        const PositionSample drawn = a.positions.empty() ? language::test_positions(s->config, a.tokens.shape()[1])
                                                         : PositionSample(a.positions);
        return s->net(a.tokens, a.outputs, {drawn, {}, trace});
      };
      return {path, s->params, s->net.spec().vocabulary, net};
    }
    case RunKind::t5:
      break;
  }
  bad_input("{} is a T5, which reads a text and what it has answered; load a run of a task or of a language model",
            path);
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

// A change is a function of Python, (name, x) -> tensor, or None to leave x. Its errors come out of the pass.
Trace::Change change_of(nb::object function) {
  return [function](const std::string& name, const Tensor& x) {
    const nb::object y = function(name, x);
    return y.is_none() ? x : tensor_of(y);
  };
}

// Logits, and what the patterns have captured.
std::pair<Tensor, nb::dict> run(const Model& m, IdsLike given, std::optional<int> outputs, nb::object positions,
                                const std::vector<std::pair<std::string, nb::object>>& trace, bool gradient) {
  const Ids tokens = ids_of(given);
  if (tokens.shape().size() != 2)
    bad_input("tokens have shape {}; they must be (sequences, time)", to_string(tokens.shape()));
  for (int64_t n = 0; n < tokens.size(); ++n)
    if (tokens[n] < 0 || tokens[n] >= m.vocabulary)
      bad_input("token {}: the model of {} knows 0 to {}", tokens[n], m.run, m.vocabulary - 1);
  std::vector<std::string> captures;
  for (const auto& [pattern, function] : trace)
    if (function.is_none()) captures.push_back(pattern);
  Trace all(captures);
  for (const auto& [pattern, function] : trace) {
    if (!function.is_none()) all.replace(pattern, change_of(function));
    if (pattern.ends_with(".logits")) all.queries = tokens.shape()[1];
  }
  std::optional<NoGrad> off;
  if (!gradient) off.emplace();
  const Tensor logits = m.net({tokens, outputs.value_or(tokens.shape()[1]), given_positions(positions, tokens)},
                              trace.empty() ? nullptr : &all);
  nb::dict captured;
  for (const auto& [name, x] : all.captured) captured[name.c_str()] = nb::cast(x);
  return {logits, captured};
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
      .def("run", run, "tokens"_a, "outputs"_a.none(), "positions"_a.none(), "trace"_a, "gradient"_a);
  m.def("load", load, "path"_a);
}

}  // namespace poslab::python
