// The trained model of a run folder, or an external checkpoint: logits of the user's tokens, activations for Python's
// functions, weights, and generation.
#include "autograd/tape.h"
#include "experiment/no_effect.h"
#include "lab/runs/run.h"
#include "nn/generate.h"
#include "nn/t5_generate.h"
#include "python/long_call.h"
#include "python/trace.h"

namespace poslab::python {
namespace {

struct Model {
  std::string run;
  std::shared_ptr<const Learner> learner;
  Reader reader;
  bool on_gpu() const { return learner->params().device() != Device::cpu; }
};

// Work on a GPU waits for its turn, because all threads share one queue there.
auto in_turn(bool on_gpu, const auto& work) { return on_gpu && !within_long_call() ? long_call(work) : work(); }

Model load(const std::string& path, const std::string& device) {
  const std::shared_ptr<const Learner> learner =
      in_turn(device != "cpu", [&] { return open_model(path, device).learner; });  // the folder can be used again
  return {path, learner, learner->reader()};
}

// Positions (T) of all sequences, or (B, T), for T tokens.
std::vector<Positions> given_positions(nb::handle positions, const Ids& tokens) {
  if (positions.is_none()) return {};
  const auto [shape, numbers] = positions_of(positions);
  const int B = tokens.shape()[0], T = tokens.shape()[1];
  if (shape != Shape{T} && shape != Shape{1, T} && shape != Shape{B, T})
    bad_input("positions have shape {} and tokens {}; give ({}) or ({}, {})", to_string(shape),
              to_string(tokens.shape()), T, B, T);
  return {Positions::of_tokens(int(numbers.size()) / T, numbers)};
}

// Tokens (B, T) of the model's vocabulary.
Ids given_tokens(const Model& m, const char* what, nb::handle given) {
  const Ids tokens = ids_of(given);
  if (tokens.shape().size() != 2)
    bad_input("{} have shape {}; they must be (sequences, time)", what, to_string(tokens.shape()));
  for (int64_t n = 0; n < tokens.size(); ++n)
    if (tokens[n] < 0 || tokens[n] >= m.reader.vocabulary)
      bad_input("token {}: the model of {} knows 0 to {}", tokens[n], m.run, m.reader.vocabulary - 1);
  return tokens;
}

// The input of a T5's decoder; empty for other models.
Ids given_read(const Model& m, nb::handle given, const Ids& tokens, const std::optional<int>& outputs) {
  const std::optional<int> start = m.reader.start;
  if (start && (given.is_none() || outputs))
    bad_input("{} is a T5, whose decoder reads tokens, too: give read, (sequences, slots), {} and the answer so far{}",
              m.run, *start, outputs ? "; leave out outputs, as all slots have logits" : "");
  if (!start && !given.is_none()) bad_input("{} is not a T5; leave out read", m.run);
  if (!start) return {};
  const Ids read = given_tokens(m, "read", given);
  if (read.shape()[0] != tokens.shape()[0])
    bad_input("read has {} sequences and tokens {}; give the same number of both", read.shape()[0], tokens.shape()[0]);
  return read;
}

// Logits, and the tensors that the patterns captured.
std::pair<Tensor, nb::dict> run(const Model& m, IdsLike given, std::optional<int> outputs, nb::object given_to_read,
                                nb::object positions, const TraceLike& said, bool gradient) {
  const Ids tokens = given_tokens(m, "tokens", given), read = given_read(m, given_to_read, tokens, outputs);
  if (gradient && m.on_gpu())
    bad_input("gradient: the model of {} is on a GPU, where Python has none; load it with device=\"cpu\"", m.run);
  Asked asked(said);
  const auto off = gradient ? nullptr : std::make_unique<NoGrad>();
  const Reading reading{tokens, outputs.value_or(tokens.shape()[1]), read, given_positions(positions, tokens)};
  const Tensor logits = in_turn(m.on_gpu(), [&] {
    const auto off_there = gradient ? nullptr : std::make_unique<NoGrad>();   // in_turn may switch threads
    const Tensor all = m.reader.logits(reading, said.empty() ? nullptr : &asked.trace);
    return asked.to_cpu(), all.to(Device::cpu);
  });
  asked.check_matched();
  return {logits, asked.captured()};
}

// Errors of work for which this kind of model is unsuitable name the run.
auto of_run(const Model& m, const auto& work) { return prefix_errors(m.run, work); }

std::vector<int> tokens_of(const Model& m, const std::string& text) {
  const std::vector<int> tokens = of_run(m, [&] { return m.learner->read(text); });
  if (tokens.empty()) bad_input("the prompt is empty; give the model a text to read");
  return tokens;
}

std::string as_in_python(const std::string& option) { return option; }

// The text after the prompt.
nb::bytes written(const Model& m, const std::string& prompt, int count, double temperature, int top_k, double top_p,
                  std::optional<uint64_t> seed) {
  if (count < 1 || count > 1000000) bad_input("count is {}; give a number from 1 to 1000000", count);
  const Generation wanted{count, {temperature, top_k, top_p}, seed.value_or(0)};
  wanted.choice.check();
  refuse_without_draws(wanted.choice, top_k, top_p, seed, as_in_python);
  const std::string text = long_call([&] { return of_run(m, [&] { return m.learner->write(prompt, wanted); }); });
  return nb::bytes(text.data(), text.size());
}

std::string answered(const Model& m, const std::string& prompt, int count, int beams, double length_penalty,
                     const std::string& early_stopping) {
  T5Generation how{count, beams, length_penalty};
  how.early_stopping =
      word_of<EarlyStopping>("early_stopping", early_stopping,
                             {{"off", EarlyStopping::off}, {"on", EarlyStopping::on}, {"never", EarlyStopping::never}});
  const bool stops = how.early_stopping != EarlyStopping::off;
  refuse_without_beams(beams, length_penalty, stops ? std::optional(how.early_stopping) : std::nullopt, as_in_python);
  return long_call([&] { return of_run(m, [&] { return m.learner->answer(prompt, how); }); });
}

}  // namespace

void add_model(nb::module_& m) {
  nb::class_<Model>(m, "Model")
      .def_prop_ro("parameters",
                   [](const Model& m) {
                     std::vector<Params::Entry> all = of_run(m, [&] { return m.learner->own_params().entries(); });
                     in_turn(m.on_gpu(), [&] {
                       for (Params::Entry& e : all) e.tensor = e.tensor.to(Device::cpu);
                       return true;
                     });
                     nb::dict by_name;
                     for (const Params::Entry& e : all) by_name[e.name.c_str()] = nb::cast(e.tensor);
                     return by_name;
                   })
      .def("run", run, "tokens"_a, "outputs"_a.none(), "read"_a.none(), "positions"_a.none(), "trace"_a, "gradient"_a)
      .def_prop_ro("start", [](const Model& model) { return model.reader.start; })
      .def("tokens", tokens_of, "text"_a)
      .def("write", written, "prompt"_a, "count"_a, "temperature"_a, "top_k"_a, "top_p"_a, "seed"_a.none())
      .def("answer", answered, "prompt"_a, "count"_a, "beams"_a, "length_penalty"_a, "early_stopping"_a);
  m.def("load", load, "path"_a, "device"_a);
}

}  // namespace poslab::python
