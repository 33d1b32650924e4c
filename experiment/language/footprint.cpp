#include "experiment/footprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/language/options.h"

namespace poslab::language {
namespace {

// The text is read later: it has a token for each byte, and those that are merged from them.
double tokens(const Choices& c) { return 256. + c.whole("merges"); }

// A gated attention unit has one head, keys that are queries by other factors, and its network is the attention.
Stack stack(const Choices& c) {
  const DecoderSpec spec = decoder_spec(c, int(tokens(c)));
  return {.layers = double(spec.layers),
          .heads = double(spec.heads),
          .d_model = double(spec.d_model),
          .key_width = double(spec.key_heads) * spec.d_model / spec.heads,
          .d_ff = double(spec.d_ff),
          .matrices = scheme(c)->matrices(spec.shape(), scheme(c).choices)};
}

int longest_test(const Choices& c) {
  const std::vector<int> lengths = eval_lengths(c);
  return *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace

Footprint footprint(const Choices& c) {
  const Stack s = stack(c);
  const double V = tokens(c), B = c.whole("batch"), T = c.whole("train_length"), word = sizeof(real);
  Footprint f;
  f.parameters = s.parameters() + (c.on("tied") ? 1 : 2) * V * s.d_model + s.d_model;
  f.state = 4 * f.parameters * word;
  f.step = word * (s.activations(B, T, true) + B * T * 2 * V);  // logits and their gradients
  f.test = word * (s.activations(1, longest_test(c), false) + 256 * V);
  f.of_step = fmt::format("batch {}, train_length {}", B, T);
  f.of_test = fmt::format("eval_times to {} tokens", longest_test(c));
  return f;
}

poslab::Work work(const Choices& c) {
  const Stack s = stack(c);
  const double V = tokens(c), T = c.whole("train_length");
  const auto window = [&](double n) { return s.flops(n, n / 2) + n * 2 * V * s.d_model; };
  poslab::Work w{3 * c.whole("batch") * window(T), 0};
  for (const int length : eval_lengths(c)) w.test += 2 * c.whole("eval_samples") * window(length);  // two sets
  return w;
}

}  // namespace poslab::language
