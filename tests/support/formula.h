// Weights, tokens and positions as pure functions of names and indices: tests/reference/formula.py in C++. A weight is
// a 16-bit integer times a power of two, which is exact in float, so two programs begin with equal bits without a file
// of weights.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/params.h"

namespace poslab::formula {

// 32 well-mixed bits for each index of a named sequence: FNV-1a of the name, then MurmurHash3's finalizer.
class Mix {
 public:
  explicit Mix(const std::string& name) {
    for (const unsigned char byte : name) start_ = (start_ ^ byte) * 0x01000193u;
  }
  uint32_t operator()(uint32_t index) const {
    uint32_t h = index * 0x9E3779B1u + start_;
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
  }

 private:
  uint32_t start_ = 0x811C9DC5u;
};

// Fills every parameter of a model, on any device.
inline void fill(const Params& params) {
  const std::map<std::string, double> small = {
      {"embedding", 0.125}, {"table", 1.0}, {"value", 0.125}, {"output", 0.125}, {"w2", 0.125},
      {"b1", 0.125},        {"b2", 0.125},  {"b", 0.125},     {"bias", 0.125},   {"gain", 0.125}};
  for (const auto& entry : params.entries()) {
    const std::string last = entry.name.substr(entry.name.rfind('.') + 1);  // npos + 1 = 0: the whole name
    const double centre = last == "gain" || last == "beta" ? 1
                          : last == "alpha"                ? 0.5
                                                           : 0,
                 width = small.count(last) ? small.at(last) : 0.25;
    const Mix mix(entry.name);
    std::vector<real> values(size_t(entry.tensor.size()));
    for (size_t e = 0; e < values.size(); ++e)
      values[e] = real(centre + width * (int(mix(uint32_t(e)) >> 16) - 32768) / 32768.0);
    entry.tensor.set(values.data());
  }
}

inline std::vector<int> integers(const std::string& name, int64_t count, int below) {
  const Mix mix(name);
  std::vector<int> at(size_t(count), 0);
  for (size_t i = 0; i < at.size(); ++i) at[i] = int(mix(uint32_t(i)) % uint32_t(below));
  return at;
}

// Strictly increasing positions, one in each interval of length 4.
inline std::vector<double> increasing(const std::string& name, int64_t count) {
  std::vector<double> at;
  for (const int offset : integers(name, count, 4)) at.push_back(4.0 * double(at.size()) + offset);
  return at;
}

inline double sign(const Mix& mix, int64_t index) { return mix(uint32_t(index)) >> 31 ? -1 : 1; }

}  // namespace poslab::formula
