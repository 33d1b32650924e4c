#include "lab/files/matrix.h"

#include <algorithm>
#include <cmath>

namespace poslab {
namespace {

std::string base64(const auto& bytes) {
  const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t here = std::min<size_t>(3, bytes.size() - i);
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) three = three << 8 | (k < here ? uint8_t(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= here ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

nlohmann::ordered_json matrix_json(int rows, int cols, const std::vector<double>& m, double low, double high) {
  std::vector<uint8_t> cells;
  for (const double v : m) cells.push_back(uint8_t(high > low ? std::lround(255 * (v - low) / (high - low)) : 0));
  return {{"rows", rows}, {"cols", cols}, {"low", low}, {"high", high}, {"cells", base64(cells)}};
}

std::string data_uri(const std::string& type, std::string_view bytes) {
  return "data:" + type + ";base64," + base64(bytes);
}

}  // namespace poslab
