// Arrays for NumPy: .npz is a zip of .npy files (format version 1.0), here deflated.
#pragma once
#include <string>
#include <vector>

#include "core/tensor.h"

namespace poslab::inspect {

struct Array {
  std::string name;  // "relative/layer1/length40"
  Shape shape;
  std::vector<float> values;
};

std::string npy(const Array&);               // "<f4", C order
std::string npz(const std::vector<Array>&);  // throws Failure beyond 2 GB or 65,535 arrays

}  // namespace poslab::inspect
