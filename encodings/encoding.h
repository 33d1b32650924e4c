// WHERE position enters. A transformer has doors for it, and a scheme opens the ones it needs:
//
//   1  x_i  = embed(x)_i                          added to the embedding            sin/cos, learned
//   2  s_ij = scale q_i . k_j                     rotated queries and keys          RoPE
//   3       + scale q_rel_i . r_ij + bias_ij      a logit row per query or head     Transformer-XL; ALiBi
//   4  o_i  = sum_j a_ij v_j                      weights a_ij of its own           geometric attention
//
// Door 1 is one function for the model; doors 2 to 4 are an object for each layer. Doors 2 and 3 are data (Scores) that
// one fused attention runs; at door 4 a scheme composes ops.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/ops.h"
#include "core/choices.h"
#include "core/params.h"
#include "encodings/pages.h"
#include "encodings/sampler.h"

namespace poslab {

struct LayerTerms;   // autograd/encoder_block.h

// The properties of a model that its scheme may read.
struct ModelShape {
  int layers = 5, heads = 8, d_model = 64;
  bool causal = false;
  int pool = 2048, first = 0;    // positions are first .. first + pool - 1: a learned table's rows
  int all_heads = 0;             // heads of the layer, where `heads` are a group of them (encodings/compose.h)
  int layer = 0;                 // the layer of a picture, where layers differ; from 0
  int head_width = 0;            // width of a head, if it is not d_model / heads
  int head_dim() const { return head_width ? head_width : d_model / (all_heads ? all_heads : heads); }
};

// The input of a layer's encoding: queries and keys before any position enters, and the states they come from.
struct Heads {
  Tensor q, k, x;                                // (B, Tq, H, D), (B, Tk, H, D), (B, Tq, C); x: the queries' states
  Tensor x_keys{};                               // (B, Tk, C): the keys' states
  Tensor temperature{};                          // (1 or B, Tq, 1 or H): a factor on all logits, or absent
};

// The sizes of one layer's attention, on a device.
struct LayerShape { int heads, head_dim; Device device; };

// Doors 2 to 4 of one layer. The base class opens none: it is NoPE.
class Encoding {
 public:
  virtual ~Encoding() = default;
  virtual Scores scores(const Heads&, const Positions&) const;                     // the base: q . k / sqrt(D)
  // Door 4. attend: (B, Tq, H, D) from v, (B, Tk, H, D); weights: a_ij for a Trace, (B, H, Tq, Tk). The base: fused
  // attention over the scores; a scheme that opens this door has no scores.
  virtual Tensor attend(const Heads&, const Tensor& v, const Positions&, const Span&) const;
  virtual Tensor weights(const Heads&, const Positions&, const Span&) const;
  // Five numbers for each row, as attention_statistics (autograd/ops.h): (B, H, Tq, statistics_per_row). Statistics of
  // logits are NaN in a scheme without logits. The base streams over the keys.
  virtual Tensor statistics(const Heads&, const Positions&, const Span&) const;
  // The logits that the softmax sees, -infinity where masked: (B, H, Tq, Tk). For pictures and tests.
  virtual Tensor logits(const Heads&, const Positions&, const Span&) const;
  // All that `attend` adds to NoPE, if LayerTerms can express it: then a GPU may run the whole block in one kernel.
  virtual std::optional<LayerTerms> terms(const Positions&, const LayerShape&) const;
};

// attention(), but in a padded cache the bounds of pieces and windows are counted from the newest token.
Tensor attention(const Scores&, const Tensor& v, const Positions&, Span);

// Door 1: (B, T, C) -> (B, T, C). The sum then gets dropout (spec A.1 (2)).
using PositionEmbedding = std::function<Tensor(const Tensor& x, const Positions&)>;

// The facts about positions that a scheme reads; a composition reads all that its parts read.
enum class Reads : unsigned {
  nothing = 0,
  slots = 1,             // only the order of slots: samplers change nothing
  positions = 2,         // a position for each token
  distances = 4,         // differences of positions, or a table of offsets
  offset_table = 8,      // one offset for each j - i, the same for all pairs that far apart (spec A.2)
};
constexpr Reads operator|(Reads a, Reads b) { return Reads(unsigned(a) | unsigned(b)); }
constexpr bool has(Reads all, Reads one) { return (unsigned(all) & unsigned(one)) != 0; }

// The parameters of a layer: its own, and the ones that all layers of a scheme share, which the first layer makes.
struct LayerParams : Params {
  Params shared;
  LayerParams part(const std::string& name) const { return {*this / name, shared / name}; }
};

// For Scheme::make: a layer from parameters of its own, or from the shared ones.
template <class Layer>
std::unique_ptr<Encoding> layer_of(const LayerParams& p, const ModelShape& m, const Choices& c, int) {
  return std::make_unique<Layer>(p, m, c);
}
template <class Layer>
std::unique_ptr<Encoding> shared_layer_of(const LayerParams& p, const ModelShape& m, const Choices& c, int) {
  return std::make_unique<Layer>(p.shared, m, c);
}

// The laws of spec A.7 that a scheme obeys. Tests and `poslab check` verify them, and find a counterexample for each
// law that it declares broken.
struct Laws {
  bool shift = true;         // a constant added to all positions changes no logit
  bool toeplitz = true;      // with equal tokens at evenly spaced positions, logits depend on j - i alone
  bool two_sided = false;    // left and right are alike: reversing the sequence reverses the result
  bool permutes = true;      // without a causal mask, tokens that keep their positions may come in any order
  bool softmax = true;       // its weights are a softmax of its logits
  bool sums_to_1 = true;     // the weights of a query that sees a key other than itself sum to 1
  bool by_length = false;    // logits depend on how many slots there are, so later slots change earlier logits
};

// An entry in the list of schemes, encodings/all.cpp; the rest of the program knows a scheme only by this entry. The
// defaults are NoPE's.
struct Scheme {
  std::string name = "none";
  std::vector<Option> options = {};
  std::function<Reads(const Choices&)> reads = always(Reads::nothing);
  // throws BadInput for a model in which it cannot work
  std::function<void(const ModelShape&, const Choices&)> check = {};
  std::function<PositionEmbedding(Params, const ModelShape&, const Choices&)> embed = {};
  std::function<std::unique_ptr<Encoding>(const LayerParams&, const ModelShape&, const Choices&, int layer)> make = {};
  std::function<Laws(const ModelShape&, const Choices&)> laws = always(Laws{});
  // Why it needs a causal mask; empty if it does not.
  std::function<std::string(const Choices&)> causal_only = always("");
  // Whether it has a table of the pool's positions and can read no others.
  std::function<bool(const Choices&)> finite = always(false);
  // "ids&alibi" has two parts, a scheme for the embedding and one for the logits, each perhaps with its own sampler.
  std::shared_ptr<const std::vector<Chosen<Scheme>>> parts = {};
  SchemePages pages = {};
};
const std::vector<Scheme>& all_encodings();
double live_matrices(const Chosen<Scheme>&, const ModelShape&);  // SchemeCost::live, or `matrices` where that is absent

// The scheme of a spelling: "alibi:symmetric", "rope|none", "none*4+alibi*4" (encodings/compose.cpp). Options that
// the text does not set come from `run`. Throws BadInput with did-you-mean.
Chosen<Scheme> choose_encoding(const std::string& text, const RunValues& run = {});

inline Reads reads(const Chosen<Scheme>& s) { return s->reads(s.choices); }
inline bool finite(const Chosen<Scheme>& s) { return s->finite(s.choices); }

// The scheme in a model. Parameters are named encoding.NAME (door 1, or shared by all layers) and encoding.layer2.NAME.
struct PositionLayers {
  Chosen<Scheme> scheme;
  PositionEmbedding embed;                       // absent: nothing is added
  std::vector<std::unique_ptr<Encoding>> layers;
  // throws BadInput as Scheme::check does
  PositionLayers(const Params& encoding, const Chosen<Scheme>&, const ModelShape&);
};

// The sampler that draws for a scheme when `sampler` is chosen: if the scheme reads a table of random offsets, one that
// draws such tables (Sampler::as_offsets). Throws BadInput if the scheme cannot read the sampler's draws.
Chosen<Sampler> sampler_for(const Chosen<Scheme>&, const Chosen<Sampler>& sampler);

}  // namespace poslab
