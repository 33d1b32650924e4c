#include "experiment/build.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "tasks/task.h"

namespace poslab {
namespace {

// The enums list their values in the order in which the options name them.
template <class Enum>
Enum value_of(const char* name, const std::string& word) {
  const std::vector<std::string> names = option(name).names();
  return Enum(std::find(names.begin(), names.end(), word) - names.begin());
}

}  // namespace

Device device(const Config& c) { return value_of<Device>("device", c.device); }

TransformerSpec transformer_spec(const Config& c) {
  const Task& what = task(c.task);
  TransformerSpec s;
  s.symbols_in = what.symbols_in() + 1;        // and "empty", at the output slots (spec B.1)
  s.symbols_out = what.symbols_out();
  s.layers = c.layers, s.heads = c.heads, s.d_model = c.d_model, s.ffn_multiplier = c.widening;
  s.causal = c.causal;
  s.encoding.name = c.encoding;
  s.encoding.layers = c.layers, s.encoding.heads = c.heads, s.encoding.d_model = c.d_model;
  s.encoding.max_position = c.max_position, s.encoding.first = c.first_position;
  s.encoding.mode = value_of<RelativeMode>("relative_mode", c.relative_mode);
  s.encoding.symmetric = c.alibi_symmetric;
  s.encoding.pairing = value_of<Pairing>("rope_pairing", c.rope_pairing);
  return s;
}

// `randomized` is a table of offsets where the scheme reads one (spec A.2): sampler_for knows.
const Sampler& train_sampler(const Config& c) { return sampler_for(transformer_spec(c).encoding, c.positions); }
const Sampler& test_sampler(const Config& c) {
  return sampler_for(transformer_spec(c).encoding, c.test_positions == "same" ? c.positions : c.test_positions);
}
SamplerSpec sampler_spec(const Config& c) { return {c.max_position, c.first_position, !c.unsorted}; }

PositionSample draw(const Config& c, const Sampler& sampler, Stream stream, int sequences, int time) {
  return {sampler, sampler_spec(c), value_of<Resample>("resample", c.resample), stream, sequences, time};
}

int slots(const Config& c, int length) { return length + task(c.task).output_length(length); }

int room(const Config& c, const Sampler& sampler) {
  const bool table = c.encoding == "learned", pool = sampler.name != "sequential";
  return table || pool ? c.max_position : std::numeric_limits<int>::max();
}

int longest(const Config& c) {
  int most = 0;
  for (int length = 1; length <= c.train_length; ++length) most = std::max(most, slots(c, length));
  for (int length = c.eval_lengths.from; length <= c.eval_lengths.to; ++length) most = std::max(most, slots(c, length));
  return most;
}

}  // namespace poslab
