// Queries and keys turned by their positions, in pairs of channels: what RoPE and its relatives share. Most of them
// differ from RoPE in the frequencies f_m alone, one for each pair, and in a factor:
//
//   s_ij = factor (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D),   R(p) turns pair m by p f_m
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "encodings/encoding.h"

namespace poslab {

// The rotation of each token by its position times f_m, or by at(position) times f_m: (1 or B, T, D/2). Computed once a
// pass under `name`, which must tell all that it depends on; `scheme` is for errors.
Rotation turned_by(const Positions&, const std::string& scheme, const std::string& name, Device,
                   const std::vector<double>& frequencies, const std::function<double(double)>& at = {});
// The same by numbers of your own: at, (S, n), one for each of n tokens.
Rotation turned_by(const Positions&, const std::vector<double>& at, const std::string& name, Device,
                   const std::vector<double>& frequencies);
// That of the last slots only, which are those of the queries.
Rotation of_last(const Rotation&, int queries);

struct Turns {
  std::vector<double> frequencies;   // radians a position; where there are fewer than D/2, the last channels stay
  double factor = 1;                 // on the logits, the same for all heads
};

class Rotary : public Encoding {
 public:
  struct Group { Turns turns; int heads; };      // neighbouring heads that turn alike
  // name: as the scheme is spelled
  Rotary(std::string name, std::vector<double> frequencies, Pairing);
  Rotary(std::string name, Pairing, std::function<std::vector<Group>(int slots)>);
  Scores scores(const Heads&, const Positions&) const override;
  std::optional<LayerTerms> terms(const Positions&, const LayerShape&) const override;   // if all channels turn alike
  // The logit of equal contents, `factor` at distance 0: the mean of cos(d f_m) over the pairs of channels.
  Tensor shown(const ModelShape&, const Positions&) const override;
  Quantity quantity() const override { return Quantity::of_equals; }
  bool heads_alike() const { return groups_(1).size() == 1; }   // all heads turn alike

 private:
  // Of the group that begins with head `from`.
  Rotation of_group(const Group&, int from, const Positions&, const LayerShape&) const;
  std::string name_;
  Pairing pairing_;
  std::function<std::vector<Group>(int slots)> groups_;
};

// How a head turns where there are so many slots.
struct HeadAt { int channels, heads, head, slots; };
using FrequencyLaw = std::function<Turns(const HeadAt&, const Choices&)>;
// `s`, which has name, words and options, with the frequencies of the law; all else is as in RoPE. Its options hold
// rope_base and pairing_option.   by_length: whether the law looks at the number of slots
Scheme rotary_scheme(Scheme s, FrequencyLaw, std::function<bool(const Choices&)> by_length = {});

Option rope_base(double standard = 10000);
Option pairing_option(std::string run_option = "");   // pairing=interleaved|half
Option factor_option();                               // how many times longer inputs are than in training: 8
Option length_option(int least = 1);                  // of inputs in training: 40 slots
Pairing pairing_of(const Choices&);
// base^(-2m/D), as RoPE has them
std::vector<double> frequencies_of(const HeadAt&, const Choices&);
// The base with which the first pair turns as before and the last one k times more slowly (bloc97). A head of two
// channels has the first pair alone.
double slower_base(double base, double k, int channels);
// The frequencies with all wavelengths rounded to whole numbers of positions.
std::vector<double> resonant(std::vector<double> frequencies);
// Throws BadInput, naming the scheme, unless heads have an even number of channels.
void check_pairs(const std::string& scheme, const ModelShape&);

}  // namespace poslab
