// Temperatures that `poslab align` found for a trained model (Chi, Fan, Rudnicky 2023; spec C.2), as the text of the
// spelling aligned:of=TEXT.
//
//   any 64 256:0.85 1024:0.7                  for any model: 1 up to 64 keys, 0.85 at 256, 0.7 from 1024 on
//   5.8.1c291ca3 64 256:0.85/0.8/0.8/0.75/0.7 for 5 layers, 8 heads and weights with that checksum: one for each layer
//
// A length has one temperature, one for each layer, or one for each head of each layer: the heads of layer 1 first.
#pragma once
#include <string>
#include <vector>

namespace poslab {

struct AlignedLength {
  double keys = 0;          // the number of keys that a query sees
  std::vector<double> tau;  // 1, layers, or layers x heads
};

struct AlignedTemperatures {
  int layers = 0, heads = 0;           // 0, 0: for any model
  std::string weights = {};            // checksum of the model's weights
  double shortest = 0;                 // up to this number of keys the temperature is 1
  std::vector<AlignedLength> lengths;  // ascending
  // Linear in ln keys between two lengths, constant beyond the last one. layer, head: from 0
  double at(int layer, int head, double keys) const;
  bool by_head() const;  // whether any length has a temperature for each head
};

// Fits any model; used in explanations and tests.
constexpr const char* aligned_example = "aligned:of=any 64 256:0.85 1024:0.7";

// Throws BadInput, naming the word, unless the text is written as above.
AlignedTemperatures read_aligned(const std::string& text);
std::string text_of(const AlignedTemperatures&);  // temperatures with six digits

}  // namespace poslab
