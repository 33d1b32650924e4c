// The part of a scheme that pages show: texts, pictures and an estimate of its memory. No model reads them. They are in
// the scheme's own file, below the line `-- for pages`.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/choices.h"
#include "encodings/positions.h"

namespace poslab {

struct ModelShape;
class Encoding;

// For properties that depend on neither model nor options: .reads = always(Reads::positions).
template <class Value>
auto always(Value value) {
  return [value](const auto&...) { return value; };
}

// The quantity in a picture of pairs: the term that positions add to the logit, the logit of equal contents (which is 1
// where positions change nothing), the logit of contents of 1 in every channel, the cosine of the vectors added to the
// embeddings, a weight, the order in which a query visits keys; several: the quantity differs by head.
enum class Quantity { added, equal_contents, unit_contents, embeddings, weight, order, several };

// A layer's picture of pairs: a value for query i and key j, (1 or H, T, T) of the first sequence, with the current
// parameters.
struct PairPicture {
  Quantity quantity;
  std::function<Tensor(const Encoding&, const ModelShape&, const Positions&)> values;
};
// The logits of queries, keys and states with one number in every channel: 0; D^(-1/4), so that q . k / sqrt(D) = 1;
// or 1. cosines: the first head's logits, as the mean cosine of the angles; -1 for masked pairs.
PairPicture zero_contents(const ModelShape&, const Choices&), equal_contents(const ModelShape&, const Choices&),
    unit_contents(const ModelShape&, const Choices&), cosines(const ModelShape&, const Choices&);

struct SchemePictures {
  std::function<PairPicture(const ModelShape&, const Choices&)> matrix = zero_contents;  // of layer m.layer
  // For a scheme that rotates queries and keys: radians per position for each pair of channels of `head`, at `slots`
  // slots; 0 for a pair that is not rotated.
  std::function<std::vector<double>(const ModelShape&, const Choices&, int slots, int head)> frequencies = {};
  // The effective distance of key j from query i in the first sequence, key minus query; -rho_ij where the formula of a
  // rotation has rho_ij = p_i - p_j. (T, T), or (H, T, T) where heads differ. NaN for masked pairs, and in heads
  // without distances. Absent: pairs have no such distance.
  std::function<Tensor(const ModelShape&, const Choices&, const Positions&)> distances = {};
  bool layers_differ = false;                    // some layers lack positions; layer 0 reads all that any layer does
};

// The memory that a layer keeps for the backward pass. matrices: tensors of B H T T numbers (fused attention: 0).
// of_slots: numbers per slot and head besides queries, keys and values. live: tensors of H T T numbers, for one
// sequence, that exist at the same time without a backward pass; absent: `matrices`.
struct SchemeCost {
  std::function<double(const ModelShape&, const Choices&)> matrices = always(0.), of_slots = always(0.), live = {};
};

// The size of the longest string: its slots, and the positions that they span.
struct Extent { int slots, positions; };

struct SchemePages {
  std::string summary = {}, about = {};          // about: at most five lines
  std::string formula = {}, source = {}, doors = "none";   // as `poslab explain encoding NAME` prints them
  std::string file = {};                         // the source file; empty: encodings/NAME.cpp
  // The sentence below the picture of pairs; with door 1, about the similarity of the added vectors.
  std::function<std::string(const ModelShape&, const Choices&)> shows =
      always("This scheme carries no position: all pairs of slots look alike.");
  // The fewest layers that include every kind of layer of this scheme; with fewer it is another scheme.
  std::function<int(const Choices&)> least_layers = always(1);
  // The option, as in "window = 512", that no distance in strings of this extent reaches; empty if there is none.
  std::function<std::string(const Choices&, const Extent&)> unreached = always("");
  SchemePictures pictures = {};
  SchemeCost cost = {};
};

}  // namespace poslab
