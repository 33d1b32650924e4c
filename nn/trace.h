// Everything can be seen, and changed: activations have stable dotted names ("block2.attention.heads"), and a Trace
// passed to a forward keeps those whose names match a pattern with '*', or puts others in their place. Both are part of
// the computation, so gradients flow through what was put there, and after backward() captured.at(name).grad() is the
// gradient of the loss by what was kept. Passed to a training step (experiment/step.h), it also has what the optimizer
// adds to each parameter, "update.block2.attention.query" (nn/adam.h).
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
  // captures: patterns of what is kept
  explicit Trace(std::vector<std::string> captures = {}) : captures_(std::move(captures)) {}
  // Gets the activation x of that name, and returns what the pass goes on with: x, or another tensor of its shape.
  using Change = std::function<Tensor(const std::string& name, const Tensor& x)>;
  // From now on every activation that matches goes through `change`; several changes apply in the order of these calls.
  void replace(std::string pattern, Change change) { changes_.emplace_back(std::move(pattern), std::move(change)); }

  bool wants(const std::string& name) const;   // captures or changes it
  // What the pass goes on with in place of x; captured as such. Throws BadInput if a change gives another shape.
  Tensor operator()(const std::string& name, Tensor x);
  // The same for a tensor that is computed only to be seen. Throws BadInput if a change gives another tensor.
  void look(const std::string& name, const Tensor& x);

  std::map<std::string, Tensor> captured;
  int queries = 0;   // of how many of the last queries attention logits are seen

 private:
  std::vector<std::string> captures_;
  std::vector<std::pair<std::string, Change>> changes_;
};

// x, or what a trace has in its place: its name is `at` + `part`. Without a trace this costs nothing.
inline Tensor traced(Trace* trace, const std::string& at, const char* part, Tensor x) {
  if (trace) return (*trace)(at + part, std::move(x));
  return x;
}

}  // namespace poslab
