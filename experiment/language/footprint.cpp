#include "experiment/footprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/language/options.h"
#include "tasks/language/copy_grammar.h"

namespace poslab::language {
namespace {

// The text is read later: it has a token for each byte, and those that are merged from them.
double tokens(const RunSpec& c) {
  return c["text"] == "copy_grammar" ? CopyGrammar{}.vocabulary() : 256. + c.whole("merges");
}

// A gated attention unit has one head, keys that are queries by other factors, and its network is the attention.
Stack stack(const DecoderSpec& spec) {
  const int head = spec.head_dim ? spec.head_dim : spec.d_model / spec.heads;
  return {.layers = double(spec.layers),
          .heads = double(spec.heads),
          .d_model = double(spec.d_model),
          .query_width = double(spec.heads) * head,
          .key_width = double(spec.key_heads) * head,
          .d_ff = double(spec.d_ff),
          .matrices = spec.encoding->pages.cost.matrices(spec.shape(), spec.encoding.choices),
          .of_slots = spec.encoding->pages.cost.of_slots(spec.shape(), spec.encoding.choices),
          .held = held(spec.encoding, spec.shape())};
}
DecoderSpec spec_of(const RunSpec& c) { return decoder_spec(c, int(tokens(c))); }

int longest_test(const RunSpec& c) {
  const std::vector<int> lengths = eval_lengths(c);
  return *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace

// Logits of 256 slots are in memory at a time, of those that are counted.
Forward forward(const DecoderSpec& spec, const RunSpec& c, int length) {
  Forward f = stack(spec).forward(1, length, (length + 1) / 2.);
  const int tail = c.whole("eval_tail");
  f.bytes += sizeof(real) * 256. * spec.vocabulary;
  f.flops += 2. * (tail ? tail : length) * spec.vocabulary * spec.d_model;
  return f;
}

// The prompt at once, then a token at a time, or all of them again where logits depend on how many there are. The cache
// keeps keys and values; layers that read states keep those, too.
Taken writing_takes(const DecoderSpec& spec, double prompt, double count) {
  const Stack s = stack(spec);
  const double longest = prompt + count, middle = prompt + count / 2;
  const bool again = spec.encoding->laws(spec.shape(), spec.encoding.choices).by_length;
  const Forward first = s.forward(1, again ? longest : prompt, (prompt + 1) / 2);
  const double of_token = again ? s.flops(middle, middle / 2) : s.flops(1, middle),
               value = spec.gau ? spec.d_ff : s.key_width;
  return {first.bytes + sizeof(real) * (longest * s.layers * (s.key_width + value) + spec.vocabulary),
          s.flops(prompt, prompt / 2) + count * (of_token + 2. * spec.vocabulary * spec.d_model)};
}

Footprint footprint(const RunSpec& c) {
  const Stack s = stack(spec_of(c));
  const double V = tokens(c), B = c.whole("batch"), T = c.whole("train_length"), word = sizeof(real);
  Footprint f;
  f.parameters = s.parameters() + (c.on("tied") ? 1 : 2) * V * s.d_model + s.d_model;
  f.state = 4 * f.parameters * word;
  f.step = word * (s.activations(B, T, true) + B * T * 2 * V);  // logits and their gradients
  f.test = forward(spec_of(c), c, longest_test(c)).bytes;
  f.of_step = fmt::format("batch = {}, train_length = {}", B, T);
  f.of_test = fmt::format("eval_times to {} tokens", longest_test(c));
  return f;
}

poslab::Work work(const RunSpec& c) {
  const Stack s = stack(spec_of(c));
  const double V = tokens(c), T = c.whole("train_length");
  poslab::Work w{3 * c.whole("batch") * (s.flops(T, (T + 1) / 2) + T * 2 * V * s.d_model), 0};
  for (const int length : eval_lengths(c))
    w.test += 2 * c.whole("eval_samples") * forward(spec_of(c), c, length).flops;  // two sets
  return w;
}

}  // namespace poslab::language
