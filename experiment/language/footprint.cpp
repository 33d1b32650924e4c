#include "experiment/footprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/language/options.h"
#include "experiment/training_step.h"
#include "tasks/language/copy_grammar.h"

namespace poslab::language {
namespace {

// The text is read later; the estimate assumes a token for each of the 256 bytes, and one for each merge.
double tokens(const RunSpec& c) {
  if (c.whole("vocabulary")) return c.whole("vocabulary");
  return c["text"] == "copy_grammar" ? CopyGrammar{}.vocabulary() : 256. + c.whole("merges");
}

// Numbers per token and layer that packed windows hold in addition: each document's queries, keys, values and states,
// and the joined results. Attention weights are fewer, because a document sees no other; how many depends on the draws.
double copies(const DecoderSpec& spec, const RunSpec& c) {
  const Stack s = stack(spec);
  const double value = spec.gau ? spec.d_ff : s.key_width;
  return packs(c) ? s.query_width + s.key_width + s.d_model + value + (spec.gau ? value : s.query_width) : 0;
}

}  // namespace

// Logits of 256 counted slots are in memory at a time.
Forward forward(const DecoderSpec& spec, const RunSpec& c, int length) {
  Forward f = stack(spec).forward(1, length, (length + 1) / 2.);
  const int tail = c.whole("eval_tail");
  f.bytes += sizeof(real) * (256. * spec.vocabulary + length * copies(spec, c));
  f.flops += 2. * (tail ? tail : length) * spec.vocabulary * spec.d_model;
  return f;
}

// The prompt is read at once, then a token at a time, or all tokens again if logits depend on their number. The cache
// keeps keys and values, and states for layers that read them.
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

Load load(const RunSpec& c) {
  const DecoderSpec spec = decoder_spec(c, int(tokens(c)));
  const Stack s = stack(spec);
  const std::vector<int> tested = eval_lengths(c);
  const double V = spec.vocabulary, B = c.whole("batch"), T = c.whole("train_length"), sets = packs(c) ? 1 : 2,
               part = most_at_once(c, c.whole("batch"));
  Load l{.parameters = parameters(spec),
         // 2 V: logits and their gradients
         .kept = s.activations(part, T, true) + part * T * (2 * V + s.layers * copies(spec, c)),
         .flops = B * (s.flops(T, (T + 1) / 2) + T * 2 * V * s.d_model),
         .of_step = fmt::format("batch = {}, train_length = {}", B, T),
         .of_test = fmt::format("eval_times to {} tokens", *std::max_element(tested.begin(), tested.end()))};
  for (const int length : tested) l.tests.push_back({sets * c.whole("eval_samples"), forward(spec, c, length)});
  return l;
}

}  // namespace poslab::language
