#include "experiment/build.h"

#include <algorithm>

#include "core/ascii.h"
#include "core/choices.h"
#include "tasks/task.h"

namespace poslab {

const OtherNames words_for_devices("cuda", {"gpu"}), words_for_engines("openblas", {"blas"});

const std::vector<Word<Device>>& all_devices() {
  static const std::vector<Word<Device>> list = {{"cpu", Device::cpu}, {"cuda", Device::cuda}};
  return list;
}

const std::vector<Word<Resample>>& all_resamplings() {
  static const std::vector<Word<Resample>> list = {{"per_forward", Resample::per_forward},
                                                   {"per_layer", Resample::per_layer},
                                                   {"per_sequence", Resample::per_sequence}};
  return list;
}

Device device(const Choices& c) { return find("device", all_devices(), c["device"]).value; }

std::optional<int> loops(const Choices& c) {
  if (!c.has("loops")) return 1;
  if (c["loops"] == "length") return {};
  return c.whole("loops");
}

int blocks(const Choices& c, int symbols) { return c.whole("layers") * loops(c).value_or(symbols); }

void check_loops(const Choices& c, int symbols) {
  if (const int all = blocks(c, symbols); all > 256)
    bad_input("loops = {} of layers = {} are {} blocks{}; take at most 256", c["loops"], c["layers"], all,
              loops(c) ? "" : fmt::format(" on {} symbols", symbols));
}

TransformerSpec transformer_spec(const RunSpec& c) {
  const Task& what = task(c["task"]);
  TransformerSpec s;
  s.symbols_in = what.symbols_in + 1;        // one more for "empty", in the output slots (spec B.1)
  s.symbols_out = what.symbols_out;
  s.layers = c.whole("layers"), s.heads = c.whole("heads"), s.d_model = c.whole("d_model"),
  s.ffn_multiplier = c.whole("ffn_multiplier");
  s.loops = loops(c), s.causal = c.on("causal");
  s.pool = c.whole("max_position"), s.first = c.whole("first_position");
  s.encoding = c.scheme, s.temperature = c.temperature;
  return s;
}

PositionSample draw(const RunSpec& c, const Chosen<Sampler>& sampler, Stream stream, int sequences, int time,
                    const Ids& tokens) {
  const Ids classes = sampler->reads_classes && tokens ? token_classes(task(c["task"]), tokens) : Ids();
  return {sampler, find("resample", all_resamplings(), c["resample"]).value, stream, sequences, time, classes};
}

Ids token_classes(const Task& task, const Ids& tokens) {
  std::vector<int> of_symbol, all;
  for (const std::string& word : task.alphabet)
    of_symbol.push_back(int(word.size() == 1 && ascii::is_digit(word[0]) ? TokenClass::digit : TokenClass::sign));
  of_symbol.push_back(int(TokenClass::empty));
  for (int64_t i = 0; i < tokens.size(); ++i) all.push_back(of_symbol.at(size_t(tokens[i])));
  return {tokens.shape(), std::move(all)};
}

int room(const RunSpec& c, const Chosen<Sampler>& sampler) {
  const int pool = pool_of(sampler);
  return finite(c.scheme) && c.has("max_position") ? std::min(c.whole("max_position"), pool) : pool;
}

int most_slots(const Choices& c, const Lengths& lengths) {
  int most = 0;
  for (int length = lengths.from; length <= lengths.to; ++length) most = std::max(most, slots(c, length));
  return most;
}

int longest(const Choices& c) {
  return std::max(most_slots(c, {1, c.whole("train_length")}), most_slots(c, c.lengths("eval_lengths")));
}

}  // namespace poslab
