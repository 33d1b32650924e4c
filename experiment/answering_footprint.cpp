// The parts of an answering decoder, and its memory and time, from the choices alone.
#include <algorithm>

#include "experiment/answering.h"
#include "experiment/evaluate.h"
#include "experiment/training_step.h"

namespace poslab::answering {

int longest(const Choices& c) {
  return std::max(slots(c, c.whole("train_length")), slots(c, c.lengths("eval_lengths").to));
}

int symbols(const RunSpec& c) {
  const Task& t = task(c["task"]);
  return std::max(t.symbols_in, t.symbols_out);  // input and answer share positions; the separator comes after them
}

DecoderSpec spec_of(const RunSpec& c) {
  DecoderSpec s;
  s.vocabulary = symbols(c) + 1, s.layers = c.whole("layers"), s.heads = s.key_heads = c.whole("heads");
  s.d_model = c.whole("d_model"), s.d_ff = c.whole("d_ff"), s.loops = c.whole("loops");
  s.pool = std::max(s.pool, rows_for(sampler(c), answering::longest(c)));  // rows of a learned table
  s.encoding = c.scheme, s.temperature = c.temperature;
  return s;
}

Forward forward(const DecoderSpec& spec, const RunSpec& c, int length, double inputs) {
  const int T = slots(c, length);
  return stack(spec).forward(std::min<double>(inputs, sub_batch(T)), T, (T + 1) / 2.);
}

Load load(const RunSpec& c) {
  const DecoderSpec spec = spec_of(c);
  const double kept = stack(spec).activations(most_at_once(c, c.whole("batch")), slots(c, c.whole("train_length")),
                                              true);
  return load_of_lengths(c, parameters(spec), kept, passes,
                         [&](int n, double strings) { return forward(spec, c, n, strings); });
}

}  // namespace poslab::answering
