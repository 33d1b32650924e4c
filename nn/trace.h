// Every activation can be read and changed: each has a stable dotted name ("block2.attention.heads"), and a Trace
// passed to a forward pass captures activations whose names match a pattern with '*', or replaces them. Captures and
// replacements are part of the computation: gradients flow through a replacement, and after backward()
// captured.at(name).grad() is d loss / d activation. In a training step (experiment/step.h) a Trace also captures the
// update of each parameter, "update.block2.attention.query" (nn/adam.h).
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace poslab {

class Trace {
 public:
  // captures: patterns of the names to capture
  explicit Trace(std::vector<std::string> captures = {}) : captures_(std::move(captures)) {}
  // Gets the activation x of that name, and returns x or its replacement, a tensor of the same shape.
  using Change = std::function<Tensor(const std::string& name, const Tensor& x)>;
  // Every later activation that matches goes through `change`; several changes apply in the order of these calls.
  void replace(std::string pattern, Change change) { changes_.emplace_back(std::move(pattern), std::move(change)); }

  bool wants(const std::string& name) const;   // whether it captures or changes this activation
  // x, changed and captured where patterns match. Throws BadInput if a change gives another shape.
  Tensor operator()(const std::string& name, Tensor x);
  // Captures x, which is computed only for the trace. Throws BadInput if a change returns another tensor.
  void capture(const std::string& name, const Tensor& x);

  std::map<std::string, Tensor> captured;
  int queries = 0;   // attention's logits are traced for the last `queries` slots; 0: never

 private:
  std::vector<std::string> captures_;
  std::vector<std::pair<std::string, Change>> changes_;
};

// Passes x, named `at` + `part`, through the trace: x, or its replacement. Null trace: x itself, at no cost.
inline Tensor expose(Trace* trace, const std::string& at, const char* part, Tensor x) {
  if (trace) return (*trace)(at + part, std::move(x));
  return x;
}

}  // namespace poslab
