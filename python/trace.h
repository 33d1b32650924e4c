// A Trace in Python's terms: patterns of names, and the action for a match.
#pragma once
#include <set>

#include "nn/trace.h"
#include "python/convert.h"

namespace poslab::python {

// None captures the match. The result of a function (name, x), a tensor of x's shape, replaces x; None leaves x.
using TraceLike = std::vector<std::pair<std::string, nb::object>>;
// The functions may be called from threads without the GIL, as in training, and pass on exceptions of Python. On a
// GPU they get copies, and a replacement that would need a gradient throws BadInput. Logits are for all queries.
struct Asked {
  explicit Asked(const TraceLike&);
  void check_matched() const;  // throws BadInput for a pattern that matched no name of the pass
  void to_cpu();               // replaces tensors captured on a GPU by copies, with their gradients
  nb::dict captured() const;   // by name

  Trace trace;

 private:
  std::shared_ptr<std::set<std::string>> idle_ = std::make_shared<std::set<std::string>>();  // patterns without a match
};

}  // namespace poslab::python
