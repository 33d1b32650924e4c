#include "experiment/footprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/t5/options.h"
#include "tasks/retrieval/symbols.h"

namespace poslab::t5 {
namespace {

constexpr double answer = 8;  // symbols, about; contexts are much longer

Stack encoder(const Choices& c) {
  const T5Spec spec = t5::spec(c);
  return {.layers = double(spec.layers),
          .heads = double(spec.heads),
          .d_model = double(spec.d_model),
          .key_width = double(spec.heads) * spec.head_dim,
          .d_ff = double(spec.d_ff),
          .matrices = scheme(c)->matrices(spec.shape(false), scheme(c).choices),
          .gated = spec.gate.has_value()};
}
Stack decoder(const Choices& c) {
  Stack s = encoder(c);
  s.layers = c.whole("decoder_layers"), s.matrices = 0;
  return s;
}

// Keys and values of the encoder's states, in each layer of the decoder.
double memory_width(const Choices& c) { return c.whole("decoder_layers") * 2 * encoder(c).key_width; }

double pass(const Choices& c, double context) {
  const Stack d = decoder(c);
  return encoder(c).flops(context, context) + context * 2 * d.d_model * memory_width(c) +
         d.flops(answer, answer + context);
}

int longest_test(const Choices& c) {
  const std::vector<int> lengths = eval_lengths(c);
  return *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace

Footprint footprint(const Choices& c) {
  const Stack e = encoder(c), d = decoder(c);
  const double C = e.d_model, V = symbols::vocabulary, word = sizeof(real), T = c.whole("train_length"),
               questions = std::max(1., c.whole("tokens") / T), longest = longest_test(c),
               together = std::clamp(4096. / longest, 1., double(c.whole("eval_samples")));
  Footprint f;
  f.parameters = e.parameters() + d.parameters() + d.layers * (2 * C * e.key_width + 2 * C * C + C) +
                 (c.on("tied") ? 1 : 2) * V * C + 2 * C;
  f.state = 4 * f.parameters * word;
  f.step = word * (e.activations(questions, T, true) + questions * T * memory_width(c) +
                   d.activations(questions, answer, true));
  f.test = word * (e.activations(together, longest, false) + together * longest * memory_width(c));
  f.of_step = fmt::format("tokens {}", c.whole("tokens"));
  f.of_test = fmt::format("eval_lengths to {}", longest_test(c));
  return f;
}

poslab::Work work(const Choices& c) {
  const double T = (c.whole("shortest") + c.whole("train_length")) / 2.;
  poslab::Work w{3 * std::max(1., c.whole("tokens") / T) * pass(c, T), 0};
  for (const int length : eval_lengths(c))
    w.test += double(tasks(c).size()) * c.whole("eval_samples") * pass(c, length);
  return w;
}

}  // namespace poslab::t5
