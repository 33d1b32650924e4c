// WHICH positions: the number that each token carries, before any scheme turns it into a signal.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/tensor.h"

namespace poslab {

// The distances between the positions of a batch, each once, and who has which (a few that nobody has may be among
// them). A relative scheme computes one row for each value; the attention kernel looks rows up.
struct Distances {
  std::vector<double> value;   // (N) position of key minus position of query: negative looks back
  Ids pairs;                   // (1 or B, T, T): the row of query i and key j. Absent: row j - i + T - 1, N = 2T - 1
  // (1 or B, queries, T): the rows of the last queries only, as cached decoding asks for them. Absent if pairs are.
  Ids of_last(int queries) const;
  int row(int sequence, int i, int j, int time) const;   // of query i and key j, in either form
  // `value`, for a table on that device. How many distances occur changes from step to step; a GPU, which records steps by
  // their shapes, gets a multiple of 256, the last ones idle.
  std::vector<double> rows(Device) const;
};

class Positions {
 public:
  // Every token has a position: (S, T), S = 1 shared by the batch, or S = B one draw for each sequence.
  static Positions of_tokens(int sequences, std::vector<double> position);
  // Only distances are known: value of key minus query for j - i = -(T-1) .. T-1, (S, 2T - 1).
  static Positions of_offsets(int sequences, std::vector<double> offset);

  int sequences() const { return sequences_; }
  int time() const;
  // (S, T). Throws BadInput for a table of offsets: "rope: needs a position for every token, ..." naming the scheme.
  const std::vector<double>& tokens(const std::string& scheme) const;
  bool only_offsets() const { return !offset_.empty(); }
  // Evenly spaced tokens and an offset table, when the batch shares them, give the Toeplitz form; all else is looked
  // up. Computed once and kept.
  const Distances& distances() const;
  // The same for a scheme that wants one offset for each j - i. Throws BadInput, naming the scheme, for tokens that are
  // not evenly spaced.
  const Distances& offsets(const std::string& scheme) const;

 private:
  int sequences_ = 1;
  std::vector<double> position_, offset_;
  mutable std::shared_ptr<const Distances> distances_;
};

// How positions are drawn: one row of the list in encodings/samplers.cpp.
struct SamplerSpec {
  int max_position = 2048;   // size of the pool N
  int first = 0;             // smallest position of the pool: 0 (released code) or 1 (paper)
  bool sorted = true;        // false: the subset in random order (table 3 of the paper)
};
// Positions of `sequences` sequences of `time` slots. Throws BadInput if time > max_position where the pool is finite,
// and for sizes below 1.
using Sample = Positions (*)(const SamplerSpec&, int sequences, int time, Rng&);
struct Sampler {
  std::string name, summary, source;
  bool random;               // draws from the rng
  Sample sample;
};
const std::vector<Sampler>& all_samplers();          // sequential randomized randomized_offsets evenly_spread
const Sampler& sampler(const std::string& name);     // throws BadInput with did-you-mean

// When randomness is drawn anew: once per forward pass, once per layer and pass, or for each sequence of the batch.
enum class Resample { per_forward, per_layer, per_sequence };

// The positions of one forward pass, as the layers ask for them.
class PositionSample {
 public:
  PositionSample(const Sampler&, SamplerSpec, Resample, Stream, int sequences, int time);
  explicit PositionSample(std::vector<Positions> given);   // your own: one for all layers, or one for each
  const Positions& at_embedding() const { return at_layer(0); }
  const Positions& at_layer(int layer) const;

 private:
  Sampler sampler_;
  SamplerSpec spec_;
  Resample resample_;
  Stream stream_;
  int sequences_, time_;
  mutable std::vector<std::shared_ptr<const Positions>> drawn_;
};

}  // namespace poslab
