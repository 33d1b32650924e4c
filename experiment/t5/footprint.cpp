#include "experiment/footprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/t5/options.h"
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
          .held = held(spec.encoding, spec.shape(false)),
          .gated = spec.gate.has_value()};
}
Stack decoder(const T5Spec& spec) {
  Stack s = encoder(spec);
  s.layers = spec.decoder_layers, s.matrices = s.of_slots = s.held = 0;
  return s;
}

// Keys and values of the encoder's states, in each layer of the decoder.
double memory_width(const T5Spec& spec) { return spec.decoder_layers * 2. * spec.heads * spec.head_dim; }

int longest_test(const RunSpec& c) {
  const std::vector<int> lengths = eval_lengths(c);
  return *std::max_element(lengths.begin(), lengths.end());
}

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

// The cache of each beam keeps its keys and values; those of the context are read by all.
Taken answer_takes(const T5Spec& spec, double context, double count, double beams) {
  const Forward one = forward(spec, context, 1, count);
  const double others = beams - 1, one_more = one.flops - encoded(spec, context, 1).flops;
  return {one.bytes + sizeof(real) * beams * (count * memory_width(spec) + 2. * spec.vocabulary),
          one.flops + others * one_more};
}

Footprint footprint(const RunSpec& c) {
  const T5Spec spec = t5::spec(c);
  const Stack e = encoder(spec), d = decoder(spec);
  const double C = e.d_model, V = symbols::vocabulary, word = sizeof(real), T = c.whole("train_length"),
               questions = std::max(1., c.whole("tokens") / T);
  Footprint f;
  f.parameters = e.parameters() + d.parameters() + d.layers * (2 * C * e.key_width + 2 * C * C + C) +
                 (c.on("tied") ? 1 : 2) * V * C + 2 * C;
  f.state = 4 * f.parameters * word;
  f.step = word * (e.activations(questions, T, true) + questions * T * memory_width(spec) +
                   d.activations(questions, usual_answer, true));
  f.test = forward(spec, longest_test(c), c.whole("eval_samples"), usual_answer).bytes;
  f.of_step = fmt::format("tokens = {}", c.whole("tokens"));
  f.of_test = fmt::format("eval_lengths to {}", longest_test(c));
  return f;
}

poslab::Work work(const RunSpec& c) {
  const T5Spec spec = t5::spec(c);
  const double T = (c.whole("shortest") + c.whole("train_length")) / 2., each = c.whole("eval_samples");
  poslab::Work w{3 * std::max(1., c.whole("tokens") / T) * forward(spec, T, 1, usual_answer).flops, 0};
  for (const int length : eval_lengths(c))
    w.test += double(c.retrievals.size()) * each * forward(spec, length, each, usual_answer).flops;
  return w;
}

}  // namespace poslab::t5
