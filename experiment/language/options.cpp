#include "experiment/language/options.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "encodings/samplers.h"
#include "experiment/build.h"
#include "experiment/config.h"

namespace poslab::language {

const ChoiceTable& all_choices() {
  static const ChoiceTable table = choice_table(
      "lm",
      {.studied = {Option::text("text", "",
                               "a file or a folder; copy_grammar: a made-up language; nothing: the compiler's headers"),
                   {"merges", 0, {0, 65536}, "tokens that byte pair encoding adds to the 256 bytes"},
                   encoding_option("rope", "the positional encoding"),
                   positions_option(),
                   temperature_option("a factor on all logits of a query, by the number of keys")},
       .model = {{"unit", {"llama", "gau"}, "what a layer is: a LLaMA block, or a gated attention unit"},
                 {"layers", 6, {1, 256}, "number of layers"},
                 {"heads", 8, {1, 1024}, "attention heads; must divide d_model"},
                 {"key_heads", 8, {1, 1024}, "heads of keys and values; must divide heads"},
                 {"d_model", 256, {1, 65536}, "width"},
                 {"d_ff", 688, {1, 1 << 20}, "width of the feed-forward network, or of the values of a unit"},
                 loops_option(),
                 {"biases", false, "biases of queries, keys and values, as in Qwen 2"},
                 {"tied", false, "the output head is the embedding"},
                 {"epsilon", {"1e-5", "1e-6"}, "epsilon of RMSNorm"},
                 {"vocabulary", 0, {0, 1 << 24}, "rows of the embedding; 0: as many as there are tokens"}},
       .training = {{"steps", 3000, {1, 1e9}, "training steps"},
                    {"batch", 16, {1, 1 << 16}, "windows in a step"},
                    {"train_length", 256, {2, 1 << 20}, "tokens in a window"},
                    {"repeats", 0., {0, 1}, "share of windows that repeat their beginning over and over"},
                    {"documents", {"whole", "packed"},
                     "a window has one file; packed: several documents, each by itself; tests have no repeats"},
                    Option::text(
                        "separator", "",
                        "the text between packed documents of a file, \\n: a new line; nothing: each file is one")},
       .rates = rate_options(100, 0),
       .evaluation =
           {Option::numbers("eval_times", "1/2/4/8/16/32", {1, 1024}, "lengths to test, in multiples of train_length"),
            {"eval_samples", 16, {1, 1 << 14}, "windows for each length and test set"},
            test_positions_option(),
            {"eval_tail", 0, {0, 1 << 20}, "count only this many last tokens, the same at all lengths; 0: all"}}});
  return table;
}

Choices configure(const Settings& settings) {
  Settings all = settings;
  const auto says = [&](const char* name) {
    return std::find_if(all.rbegin(), all.rend(), [&](const auto& s) { return s.first == name; });
  };
  if (const auto heads = says("heads"); heads != all.rend() && says("key_heads") == all.rend())
    all.emplace_back("key_heads", std::string(heads->second));
  return configure(all_choices(), all);
}

DecoderSpec decoder_spec(const RunSpec& c, int vocabulary) {
  DecoderSpec s;
  const int rows = c.whole("vocabulary");
  if (rows && rows < vocabulary)
    bad_input("vocabulary = {}: the tokenizer has {} tokens; give as many or more, or leave it out", rows, vocabulary);
  s.vocabulary = rows ? rows : vocabulary, s.epsilon = c["epsilon"] == "1e-6" ? 1e-6 : 1e-5;
  s.layers = c.whole("layers"), s.heads = c.whole("heads");
  s.key_heads = c.whole("key_heads"), s.d_model = c.whole("d_model"), s.d_ff = c.whole("d_ff");
  s.loops = c.whole("loops"), s.biases = c.on("biases"), s.tied = c.on("tied");
  if (c["unit"] == "gau") s.heads = s.key_heads = 1, s.gau = std::min(128, s.d_model);
  s.encoding = c.scheme, s.temperature = c.temperature;
  s.pool = std::max(s.pool, rows_for(sampler(c), c.whole("train_length")));  // rows of a learned table
  for (const int length : eval_lengths(c)) s.pool = std::max(s.pool, rows_for(test_sampler(c), length));
  return s;
}

// The decoder itself checks the sizes of the model.
void check(const RunSpec& c) {
  check_loops(c), refuse_aligned(c.temperature);
  const MatmulPrecision tried = precision(c);  // throws if the device does not support it
  const Chosen<Sampler> drawn = sampler(c), tested = test_sampler(c);
  refuse_class_readers(drawn), refuse_class_readers(tested);
  const int tail = c.whole("eval_tail");
  int longest = c.whole("train_length");
  std::set<int> lengths;
  for (const int length : eval_lengths(c)) {
    if (!lengths.insert(length).second)
      bad_input("eval_times = {}: {} tokens come twice; name each length once", c["eval_times"], length);
    longest = std::max(longest, length);
    if (tail > length)
      bad_input("eval_tail = {}: windows have only {} tokens; give at most that, or leave {} out of eval_times",
                tail, length, double(length) / c.whole("train_length"));
    if (length < parts)
      bad_input("eval_times = {}: windows of {} tokens are too short for {} parts of the loss; test {} tokens or more",
                c["eval_times"], length, parts, parts);
  }
  if (tail && tail < parts)
    bad_input("eval_tail = {}: too few tokens for {} parts of the loss; count {} or more", tail, parts,
              parts);
  if (tail && packs(c))
    bad_input("eval_tail = {}: packed windows of different lengths have different texts before their last tokens; "
              "leave it out", tail);
  const char* at_test = c["test_positions"] == "same" ? "positions" : "test_positions";
  for (const auto& [option, s, most] :
       {std::tuple{"positions", &drawn, c.whole("train_length")}, {at_test, &tested, longest}})
    if (const int pool = pool_of(*s); pool < most)
      bad_input("{} = {}: it has positions for {} tokens, but windows have up to {}; {}", option, s->spelled(), pool,
                most, more_positions(*s));
  if (c["text"] == "copy_grammar" && c.whole("merges"))
    bad_input("merges = {}: copy_grammar has tokens of its own; leave merges at 0", c["merges"]);
}

std::vector<int> eval_lengths(const Choices& c) {
  std::vector<int> all;
  for (const double times : c.numbers("eval_times")) all.push_back(int(std::lround(times * c.whole("train_length"))));
  return all;
}

}  // namespace poslab::language
