// Everything can be seen: activations have stable dotted names ("block2.attention.weights"), and a Trace passed to a
// forward keeps those whose names match a pattern with '*'.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace poslab {

class Trace {
 public:
  explicit Trace(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}
  bool wants(const std::string& name) const;
  void capture(const std::string& name, const Tensor& x) { if (wants(name)) captured[name] = x; }
  std::map<std::string, Tensor> captured;
  int queries = 0;   // of attention logits, how many of the last queries are captured; a scheme may have none

 private:
  std::vector<std::string> patterns_;
};

}  // namespace poslab
