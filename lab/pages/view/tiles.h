// Attention weights for the page: one byte each, repeatedly halved in size, and cut into tiles. Each tile is deflated
// into a script, because a page that is opened as a file can load only scripts.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace poslab::view {

constexpr int tile_side = 1024;     // cells
// the largest side of the coarsest level, which is stored apart, for all heads together
constexpr int overview_side = 128;
constexpr int codes_an_octave = 16;

// 0 for a weight of 0, else 255 + 16 log2(weight), rounded, but at least 1. So a code c > 1 means 2^((c - 255) / 16),
// to 2.2 %, and 1 means a weight below 1.8e-5. For 0 <= weight <= 1.
uint8_t code_of(double weight);

struct Level {
  int side;
  std::vector<uint8_t> codes;  // (side, side): row = query, column = key
};
// The levels of weights (slots, slots): level 0 has a code for each; a cell of level k is the maximum over 2^k x 2^k,
// or fewer at the lower and right edge. The last level is the first with a side of at most `overview_side`.
std::vector<Level> pyramid(const real* weights, int slots);

// The mean over queries of the entropy of their weights, in nats; from level 0.
double entropy_of(const Level&);

// Rows and columns of a level with tiles; the last tile of a row or column may be smaller.
int tiles_across(const Level&);
std::vector<uint8_t> tile(const Level&, int row, int column);

// A script that passes bytes to the page, as base64 of zlib's format: poslab_tile("NAME","data:...")
std::string tile_script(const std::string& name, const std::vector<uint8_t>& bytes);

}  // namespace poslab::view
