// Encodes a matrix for pages (lab/page/matrix.mjs), and a picture for an <img>.
#pragma once
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace poslab {

// {"rows", "cols", "low", "high", "cells"}: base64 of a byte for each cell, value = low + byte / 255 (high - low)
nlohmann::ordered_json matrix_json(int rows, int cols, const std::vector<double>& m, double low, double high);

std::string data_uri(const std::string& type, std::string_view bytes);   // type: "image/svg+xml"

// The maximum over each block x block cells (fewer at the right and lower edge) of a matrix without negative numbers.
template <class Cell = double, class T>
std::vector<Cell> in_blocks(const T* a, int rows, int cols, int block) {
  const int across = (cols + block - 1) / block, down = (rows + block - 1) / block;
  std::vector<Cell> m(size_t(down) * size_t(across), Cell(0));
  for (int i = 0; i < rows; ++i) {
    Cell* cell = m.data() + size_t(i / block) * size_t(across);
    for (int from = 0; from < cols; from += block, ++cell)
      for (int j = from; j < std::min(cols, from + block); ++j) *cell = std::max(*cell, Cell(*a++));
  }
  return m;
}

}  // namespace poslab
