// Builds the objects that a RunSpec names.
#pragma once
#include <optional>

#include "core/backend.h"
#include "experiment/config.h"
#include "nn/transformer.h"
#include "tasks/task.h"

namespace poslab {

// A word of an option and its meaning.
template <class Value>
struct Word {
  std::string name;
  Value value;
};
const std::vector<Word<Device>>& all_devices();
const std::vector<Word<Resample>>& all_resamplings();

Device device(const Choices&);
std::optional<int> loops(const Choices&);   // none: one for each symbol of the input
int blocks(const Choices&, int symbols = 0);   // of a pass: its layers times its loops
// Throws BadInput for more blocks than dropout and positions have streams for. symbols: of the longest input.
void check_loops(const Choices&, int symbols = 0);
TransformerSpec transformer_spec(const RunSpec&);
// Samplers that read classes of tokens also need `tokens`, (B, T).
PositionSample draw(const RunSpec&, const Chosen<Sampler>&, Stream, int sequences, int time, const Ids& tokens = {});
Ids token_classes(const Task&, const Ids& tokens);  // (B, T) of TokenClass
int most_slots(const Choices&, const Lengths&);   // slots of the longest string of these lengths
int longest(const Choices&);            // most slots of any training or test string
// The number of slots with positions: max_position for a learned table and for samplers from a pool, else unlimited.
int room(const RunSpec&, const Chosen<Sampler>&);

}  // namespace poslab
