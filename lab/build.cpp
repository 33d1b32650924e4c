#include "lab/build.h"

#include <algorithm>

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

// `randomized` draws a position for each token. Where a scheme reads one random table of offsets instead (spec A.2: the
// released relative code; ALiBi in the paper's text and in the code), the positions to draw are that table.
std::string sampler_name(const Config& c, const std::string& positions) {
  if (positions != "randomized") return positions;
  const bool relative =
      c.encoding == "relative" && (c.relative_mode == "offset_table" || c.relative_mode == "released");
  const bool alibi = c.encoding == "alibi" && c.relative_mode != "differences";
  return relative || alibi ? "randomized_offsets" : positions;
}

}  // namespace

TransformerSpec transformer_spec(const Config& c) {
  const Task& what = task(c.task);
  TransformerSpec s;
  s.symbols_in = what.symbols_in() + 1;  // and "empty", at the output slots (spec B.1)
  s.symbols_out = what.symbols_out();
  s.layers = c.layers, s.heads = c.heads, s.d_model = c.d_model, s.widening = c.widening;
  s.mask = c.causal ? Mask::causal : Mask::none;
  s.encoding.name = c.encoding;
  s.encoding.layers = c.layers, s.encoding.heads = c.heads, s.encoding.d_model = c.d_model;
  s.encoding.max_position = c.max_position + c.first_position;  // rows 0 .. last position of the pool
  s.encoding.mode = value_of<RelativeMode>("relative_mode", c.relative_mode);
  s.encoding.symmetric = c.alibi_symmetric;
  s.encoding.pairing = value_of<Pairing>("rope_pairing", c.rope_pairing);
  return s;
}

const Sampler& train_sampler(const Config& c) { return sampler(sampler_name(c, c.positions)); }
const Sampler& test_sampler(const Config& c) {
  return sampler(sampler_name(c, c.test_positions == "same" ? c.positions : c.test_positions));
}
SamplerSpec sampler_spec(const Config& c) { return {c.max_position, c.first_position, !c.unsorted}; }

Draw draw(const Config& c, const Sampler& sampler, Stream stream, int sequences, int time) {
  return {sampler, sampler_spec(c), value_of<Resample>("resample", c.resample), stream, sequences, time};
}

int slots(const Config& c, int length) { return length + task(c.task).output_length(length); }

int longest(const Config& c) {
  int most = 0;
  for (int length = 1; length <= c.train_length; ++length) most = std::max(most, slots(c, length));
  for (int length = c.eval_lengths.from; length <= c.eval_lengths.to; ++length) most = std::max(most, slots(c, length));
  return most;
}

}  // namespace poslab
