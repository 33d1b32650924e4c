#include "experiment/t5/options.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "encodings/samplers.h"
#include "tasks/retrieval/symbols.h"

namespace poslab::t5 {
namespace {

Option tasks_option() {
  Option o = Option::text("tasks", "passkey/line", "retrieval tasks, which take turns within a step");
  o.read = [](const std::string& text) -> std::any { return choose_retrievals(text); };
  return o;
}

}  // namespace

const std::vector<Chosen<Retrieval>>& retrievals(const RunSpec& c) {
  return c.value<std::vector<Chosen<Retrieval>>>("tasks");
}

const ChoiceTable& all_choices() {
  static const ChoiceTable table = choice_table(
      "t5",
      {.studied = {tasks_option(),
                   encoding_option("t5:unscaled", "the positional encoding, in encoder and decoder"),
                   positions_option(),
                   temperature_option("a factor on the logits of the encoder's self-attention")},
       .model = {{"layers", 3, {1, 256}, "layers of the encoder"},
                 {"decoder_layers", 3, {1, 256}, "layers of the decoder"},
                 {"heads", 4, {1, 1024}, "attention heads; must divide d_model"},
                 {"d_model", 128, {1, 65536}, "width"},
                 {"d_ff", 256, {1, 1 << 20}, "width of the feed-forward network"},
                 {"gated", true, "a gated feed-forward network, as in version 1.1; off: that of version 1.0"},
                 {"tied", false, "the output head is the embedding, as in version 1.0"}},
       .training = {{"steps", 4000, {1, 1e9}, "training steps"},
                    {"tokens", 4096, {1, 1 << 24}, "tokens of a step, in questions of one length"},
                    {"train_length", 128, {shortest_retrieval, 1 << 20}, "tokens of the longest trained context"},
                    {"shortest", 16, {shortest_retrieval, 1 << 20}, "tokens of the shortest; a step has one length"},
                    {"growing",
                     0.5,
                     {0, 1},
                     "share of the steps in which the longest contexts grow to train_length, slowly at first"}},
       .rates = rate_options(200, 0.2),
       .evaluation = {Option::wholes("eval_lengths", "128/512/1024/2048/4096", {shortest_retrieval, 1 << 20},
                                     "lengths to test, in tokens"),
                      {"eval_samples", 64, {1, 1 << 14}, "questions for each task and length"}}});
  return table;
}

Choices configure(const Settings& settings) {
  Choices c = configure(all_choices(), settings);
  choose_retrievals(c["tasks"]);  // an unknown one is refused elsewhere
  return c;
}

void check(const RunSpec& c) {
  const int longest_trained = c.whole("train_length"), shortest = c.whole("shortest");
  if (shortest > longest_trained)
    bad_input("shortest = {}: train_length is {}, and no context is longer; raise train_length, or lower shortest",
              shortest, longest_trained);
  refuse_aligned(c.temperature);
  refuse_class_readers(sampler(c));
  const MatmulPrecision tried = precision(c);  // throws for an impossible choice
  std::set<int> lengths = {shortest, longest_trained};
  std::set<int> tested;
  for (const int length : eval_lengths(c)) {
    if (!tested.insert(length).second)
      bad_input("eval_lengths = {}: {} comes twice; name each length once", c["eval_lengths"], length);
    lengths.insert(length);
  }
  if (const int pool = pool_of(sampler(c)); pool < *lengths.rbegin())
    bad_input("positions = {}: it has positions for {} tokens, but contexts have up to {}; {}", c["positions"], pool,
              *lengths.rbegin(), more_positions(sampler(c)));
  for (const Chosen<Retrieval>& task : retrievals(c))  // throws here if a task lacks a length
    for (const int length : lengths) {
      Rng rng(stream(0, Purpose::tokens, 0));
      draw(task, length, {}, rng);
    }
}

T5Spec spec(const RunSpec& c) {
  T5Spec s;
  s.vocabulary = symbols::vocabulary, s.layers = c.whole("layers"), s.decoder_layers = c.whole("decoder_layers");
  s.heads = c.whole("heads"), s.d_model = c.whole("d_model"), s.d_ff = c.whole("d_ff");
  if (s.d_model % s.heads)
    bad_input("heads = {}: it does not divide d_model = {}; take one that does", s.heads, s.d_model);
  s.head_dim = s.d_model / s.heads, s.start = symbols::pad;
  if (c.on("gated")) s.gate = Activation::gelu_tanh;
  s.tied = c.on("tied");
  s.encoding = c.scheme, s.temperature = c.temperature;
  s.pool = std::max(s.pool, rows_for(sampler(c), c.whole("train_length")));  // rows of a learned table
  for (const int length : eval_lengths(c)) s.pool = std::max(s.pool, rows_for(sampler(c), length));
  return s;
}

std::vector<int> eval_lengths(const Choices& c) { return c.wholes("eval_lengths"); }

}  // namespace poslab::t5
