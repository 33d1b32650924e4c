// What a decoder that answers is made of, and what it takes, from the choices alone.
#include <algorithm>

#include "experiment/answering.h"
#include "experiment/evaluate.h"

namespace poslab::answering {

int longest(const Choices& c) {
  return std::max(slots(c, c.whole("train_length")), slots(c, c.lengths("eval_lengths").to));
}

int symbols(const RunSpec& c) {
  const Task& t = task(c["task"]);
  return std::max(t.symbols_in, t.symbols_out);  // input and answer share theirs; the separator comes after them
}

DecoderSpec spec_of(const RunSpec& c) {
  DecoderSpec s;
  s.vocabulary = symbols(c) + 1, s.layers = c.whole("layers"), s.heads = s.key_heads = c.whole("heads");
  s.d_model = c.whole("d_model"), s.d_ff = c.whole("d_ff");
  s.pool = std::max(s.pool, rows_for(sampler(c), answering::longest(c)));  // rows of a learned table
  s.encoding = c.scheme, s.temperature = c.temperature;
  return s;
}

namespace {

Stack stack(const RunSpec& c) {
  const double C = c.whole("d_model");
  return {.layers = double(c.whole("layers")),
          .heads = double(c.whole("heads")),
          .d_model = C,
          .query_width = C,
          .key_width = C,
          .d_ff = double(c.whole("d_ff")),
          .matrices = c.scheme->pages.cost.matrices(spec_of(c).shape(), c.scheme.choices),
          .of_slots = c.scheme->pages.cost.of_slots(spec_of(c).shape(), c.scheme.choices),
          .held = held(c.scheme, spec_of(c).shape())};
}

}  // namespace

Forward forward(const RunSpec& c, int length, double inputs) {
  const int T = slots(c, length);
  return stack(c).forward(std::min<double>(inputs, sub_batch(T)), T, (T + 1) / 2.);
}

Footprint footprint(const RunSpec& c) {
  const Stack s = stack(c);
  const double V = symbols(c) + 1, word = sizeof(real);
  Footprint f;
  f.parameters = s.parameters() + 2 * V * s.d_model + s.d_model;
  f.state = 4 * f.parameters * word;
  f.step = word * s.activations(c.whole("batch"), slots(c, c.whole("train_length")), true);
  f.test = forward(c, c.lengths("eval_lengths").to, c.whole("eval_samples")).bytes;
  f.of_step = fmt::format("batch = {}, train_length = {}", c.whole("batch"), c.whole("train_length"));
  f.of_test = fmt::format("eval_lengths to {}", c.lengths("eval_lengths").to);
  return f;
}

poslab::Work work(const RunSpec& c) {
  poslab::Work w{0, 0};
  for (int length = 1; length <= c.whole("train_length"); ++length)
    w.step += 3 * c.whole("batch") * forward(c, length, 1).flops / c.whole("train_length");
  for (int length = c.lengths("eval_lengths").from; length <= c.lengths("eval_lengths").to; ++length)
    w.test += passes * c.whole("eval_samples") * forward(c, length, 1).flops;
  return w;
}

}  // namespace poslab::answering
