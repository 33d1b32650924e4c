#include "experiment/footprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/kernels.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/kind.h"
#include "experiment/training_step.h"
#include "tasks/task.h"

namespace poslab {
namespace {

// The mean number of keys that a query sees.
double keys(const RunSpec& c, double slots) { return c.on("causal") ? (slots + 1) / 2 : slots; }

// Products of one string, forward: for each slot the four projections of attention and the feed-forward layer, for each
// pair of slots a logit and a weighted value.
// outputs: slots whose logits are wanted. In the last layer the other slots only give keys and values.
double flops(const RunSpec& c, int length, double outputs) {
  const double n = slots(c, length), C = c.whole("d_model"),
               of_query = 2 * ((2 + 2.0 * c.whole("ffn_multiplier")) * C * C + 2 * keys(c, n) * C), of_key = 4 * C * C;
  return blocks(c, length) * n * of_key + ((blocks(c, length) - 1) * n + outputs) * of_query;
}
double answer_slots(const RunSpec& c, int length) { return task(c["task"]).output_length(length); }

// Numbers for all pairs of slots that exist at once without a gradient: of one sequence, or of as many as stay below
// 2^18 (encodings/explicit_weights.cpp).
double pairs(double held, double B, double heads, double T) {
  const double one = heads * T * T;
  return held * one * std::clamp(std::floor((1 << 18) / one), 1., B);
}

// Numbers that a forward pass of B strings of this length keeps for the backward pass, or holds at once without one.
double activations(const RunSpec& c, double B, int length, bool trains) {
  const Chosen<Scheme>& s = c.scheme;
  const Reads what = reads(s);
  const double matrices = s->pages.cost.matrices(transformer_spec(c).shape(), s.choices);
  const double T = slots(c, length), C = c.whole("d_model"), F = double(c.whole("ffn_multiplier")) * C,
               H = c.whole("heads"), layers = trains ? blocks(c, length) : 1;
  // q, k, v, attention's output, its projection, two sums and two norms, the wide layer and the narrow one; without a
  // gradient only attention's or only the network's exist at once
  double n = trains
                 ? layers * B * T * (11 * C + F + 2 * H) + B * T * (4 * C + F)
                 : B * T * (std::max(12 * C, 7 * C + F) + 2 * H) +
                       pairs(live_matrices(s, transformer_spec(c).shape()), B, H, T);
  if (trains) n += (layers / c.whole("layers") - 1) * B * T * C;   // each further loop adds the embedding
  if (has(what, Reads::distances) && !finite(s)) n += layers * 6 * T * C;            // a row for each distance
  if (c["resample"] == "per_sequence" && has(what, Reads::distances)) n += B * T * T;  // the row of each pair
  if (trains) n += layers * B * H * T * (matrices * T + s->pages.cost.of_slots(transformer_spec(c).shape(), s.choices));
  return n;
}

}  // namespace

void Taken::then(const Taken& next) { bytes = std::max(bytes, next.bytes), flops += next.flops; }

Taken Forward::seen(double all) const {
  return {bytes + sizeof(real) * inputs * rows * statistics_per_row, all * (flops + logits)};
}

double Stack::parameters() const {
  const double of_attention = 2 * d_model * (query_width + key_width);
  return layers * (of_attention + (gated ? 3 : 2) * d_model * d_ff + 2 * d_model);
}

double Stack::flops(double tokens, double keys) const {
  return tokens * (2 * parameters() + layers * 4 * keys * query_width);
}

double Stack::activations(double B, double T, bool trains) const {
  // two sums and two norms, q before and after the scheme, the output of attention and its projection, the network's
  // output; keys, before and after too, values; the gate, the other half, both together; attention's statistics
  const double of_attention = 5 * d_model + 3 * query_width + 3 * key_width + 2 * heads,
               of_network = (gated ? 4 : 2) * d_ff;
  if (trains) return layers * B * T * (d_model + of_attention + of_network + heads * (matrices * T + of_slots));
  return B * T * std::max(of_attention, 5 * d_model + of_network * 3 / 4) + pairs(held, B, heads, T);
}

Forward Stack::forward(double B, double T, double keys) const {
  return {.inputs = B,
          .slots = T,
          .bytes = sizeof(real) * activations(B, T, false),
          .flops = flops(T, keys),
          .logits = layers * 2 * T * keys * query_width,
          .rows = layers * heads * T,
          .layers = layers,
          .heads = heads,
          .d_model = d_model};
}

Forward string_forward(const RunSpec& c, int length, double inputs, bool all_slots) {
  const double T = slots(c, length), together = std::min<double>(inputs, sub_batch(slots(c, length))),
               layers = blocks(c, length), heads = c.whole("heads"), C = c.whole("d_model");
  return {.inputs = together,
          .slots = T,
          .bytes = sizeof(real) * activations(c, together, length, false),
          .flops = flops(c, length, all_slots ? T : answer_slots(c, length)),
          .logits = 2 * layers * T * keys(c, T) * C,
          .rows = layers * heads * T,
          .layers = layers,
          .heads = heads,
          .d_model = C};
}

// A gated attention unit has one head, makes keys from the queries by other factors, and has no network besides the
// attention.
Stack stack(const DecoderSpec& spec) {
  const int head = spec.head_dim ? spec.head_dim : spec.d_model / spec.heads;
  return {.layers = double(spec.blocks()),
          .heads = double(spec.heads),
          .d_model = double(spec.d_model),
          .query_width = double(spec.heads) * head,
          .key_width = double(spec.key_heads) * head,
          .d_ff = double(spec.d_ff),
          .matrices = spec.encoding->pages.cost.matrices(spec.shape(), spec.encoding.choices),
          .of_slots = spec.encoding->pages.cost.of_slots(spec.shape(), spec.encoding.choices),
          .held = live_matrices(spec.encoding, spec.shape())};
}

double parameters(const DecoderSpec& spec) {
  return stack(spec).parameters() / spec.loops + (spec.tied ? 1 : 2) * double(spec.vocabulary) * spec.d_model +
         spec.d_model;
}

Load load_of_lengths(const RunSpec& c, double parameters, double kept, double passes,
                     const std::function<Forward(int length, double strings)>& forward) {
  const Lengths tested = c.lengths("eval_lengths");
  const int trained = c.whole("train_length"), batch = c.whole("batch"), samples = c.whole("eval_samples");
  Load l{.parameters = parameters,
         .kept = kept,
         .of_step = fmt::format("batch = {}, train_length = {}", batch, trained),
         .of_test = fmt::format("eval_lengths to {}", tested.to)};
  for (int n = 1; n <= trained; ++n) l.flops += batch * forward(n, 1).flops / trained;
  for (int n = tested.from; n <= tested.to; ++n) l.tests.push_back({passes * samples, forward(n, samples)});
  return l;
}

Load string_load(const RunSpec& c) {
  const Chosen<Scheme>& s = c.scheme;
  const Reads what = reads(s);
  const TransformerSpec spec = transformer_spec(c);
  const double C = c.whole("d_model"), F = double(c.whole("ffn_multiplier")) * C;
  double parameters =
      (spec.symbols_in + spec.symbols_out) * C + c.whole("layers") * (4 * C * C + 2 * C * F + F + 5 * C);
  if (finite(s)) parameters += double(c.whole("max_position")) * C;  // a learned vector for each
  if (has(what, Reads::distances) && s->pages.doors.find('3') != std::string::npos && !has(what, Reads::positions))
    parameters += c.whole("layers") * C * C;
  const double kept = activations(c, most_at_once(c, c.whole("batch")), c.whole("train_length"), true);
  return load_of_lengths(c, parameters, kept, 1, [&](int n, double strings) { return string_forward(c, n, strings); });
}

Footprint footprint(const Load& l) {
  const auto shorter = [](const Load::Test& a, const Load::Test& b) { return a.each.slots < b.each.slots; };
  const Load::Test& longest = *std::max_element(l.tests.begin(), l.tests.end(), shorter);
  const double word = sizeof(real);
  return {l.parameters, 4 * word * l.parameters, word * l.kept, longest.each.bytes, l.of_step, l.of_test};
}
Footprint footprint(const RunSpec& c) { return footprint(kind_of(c).load(c)); }

Work work(const RunSpec& c) {
  const Load l = kind_of(c).load(c);
  Work w{3 * l.flops, 0};
  for (const Load::Test& test : l.tests) w.test += test.inputs * test.each.flops;
  return w;
}

}  // namespace poslab
