// The cache for decoding holds, for the tokens so far and in each layer:
//
//   keys, before any position enters, and values            (B, capacity, G, D), (B, capacity, G, Dv), usually Dv = D
//   the states that they were projected from, if the scheme reads states             (B, capacity, C)
//
// So a token costs 2 G D numbers a layer, or 2 G D + C, and nothing else grows with the text. Keys are kept as they
// were projected, because a scheme may change a key depending on the newest query: ReRoPE rotates all keys again at
// each step (Su 2023; spec A.4 (21)). With several sequences a step copies the keys and values of one layer at a time.
// On a GPU the kept slots are padded to a multiple of n, so that one recorded step serves n tokens.
// A copy of a cache has its own length but shares the memory, so only one of the two may be extended.
#pragma once
#include <vector>

#include "core/tensor.h"
#include "encodings/positions.h"

namespace poslab {

class KeyValueCache {
 public:
  struct Entries { Tensor k, v, x{}; };   // (B, n, G, D), (B, n, G, Dv), (B, n, C), or absent if not kept
  struct Sizes { int key_heads, head_dim, value_dim, d_model; };
  // Has room for `capacity` tokens in each of `sequences` sequences. with_states: for each layer, whether x is kept.
  // Throws BadInput for a size below 1.
  KeyValueCache(int sequences, int capacity, Sizes, const std::vector<bool>& with_states, Device = Device::cpu);

  int sequences() const { return sequences_; }
  int length() const { return length_; }         // tokens kept
  int capacity() const { return capacity_; }
  int64_t numbers_per_token() const;             // numbers for one sequence, in all layers
  // Writes the entries of n new tokens after the kept ones, and returns all: (B, length() + n, ...). length() does not
  // change until advance(), so that every layer writes at the same slots. Throws BadInput if they do not fit.
  Entries append(int layer, const Entries& added) const;
  void advance(int n) { length_ += n; }          // called once all layers have the n tokens
  void clear() { length_ = 0, multiple_ = 1; }   // no longer padded
  // For one sequence whose tokens come one at a time from here on: append() returns slots(1) slots, a multiple of
  // `multiple`, of which key_lengths(1) are kept. The capacity must be a multiple, too.
  void pad_to(int multiple);
  int slots(int more) const;                     // slots that append() returns for `more` tokens
  Ids key_lengths(int more) const;               // absent unless padded
  // Sequence b becomes a copy of sequence from[b], as in beam search. BadInput unless `from` has one entry for each b.
  void reorder(const std::vector<int>& from);

 private:
  int sequences_, capacity_, length_ = 0, multiple_ = 1;
  std::vector<Entries> layers_;
};

// The positions of the last n slots, the new tokens.   reader: the caller's name, for errors
Positions last_slots(const Positions&, int n, const char* reader);

}  // namespace poslab
