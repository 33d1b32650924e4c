// Pictures of a trained model, kept in the run folder as pictures.json for the report: the position matrices of its
// scheme and the attention maps of one test string at a trained and at the longest tested length.
//
//   {"positions": {"layers": [[M of each head] of each layer], "before": the same, "reading": "..."},
//    "examples": [{"length", "trained", "input": ["0", ...], "expected": [...], "predicted": [...], "counted",
//    "queries", "block",
//                  "layers": [{"max": M, "heads": [M, ...]}, ...]}, ...]}
// M = {"rows", "cols", "low", "high", "cells"}: base64 of a byte for each cell, value = low + byte / 255 (high - low);
//   a few have "values", too, the numbers themselves
//
// Position matrices: the scheme's value for each pair of slots (encodings/picture.h), with the weights of this run;
// equal heads or layers are stored once. "before": with the initial weights, if they differ.
//
// Attention rows are the last `queries` slots, columns all slots; a cell is the maximum over block x block slots.
#pragma once
#include "lab/runs/run_folder.h"

namespace poslab {

// Strings and positions are the first of range evaluation at these lengths; dropout is off. Throws Failure if the file
// cannot be written.
void write_pictures(const RunFolder&, const State&);
int block_of(int slots);   // side of a cell of an attention map, in slots
// {"max", "heads"} of the weights of a layer, (H, Tq, Tk): maps with cells of block x block slots.
nlohmann::ordered_json attention_json(const Tensor& weights, int block);

}  // namespace poslab
