// Schemes of windows and pieces: pairs of slots are split into bands, and each band rotates queries and keys by
// positions of its own. A logit depends on the effective distance of its pair,
//
//   s_ij = q_i . R(-rho_ij) k_j / sqrt(D),   rho_ij = (position of query i) - (position of key j), in the pair's band
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "encodings/explicit_weights.h"

namespace poslab {

// How a layer rotates queries and keys.
struct RotaryLayer {
  std::string name;                  // the spelling of the scheme: for errors, and in the keys of a pass's constants
  std::vector<double> frequencies;   // radians per position of each pair of channels, (D/2)
  Pairing pairing = Pairing::interleaved;
};
// The frequencies of RoPE, by the options `pairing` and `base`; a scheme without `base` has 10000.
RotaryLayer rotary_layer(const ModelShape&, const Choices&);
std::unique_ptr<Encoding> rotary_everywhere(const RotaryLayer&);   // RoPE itself

// Completes a scheme that has name, texts, options and `make`, and whose layers rotate by `rotary_layer`: adds door 2,
// the check that heads have an even size, and frequencies.   what: its Reads.   rotates: false for options with which
// the scheme does not rotate, and so reads no positions; absent: it always rotates.
Scheme rotary_layers_scheme(Scheme s, Reads what = Reads::positions, std::function<bool(const Choices&)> rotates = {});

// The pairs of a query in slot i and a key in slot j with from <= j - i < to and j < end, and the positions of queries
// and keys in them, (S, T) each; empty where nothing is rotated. A pair is in one band at most. A pair in no band is
// masked.
struct Band {
  std::vector<double> q{}, k{};
  int from = -far, to = far, end = far;
};
using Bands = std::vector<Band>;
using BandsOf = std::function<Bands(const Positions&)>;

// of(position of the query, position of the key), a constant: (S, 1, Tq, T). `key` is unique to `of`.
Tensor by_positions(const Heads&, const Positions&, const std::string& key,
                    const std::function<double(double, double)>& of);

// The bands as pieces of fused attention, rotated.   only_seen: without a tape, the keys of a band that none of its
// queries sees are not rotated. Their rows are undefined, and fused attention does not read them.
Scores rotated(const Heads&, const Positions&, const RotaryLayer&, const Bands&, bool only_seen = false);
// SchemePictures::distances of these bands: (T, T)
Tensor effective_distances(const Bands&, int time);
extern const std::string cosines_shown, cosines_seen_shown;   // for `shows`; the second where pairs are masked

class Windowed : public Encoding {
 public:
  Windowed(RotaryLayer t, BandsOf bands) : rotary_(std::move(t)), bands_(std::move(bands)) {}
  Scores scores(const Heads& in, const Positions& p) const override { return rotated(in, p, rotary_, bands_(p)); }
  Tensor attend(const Heads& in, const Tensor& v, const Positions& p, const Span& span) const override {
    return attention(rotated(in, p, rotary_, bands_(p), true), v, p, span);
  }

 private:
  RotaryLayer rotary_;
  BandsOf bands_;
};

// The option of a window or another length in slots. standard: 0.5L for half the trained length.
Option window_option(const std::string& name, const std::string& standard, const std::string& help,
                     Range = {2, 1 << 24});
// For `unreached` of a scheme that equals RoPE at distances (of slots or positions) below the value of this option plus
// `more`.
std::function<std::string(const Choices&, const Extent&)> until_slot(const std::string& option, int more = 0),
    until_position(const std::string& option, int more = 0);

// The pairs less than `window` slots apart; with `causal`, no key after the query. Rotated unless `rope` is false.
BandsOf sliding(const std::string& scheme, int window, bool causal, bool rope = true);
// A layer that attends only within a sliding window (the option `window`), rotated by `rotary_layer`.
std::unique_ptr<Encoding> windowed_layer(const std::string& scheme, const ModelShape&, const Choices&);

// Completes a scheme that has name, texts, laws and an option `window`: its layers are Windowed by these bands.
using BandsFor = std::function<BandsOf(const ModelShape&, const Choices&)>;
Scheme windowed_scheme(Scheme s, const BandsFor& bands, std::function<bool(const Choices&)> rotates = {});

// Near pairs are rotated by the distance r of their positions, far ones by another:
//
//   rho = r  if |r| < window,  else far.q(p_i) - far.k(p_j)  for a key before the query, mirrored for a key after it
//
// With evenly spaced positions the near pairs are a window of slots, and fused attention computes the layer in two or
// three pieces. With uneven ones the products of all pieces are computed in full, and each pair selects one.
class PiecewiseRotary : public WholeLogits {
 public:
  struct Far { std::function<double(double)> q, k; };   // positions in far pairs; absent: not rotated
  PiecewiseRotary(RotaryLayer t, double window, Far far, bool causal)
      : rotary_(std::move(t)), window_(window), far_(std::move(far)), causal_(causal) {}
  Scores scores(const Heads&, const Positions&) const override;   // throws Failure for uneven positions
  Tensor attend(const Heads&, const Tensor& v, const Positions&, const Span&) const override;
  Tensor weights(const Heads&, const Positions&, const Span&) const override;
  Tensor statistics(const Heads&, const Positions&, const Span&) const override;
  Tensor logits(const Heads&, const Positions&, const Span&) const override;
  Tensor distances(const Positions&) const;                        // -rho_ij: (T, T)

 protected:
  Tensor pairs(const Heads&, const Positions&, const Span&) const override;

 private:
  Bands bands(const Positions&) const;     // near, before, after; without ranges
  Bands of_slots(const Positions&) const;  // with ranges; throws as scores() does
  RotaryLayer rotary_;
  double window_;
  Far far_;
  bool causal_;
};

// Completes a scheme that has name, texts and an option `window`: its layers are PiecewiseRotary.
Scheme piecewise_scheme(Scheme s, const std::function<PiecewiseRotary(const ModelShape&, const Choices&)>& layer);

// A layer without positions whose logits grow with the number of keys seen by a query, n = 1 .. T under a causal mask:
// s_ij = f(n_i) q_i . k_j / sqrt(D). `name` is unique to f.
class ByKeys : public Encoding {
 public:
  ByKeys(std::string name, std::function<double(double)> f) : name_(std::move(name)), f_(std::move(f)) {}
  Scores scores(const Heads&, const Positions&) const override;

 private:
  std::string name_;
  std::function<double(double)> f_;
};

}  // namespace poslab
