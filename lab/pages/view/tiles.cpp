#include "lab/pages/view/tiles.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <numbers>

#include "core/platform/parallel.h"
#include "lab/files/matrix.h"

namespace poslab::view {

uint8_t code_of(double weight) {
  if (weight == 0) return 0;
  return uint8_t(std::clamp(std::lround(255 + codes_an_octave * std::log2(weight)), 1L, 255L));
}

std::vector<Level> pyramid(const real* weights, int slots) {
  Level level{slots, std::vector<uint8_t>(size_t(slots) * size_t(slots))};
  parallel_ranges(int64_t(level.codes.size()), 1 << 16, [&](int64_t from, int64_t to) {
    std::transform(weights + from, weights + to, level.codes.begin() + from, code_of);
  });
  std::vector<Level> all = {std::move(level)};
  while (all.back().side > overview_side) {
    const int side = all.back().side;
    all.push_back({(side + 1) / 2, in_blocks<uint8_t>(all.back().codes.data(), side, side, 2)});
  }
  return all;
}

double entropy_of(const Level& level) {
  std::array<double, 256> of_code{};  // -w log w
  for (int code = 1; code < 256; ++code) {
    const double octaves = (255 - code) / double(codes_an_octave);
    of_code[size_t(code)] = std::exp2(-octaves) * octaves * std::numbers::ln2;
  }
  double sum = 0;
  for (const uint8_t code : level.codes) sum += of_code[code];
  return sum / level.side;
}

int tiles_across(const Level& level) { return (level.side + tile_side - 1) / tile_side; }

std::vector<uint8_t> tile(const Level& level, int row, int column) {
  const int top = row * tile_side, left = column * tile_side;
  const int bottom = std::min(level.side, top + tile_side), right = std::min(level.side, left + tile_side);
  std::vector<uint8_t> codes;
  codes.reserve(size_t(bottom - top) * size_t(right - left));
  for (int i = top; i < bottom; ++i) {
    const auto start = level.codes.begin() + std::ptrdiff_t(i) * level.side;
    codes.insert(codes.end(), start + left, start + right);
  }
  return codes;
}

std::string tile_script(const std::string& name, const std::vector<uint8_t>& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string deflated(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(deflated.data()), &size, bytes.data(), bytes.size(), 1) != Z_OK)
    throw std::bad_alloc();  // the only possible reason
  deflated.resize(size);
  return fmt::format("poslab_tile(\"{}\",\"{}\");\n", name, data_uri("application/octet-stream", deflated));
}

}  // namespace poslab::view
