#include "experiment/footprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/t5/options.h"
#include "experiment/training_step.h"
#include "tasks/retrieval/symbols.h"

namespace poslab::t5 {
namespace {

Stack encoder(const T5Spec& spec) {
  return {.layers = double(spec.layers),
          .heads = double(spec.heads),
          .d_model = double(spec.d_model),
          .query_width = double(spec.heads) * spec.head_dim,
          .key_width = double(spec.heads) * spec.head_dim,
          .d_ff = double(spec.d_ff),
          .matrices = spec.encoding->pages.cost.matrices(spec.shape(false), spec.encoding.choices),
          .of_slots = spec.encoding->pages.cost.of_slots(spec.shape(false), spec.encoding.choices),
          .held = live_matrices(spec.encoding, spec.shape(false)),
          .gated = spec.gate.has_value()};
}
Stack decoder(const T5Spec& spec) {
  Stack s = encoder(spec);
  s.layers = spec.decoder_layers, s.matrices = s.of_slots = s.held = 0;
  return s;
}

// Keys and values of the encoder's states in each layer of the decoder.
double memory_width(const T5Spec& spec) { return spec.decoder_layers * 2. * spec.heads * spec.head_dim; }

}  // namespace

Forward encoded(const T5Spec& spec, double context, double questions) {
  const double together = std::clamp(std::floor(4096. / context), 1., questions);
  return encoder(spec).forward(together, context, context);
}

Forward forward(const T5Spec& spec, double context, double questions, double said) {
  const Stack d = decoder(spec);
  Forward f = encoded(spec, context, questions);
  f.bytes = std::max(f.bytes, sizeof(real) * f.inputs * context * (d.d_model + memory_width(spec)));
  f.flops += context * 2 * d.d_model * memory_width(spec) + d.flops(said, said / 2 + context) +
             said * 2 * spec.vocabulary * d.d_model;
  return f;
}

// The cache of each beam keeps its keys and values; all beams read those of the context.
Taken answer_takes(const T5Spec& spec, double context, double count, double beams) {
  const Forward one = forward(spec, context, 1, count);
  const double others = beams - 1, one_more = one.flops - encoded(spec, context, 1).flops;
  return {one.bytes + sizeof(real) * beams * (count * memory_width(spec) + 2. * spec.vocabulary),
          one.flops + others * one_more};
}

Load load(const RunSpec& c) {
  const T5Spec spec = t5::spec(c);
  const Stack e = encoder(spec), d = decoder(spec);
  const std::vector<int> tested = eval_lengths(c);
  const double C = e.d_model, V = symbols::vocabulary, longest = c.whole("train_length"),
               samples = c.whole("eval_samples"), T = (c.whole("shortest") + longest) / 2, tokens = c.whole("tokens"),
               // questions of the longest step that are in memory together
               most = most_at_once(c, std::max(1, c.whole("tokens") / c.whole("train_length")));
  Load l{.parameters = e.parameters() + d.parameters() + d.layers * (2 * C * e.key_width + 2 * C * C + C) +
                       (spec.tied ? 1 : 2) * V * C + 2 * C,
         .kept = e.activations(most, longest, true) + most * longest * memory_width(spec) +
                 d.activations(most, usual_answer, true),
         .flops = std::max(1., tokens / T) * forward(spec, T, 1).flops,
         .of_step = fmt::format("tokens = {}", tokens),
         .of_test = fmt::format("eval_lengths to {}", *std::max_element(tested.begin(), tested.end()))};
  for (const int length : tested)
    l.tests.push_back({double(retrievals(c).size()) * samples, forward(spec, length, samples)});
  return l;
}

}  // namespace poslab::t5
