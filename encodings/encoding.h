// WHERE position enters. A transformer has doors for it, and an encoding opens the ones it needs:
//
//   1  x_i  = embed(x)_i                          added to the embedding            sin/cos, learned
//   2  s_ij = scale q_i . k_j                     rotated queries and keys          RoPE
//   3       + scale q_rel_i . r_ij + bias_ij      a logit row per query or head     Transformer-XL; ALiBi
//   4  o_i  = sum_j a_ij v_j                      weights a_ij of its own           geometric attention
//
// Doors 2 and 3 are data (Scores) that one fused attention runs; behind door 4 a scheme composes ops. The base class
// opens no door: Encoding is NoPE.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "autograd/ops.h"
#include "encodings/positions.h"
#include "core/params.h"

namespace poslab {

// How the randomized relative schemes read a random draw (spec A.2; the paper and its released code differ).
enum class RelativeMode {
  paper,          // relative: true differences of sampled positions; ALiBi: = offset_table
  offset_table,   // one sorted table of random offsets, used for every pair j - i
  released,       // relative only: the offset table through the released code's clamped lookup, all right offsets alike
  differences,    // true differences, for ALiBi too
};

// Everything an encoding may be built from: the model's sizes and the scheme's own options.
struct EncodingSpec {
  std::string name = "none";
  int layers = 5, heads = 8, d_model = 64;
  int max_position = 2048;                       // rows of the learned table, pool of the sampler
  int first = 0;                                 // position of the learned table's first row: the sampler's `first`
  RelativeMode mode = RelativeMode::paper;
  bool symmetric = false;                        // ALiBi without the +0.5 on the past side
  bool causal = false;                           // causal: nothing to the right, so ALiBi needs no +0.5
  Pairing pairing = Pairing::interleaved;
  int head_dim() const { return d_model / heads; }
};

// What a layer has for an encoding: its projections as they are, and the queries' state that q is projected from.
struct Heads { Tensor q, k, x; };                // (B, Tq, H, D), (B, Tk, H, D), (B, Tq, C)

class Encoding {
 public:
  virtual ~Encoding() = default;
  virtual bool adds_to_embedding() const { return false; }               // then the sum gets dropout (spec A.1 (2))
  virtual Tensor embed(const Tensor& x, const Positions&) const { return x; }      // (B, T, C)
  virtual Scores scores(const Heads&, const Positions&, int layer) const;          // the base: q . k / sqrt(D)
  // Door 4. attend: (B, Tq, H, D), from v like k; weights: its a_ij for who watches, (B, H, Tq, Tk). The base: fused
  // attention over the scores, of which a scheme that opens this door has none.
  virtual Tensor attend(const Heads&, const Tensor& v, const Positions&, int layer, const Span&) const;
  virtual Tensor weights(const Heads&, const Positions&, int layer, const Span&) const;
  // The number that a pair is told, for pictures, by the distance of its positions and of its slots, key minus query:
  // the distance of positions itself, the bias of head 0, or when this key is asked.
  virtual double told(double distance, int slots) const { return 0; }
};

// One line of the only list, encodings/all.cpp.
struct Scheme {
  std::string name, summary, source;
  bool relative;                                 // reads only distances, so it takes a table of offsets
  std::function<std::unique_ptr<Encoding>(Params, const EncodingSpec&)> make;
  bool paper_table = false;                      // mode paper reads a table of offsets (ALiBi), not differences
};
const std::vector<Scheme>& all_encodings();
const Scheme& encoding(const std::string& name);                         // throws BadInput with did-you-mean

// The sampler that a scheme means by `name`: a mode that reads one table of random offsets turns "randomized" into
// "randomized_offsets". All other samplers are themselves; an unknown name throws BadInput.
const Sampler& sampler_for(const EncodingSpec&, const std::string& name);

}  // namespace poslab
