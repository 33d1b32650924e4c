// The place of each parameter of a decoder in a checkpoint of the Hugging Face form. Families differ in the names of
// norms, some store several matrices in one tensor, and Gemma's gains are stored less 1.
#pragma once
#include <string>

#include "nn/decoder.h"

namespace poslab {

// The rows [row, row + rows) of a tensor of all_rows; each number is (stored + plus) * times.
struct HfPlace {
  HfPlace(std::string tensor_, int row_ = 0, int all_rows_ = 0)  // NOLINT: implicit; a name alone: the whole tensor
      : tensor(std::move(tensor_)), row(row_), all_rows(all_rows_) {}
  std::string tensor;         // "" for a parameter that the form lacks
  int row = 0, all_rows = 0;  // 0: the whole tensor
  double plus = 0, times = 1;
};

// Traits of a family's checkpoints that DecoderSpec lacks.
struct HfForm {
  bool fused = false;         // queries, keys and values in one tensor, gate and up in another
  bool gains_less_1 = false;  // a gain is 1 + the stored number
  double query_factor = 1;    // multiplies the gain of the queries' norm
};

// "block3.attention.query" is "model.layers.3.self_attn.q_proj.weight".
HfPlace hf_place(const std::string& parameter, const DecoderSpec&, const HfForm&);

}  // namespace poslab
