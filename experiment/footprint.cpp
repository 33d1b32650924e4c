#include "experiment/footprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/build.h"
#include "experiment/evaluate.h"

namespace poslab {
namespace {

// Products of one string, forward: for each slot the four projections of attention and the feed-forward layer, for each
// pair of slots a logit and a weighted value.
double flops(const Choices& c, int length) {
  const double n = slots(c, length), C = c.whole("d_model");
  return 2 * c.whole("layers") * n * ((4 + 2.0 * c.whole("widening")) * C * C + 2 * n * C);
}

// Numbers that a forward pass of B strings of T slots keeps for the backward pass, or holds at once without one.
double activations(const Choices& c, const Chosen<Scheme>& s, double B, double T, bool trains) {
  const Reads what = reads(s);
  const double matrices = s->matrices(transformer_spec(c).shape(), s.choices);
  const double C = c.whole("d_model"), F = double(c.whole("widening")) * C, H = c.whole("heads"),
               layers = trains ? c.whole("layers") : 1;
  // q, k, v, what attention gives, its projection, two sums and two norms, the wide layer and the narrow one
  double n = layers * B * T * (11 * C + F + 2 * H) + B * T * (4 * C + F);
  if (has(what, Reads::distances) && !finite(s)) n += layers * 6 * T * C;            // a row for each distance
  if (c["resample"] == "per_sequence" && has(what, Reads::distances)) n += B * T * T;  // which row a pair reads
  if (trains) n += layers * matrices * B * H * T * T;
  return n;
}

}  // namespace

double Stack::parameters() const {
  const double of_attention = 2 * d_model * d_model + 2 * d_model * key_width;
  return layers * (of_attention + (gated ? 3 : 2) * d_model * d_ff + 2 * d_model);
}

double Stack::flops(double tokens, double keys) const {
  return tokens * (2 * parameters() + layers * 4 * keys * d_model);
}

double Stack::activations(double B, double T, bool trains) const {
  // two sums and two norms, q and what the scheme makes of it, what attention gives and its projection, what the
  // network gives; keys, the same of them, values; the gate, the other half, both together; attention's statistics
  const double of_token = 9 * d_model + 3 * key_width + (gated ? 4 : 2) * d_ff + 2 * heads;
  return (trains ? layers : 1) * B * (T * of_token + (trains ? matrices : std::min(matrices, 1.)) * heads * T * T);
}

Footprint string_footprint(const Choices& c) {
  const Chosen<Scheme> s = scheme(c);
  const Reads what = reads(s);
  const TransformerSpec spec = transformer_spec(c);
  const double C = c.whole("d_model"), F = double(c.whole("widening")) * C, word = sizeof(real);
  Footprint f;
  f.parameters = (spec.symbols_in + spec.symbols_out) * C + c.whole("layers") * (4 * C * C + 2 * C * F + F + 5 * C);
  if (finite(s)) f.parameters += double(c.whole("max_position")) * C;  // a learned vector for each
  if (has(what, Reads::distances) && s->doors.find('3') != std::string::npos && !has(what, Reads::positions))
    f.parameters += c.whole("layers") * C * C;
  f.state = 4 * f.parameters * word;
  const int training = slots(c, c.whole("train_length")), testing = slots(c, c.lengths("eval_lengths").to);
  f.step = word * activations(c, s, c.whole("batch"), training, true);
  const double together = std::min(c.whole("eval_samples"), sub_batch(testing));
  f.test = word * activations(c, s, together, testing, false);
  f.of_step = fmt::format("batch {}, train_length {}", c.whole("batch"), c.whole("train_length"));
  f.of_test = fmt::format("eval_lengths to {}", c.lengths("eval_lengths").to);
  return f;
}

Work string_work(const Choices& c) {
  Work w{0, 0};
  for (int length = 1; length <= c.whole("train_length"); ++length)
    w.step += 3 * c.whole("batch") * flops(c, length) / c.whole("train_length");  // backward is twice the forward
  for (int length = c.lengths("eval_lengths").from; length <= c.lengths("eval_lengths").to; ++length)
    w.test += c.whole("eval_samples") * flops(c, length);
  return w;
}

}  // namespace poslab
