#include "experiment/footprint.h"

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

Footprint footprint(const Choices& c) {
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
  return f;
}

Work work(const Choices& c) {
  Work w{0, 0};
  for (int length = 1; length <= c.whole("train_length"); ++length)
    w.step += 3 * c.whole("batch") * flops(c, length) / c.whole("train_length");  // backward is twice the forward
  for (int length = c.lengths("eval_lengths").from; length <= c.lengths("eval_lengths").to; ++length)
    w.test += c.whole("eval_samples") * flops(c, length);
  return w;
}

}  // namespace poslab
