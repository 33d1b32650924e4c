// How positions are drawn, and the draws of one forward pass.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/choices.h"
#include "core/random.h"
#include "encodings/positions.h"

namespace poslab {

// The class of a token, which a sampler may read: a digit, another input symbol (sign), or an empty slot of the answer.
enum class TokenClass { digit, sign, empty };

struct Slots {                       // the slots that get positions
  int sequences = 0, time = 0;       // draws: 1 that the batch shares, or one for each sequence
  Ids classes{};                     // (B, T) of TokenClass, for samplers that read them; absent: all are digits
};

// How positions are drawn: an entry of the list in encodings/samplers.cpp.
struct Sampler {
  std::string name, summary, about, source;   // about: at most five lines
  std::vector<Option> options = {};
  bool random = false;               // draws from the rng
  bool reads_classes = false;        // positions depend on the tokens, so that sequences have their own
  bool by_length = false;            // later slots change the positions of earlier ones, though nothing is random
  bool even = false;                 // all neighbours are equally far apart: the distances are one table of offsets
  bool shifts = false;               // slots are counted, from a random start
  bool only_offsets = false;         // gives a table of offsets, but no positions of tokens
  std::string as_offsets = {};       // the sampler that draws a table of offsets in its place
  std::function<Positions(const Choices&, const Slots&, Rng&)> draw = {};   // `sample` has checked the slots
  std::shared_ptr<const std::vector<Chosen<Sampler>>> parts = {};   // a composition's parts, which draw for it
  std::shared_ptr<const Chosen<Sampler>> added = {};  // for "coupled&randomized": the sampler of the embedding
  std::string file = {};             // the source file
  // "limit = 79" if strings of this many slots do not reach it, so that it changes no position
  std::function<std::string(const Choices&, int slots)> unreached = {};
};
const std::vector<Sampler>& all_samplers();
// Throws BadInput for sizes below 1, and for more slots than the pool has positions.
Positions sample(const Chosen<Sampler>&, const Slots&, Rng&);
// "randomized:max_position=4096,unsorted", or "randomized|sequential": one for each layer, in turn; a scheme of door 1
// reads the first. "coupled&randomized": the first for door 1, the rest for the layers. Options that the text
// does not set come from `run`. Throws BadInput.
Chosen<Sampler> choose_sampler(const std::string& text, const RunValues& run = {});
Chosen<Sampler> in_turn(std::vector<Chosen<Sampler>>);                                // "randomized|sequential"
Chosen<Sampler> pair_samplers(const Chosen<Sampler>& added, const Chosen<Sampler>& layers);   // "coupled&randomized"
int pool_of(const Chosen<Sampler>&);                 // the largest number of slots: max_position, or no limit
std::vector<double> numbers_of(const std::string& text);   // "0 2.5 7". Throws BadInput for any other word

// When positions are resampled: once per forward pass, once per layer and pass, or for each sequence of the batch.
enum class Resample { per_forward, per_layer, per_sequence };

// The positions of one forward pass, for the layers.
class PositionSample {
 public:
  PositionSample(Chosen<Sampler>, Resample, Stream, int sequences, int time, Ids classes = {});
  explicit PositionSample(std::vector<Positions> given);   // given positions: common to all layers, or one for each
  // Positions of packed documents; `lengths` has the lengths of each sequence's documents. Each document has the
  // positions that it would have alone, and documents of one length share a draw.
  using Documents = std::vector<std::vector<int>>;
  PositionSample(Chosen<Sampler>, Stream, Documents lengths);
  const Documents& documents() const { return documents_; }   // empty: each sequence is one document
  const PositionSample& of_document(int slots) const;
  // Throw BadInput for packed documents.
  const Positions& at_embedding() const;
  const Positions& at_layer(int layer) const;
  PositionSample part(int from, int to) const;             // the positions of the batch's sequences from .. to - 1
  void begin_pass() const;   // drops the constants of the last pass, whose memory on a GPU may be reused

 private:
  Chosen<Sampler> sampler_;
  Resample resample_;
  Stream stream_;
  int sequences_, time_;
  int from_ = 0, to_ = -1;                                 // of a part; -1: all
  Ids classes_;
  Documents documents_;
  using Drawn = std::shared_ptr<const Positions>;
  const Positions& draw(Drawn&, const Chosen<Sampler>&, uint32_t site) const;  // drawn at the first call
  mutable std::vector<Drawn> drawn_;
  mutable std::map<int, std::shared_ptr<const PositionSample>> of_length_;   // for documents, by their length
  mutable Drawn added_;  // for the embedding, if it has a separate sampler
};

}  // namespace poslab
