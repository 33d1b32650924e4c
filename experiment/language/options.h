// All options of a run of a language model: one table (experiment/choice_table.h).
#pragma once
#include "experiment/footprint.h"
#include "nn/decoder.h"

namespace poslab::language {

const ChoiceTable& all_choices();
using poslab::Settings;

constexpr int parts = 8;  // losses are reported for each of these parts of a window
Choices configure(const Settings&);              // throws BadInput, as the table's configure()
// Throws BadInput for choices that do not fit together.
void check(const RunSpec&);

DecoderSpec decoder_spec(const RunSpec&, int vocabulary);
std::vector<int> eval_lengths(const Choices&);   // in tokens
// whether several documents are packed into a window
inline bool packs(const Choices& c) { return c["documents"] == "packed"; }
Load load(const RunSpec&);                       // experiment/footprint.h
Forward forward(const DecoderSpec&, const RunSpec& test, int length);  // memory of a window of a test, with its logits
Taken writing_takes(const DecoderSpec&, double prompt, double count);  // generate (nn/generate.h)

}  // namespace poslab::language
