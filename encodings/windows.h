// Schemes of windows and pieces: pairs of slots fall into parts, and in each part queries and keys are turned by
// positions of its own. What matters of a pair is its effective distance,
//
//   s_ij = q_i . R(-rho_ij) k_j / sqrt(D),   rho_ij = (position of query i) - (position of key j), in the pair's part
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "encodings/written_out.h"

namespace poslab {

// What turns: at so many radians a position, in pairs of channels. `name` as the scheme is spelled, for errors and
// for the constants of a pass, which it must tell apart.
struct Turning {
  std::string name;
  std::vector<double> frequencies;   // (D/2)
  Pairing pairing = Pairing::interleaved;
};
Turning turning(const ModelShape&, const Choices&);  // of options pairing and, if there is one, base
std::unique_ptr<Encoding> turned_everywhere(const Turning&);   // as RoPE does

// `s`, which has name, words, options and `make`, as a scheme that turns by `turning`: door 2, heads of an even size,
// frequencies. what: it reads. turns: whether it turns with these options; else it reads no positions. Absent: always.
Scheme turning_scheme(Scheme s, Reads what = Reads::positions, std::function<bool(const Choices&)> turns = {});

// The pairs with from <= j - t < to and first <= j < last, by slots, and where their queries and keys stand: (S, T)
// positions each, or none for what is not turned. A pair is in one part at most; those in none are masked.
struct Part {
  std::vector<double> q{}, k{};
  int from = -far, to = far, first = 0, last = far;
};
using Parts = std::vector<Part>;
using PartsOf = std::function<Parts(const Positions&)>;

// 1 where of(position of the query, position of the key), else 0: (S, 1, Tq, T). `key` tells `of`.
Tensor where_positions(const Heads&, const Positions&, const std::string& key,
                       const std::function<bool(double, double)>& of);

// only_seen: without a tape, the keys that no query of a part sees are not turned, and their rows hold any numbers.
// Fused attention does not read them.
Scores turned(const Heads&, const Positions&, const Turning&, const Parts&, bool only_seen = false);
// rho_ij of the first sequence, NaN where a pair is masked: (T, T)
Tensor effective_distances(const Parts&, int time);
// For pictures: the mean cosine of the angles between two slots, 1 at the same place; -1 for masked pairs. (1, T, T)
Tensor mean_cosines(const Encoding&, const ModelShape&, const Positions&);
extern const std::string cosines_shown, cosines_seen_shown;   // for Scheme::shows; the second where pairs are masked

class Windowed : public Encoding {
 public:
  Windowed(Turning t, PartsOf parts) : turning_(std::move(t)), parts_(std::move(parts)) {}
  Scores scores(const Heads& in, const Positions& p) const override { return turned(in, p, turning_, parts_(p)); }
  Tensor attend(const Heads& in, const Tensor& v, const Positions& p, const Span& span) const override {
    return attention(turned(in, p, turning_, parts_(p), true), v, span);
  }
  Tensor shown(const ModelShape& m, const Positions& p) const override { return mean_cosines(*this, m, p); }
  Quantity quantity() const override { return Quantity::of_equals; }

 private:
  Turning turning_;
  PartsOf parts_;
};

// A window, or another length, that follows the trained length unless it is said.
Option window_option(const std::string& name, int standard, const std::string& usual, const std::string& help,
                     Range = {2, 1 << 24});
// For Scheme::unreached: the option says from which distance on, in slots or positions, a scheme does what it is for.
std::function<std::string(const Choices&, const Extent&)> until_slot(const std::string& option),
    until_position(const std::string& option);

// Pairs of slots less than `window` apart, those behind the query left out if `causal`; turned unless `rope` is false.
PartsOf sliding(const std::string& scheme, int window, bool causal, bool rope = true);
// A layer of which nothing else is seen, turned by `turning`; the option `window` says how wide.
std::unique_ptr<Encoding> windowed_layer(const std::string& scheme, const ModelShape&, const Choices&);

// `s`, which has name, words, laws and an option `window`, with layers that are Windowed by these parts.
using PartsFor = std::function<PartsOf(const ModelShape&, const Choices&)>;
Scheme windowed_scheme(Scheme s, PartsFor parts, std::function<bool(const Choices&)> turns = {});

// Near pairs turn by the distance r of their positions, far ones by another:
//
//   rho = r  if |r| < window,  else far.q(p_i) - far.k(p_j)  for a key before the query, mirrored for one behind it
//
// Evenly spaced positions have near pairs within a window of slots, and two or three pieces of fused attention do it.
// For others all products are computed, and each pair takes its own.
class Bent : public WholeLogits {
 public:
  struct Far { std::function<double(double)> q, k; };   // positions of far pairs; an absent one: not turned
  Bent(Turning t, double window, Far far, bool causal)
      : turning_(std::move(t)), window_(window), far_(std::move(far)), causal_(causal) {}
  Scores scores(const Heads&, const Positions&) const override;   // throws Failure for uneven positions
  Tensor attend(const Heads&, const Tensor& v, const Positions&, const Span&) const override;
  Tensor weights(const Heads&, const Positions&, const Span&) const override;
  Tensor statistics(const Heads&, const Positions&, const Span&) const override;
  Tensor logits(const Heads&, const Positions&, const Span&) const override;
  Tensor shown(const ModelShape& m, const Positions& p) const override { return mean_cosines(*this, m, p); }
  Quantity quantity() const override { return Quantity::of_equals; }
  Tensor distances(const Positions&) const;                        // rho_ij: (T, T)

 protected:
  Tensor pairs(const Heads&, const Positions&, const Span&) const override;

 private:
  Parts parts(const Positions&) const;                             // near, before, behind; without ranges
  Parts of_slots(const Positions&) const;                          // with ranges; throws as scores()
  Turning turning_;
  double window_;
  Far far_;
  bool causal_;
};

// `s`, which has name, words and an option `window`, with layers that are Bent.
Scheme bent_scheme(Scheme s, std::function<Bent(const ModelShape&, const Choices&)> bent);

// A layer without positions whose logits grow with the keys that a query sees, n = 1 .. T under a causal mask:
// s_ij = f(n_i) q_i . k_j / sqrt(D). `name` tells f.
class ByKeys : public Encoding {
 public:
  ByKeys(std::string name, std::function<double(double)> f) : name_(std::move(name)), f_(std::move(f)) {}
  Scores scores(const Heads&, const Positions&) const override;

 private:
  std::string name_;
  std::function<double(double)> f_;
};

}  // namespace poslab
