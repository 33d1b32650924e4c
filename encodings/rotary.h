// The common part of RoPE (Su et al. 2021, section 3.2) and its relatives: queries and keys are rotated by their
// positions, in pairs of channels. Most differ from RoPE in the frequencies f_m, one for each pair, and a factor:
//
//   s_ij = factor (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D),   R(p) rotates pair m by p f_m radians
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "encodings/encoding.h"

namespace poslab {

// The rotation of each token by p f_m, or by at(p) f_m, where p is its position: (1 or B, T, D/2). It is computed once
// per pass and kept under `name`, which must contain every parameter. `scheme` is for errors.
Rotation rotation_by(const Positions&, const std::string& scheme, const std::string& name, Device,
                   const std::vector<double>& frequencies, const std::function<double(double)>& at = {});
// The same for n tokens at the given positions, at: (S, n) -> (S, n, D/2).
Rotation rotation_by(const Positions&, const std::vector<double>& at, const std::string& name, Device,
                   const std::vector<double>& frequencies);
// The rotation of the last slots, where the queries are: (S, T, D/2) -> (S, queries, D/2).
Rotation last_slots(const Rotation&, int queries);

struct RotarySpectrum {
  std::vector<double> frequencies;   // radians per position; fewer than D/2 leave the last channels as they are
  double factor = 1;                 // on the logits, the same for all heads
};

class Rotary : public Encoding {
 public:
  struct Group { RotarySpectrum spectrum; int heads = 0; };   // neighbouring heads with the same spectrum
  // name: the spelling of the scheme
  Rotary(std::string name, std::vector<double> frequencies, Pairing);
  Rotary(std::string name, Pairing, std::function<std::vector<Group>(int slots)>);
  Scores scores(const Heads&, const Positions&) const override;
  std::optional<LayerTerms> terms(const Positions&, const LayerShape&) const override;   // if all turn alike
  bool heads_alike() const { return groups_(1).size() == 1; }   // one spectrum for all heads

 private:
  // The rotation of the group that begins with head `from`.
  Rotation group_rotation(const Group&, int from, const Positions&, const LayerShape&) const;
  std::string name_;
  Pairing pairing_;
  std::function<std::vector<Group>(int slots)> groups_;
};

// The spectrum of a head, by its number and the number of slots.
struct HeadAt { int channels, heads, head, slots; };
using FrequencyLaw = std::function<RotarySpectrum(const HeadAt&, const Choices&)>;
// Completes a scheme that has name, texts and options, rope_base and pairing_option among them: RoPE with the spectrum
// that the law gives.   by_length: whether the law reads the number of slots; absent: it does not.
Scheme rotary_scheme(Scheme s, const FrequencyLaw&, std::function<bool(const Choices&)> by_length = {});

Option rope_base(double standard = 10000);
Option pairing_option();                             // pairing=interleaved|half
Option factor_option();                              // the length of inputs divided by the trained length; default 8
Option length_option(int least = 1);                 // the trained length, in slots; default 1L
Pairing pairing_of(const Choices&);
// The frequencies of RoPE: base^(-2m/D), m = 0 .. D/2 - 1
std::vector<double> frequencies_of(const HeadAt&, const Choices&);
// NTK-aware scaling (bloc97 2023): the base with which the first pair keeps its frequency and the last pair rotates k
// times slower: base k^(D/(D-2)). A head of two channels has only the first pair, and keeps its base.
double slower_base(double base, double k, int channels);
// The frequencies after their wavelengths are rounded to whole numbers of positions (Wang et al. 2024).
std::vector<double> resonant(std::vector<double> frequencies);
// Throws BadInput, naming the scheme, for heads of an odd number of channels.
void check_pairs(const std::string& scheme, const ModelShape&);

}  // namespace poslab
