// WHICH positions: the number that each token carries, before any scheme turns it into a signal.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace poslab {

// The distances between the positions of a batch, each once, and the distance of each pair. (The list may hold a few
// that no pair has.) A relative scheme computes one row for each value; the attention kernel looks rows up.
struct Distances {
  std::vector<double> value;   // (N) position of key minus position of query: negative looks back
  Ids pairs;                   // (1 or B, T, T): the row of query i and key j. Absent: row j - i + T - 1, N = 2T - 1
  // (1 or B, queries, T): the rows of the last queries only, for cached decoding. Absent if `pairs` is.
  Ids last_rows(int queries) const;
  int row(int sequence, int i, int j, int time) const;   // the row of query i and key j, in either form
  // `value`, for a table on that device. The number of rows changes from step to step; a GPU, which records steps by
  // their shapes, gets a multiple of 256 rows, the last ones unused.
  std::vector<double> rows(Device) const;
};

class Positions {
 public:
  // Every token has a position: (S, T), S = 1 shared by the batch, or S = B one draw for each sequence.
  static Positions of_tokens(int sequences, std::vector<double> position);
  // Several numbers for each token, (S, T, K): the scheme `ids` reads all of them, other schemes the first.
  static Positions of_ids(int sequences, int channels, std::vector<double> ids);
  // For decoding one token with a padded cache: earlier tokens come first, the newest is in the last of `slots` slots,
  // and the idle slots between have its position. Pairs belong only to the last slot, (1, 1, T).
  static Positions in_cache(std::vector<double> position, int slots);
  // Only distances are known: value of key minus query for j - i = -(T-1) .. T-1, (S, 2T - 1).
  static Positions of_offsets(int sequences, std::vector<double> offset);

  Positions part(int from, int to) const;   // for sequences from .. to - 1; all if the batch shares them

  int sequences() const { return sequences_; }
  int time() const;
  bool padded() const { return tokens_ > 0; }
  int kept() const { return padded() ? tokens_ : time(); }   // slots that are not idle
  // (S, T). Throws BadInput for a table of offsets: "rope: needs a position for every token, ..." naming the scheme.
  const std::vector<double>& tokens(const std::string& scheme) const;
  int channels() const { return channels_; }
  const std::vector<double>& ids(const std::string& scheme) const;   // (S, T, K); throws as tokens() does
  bool only_offsets() const { return !offset_.empty(); }
  // Evenly spaced tokens and an offset table, when the batch shares them, give the Toeplitz form; otherwise each
  // pair is looked up. Computed once and kept.
  const Distances& distances() const;
  // The distances, for a scheme that needs one offset for each j - i. Throws BadInput, naming the scheme, for unevenly
  // spaced tokens.
  const Distances& offsets(const std::string& scheme) const;

  // A constant that depends on these positions alone, such as the cosines of RoPE: computed at the first call with this
  // name and device, then kept for the other layers of the pass.
  const Tensor& once(const std::string& name, Device, const std::function<Tensor(Device)>& make) const;
  void forget_constants() const { constants_.clear(); }

 private:
  int sequences_ = 1, channels_ = 1, tokens_ = 0;   // tokens_: in a padded cache
  std::vector<double> position_, ids_, offset_;   // ids_: empty if a token has one number
  mutable std::shared_ptr<const Distances> distances_;
  mutable std::map<std::pair<std::string, Device>, Tensor> constants_;
};

}  // namespace poslab
