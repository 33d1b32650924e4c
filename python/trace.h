// A Trace as Python says it: patterns of names, and what is done with what matches.
#pragma once
#include "nn/trace.h"
#include "python/convert.h"

namespace poslab::python {

// None: it is captured. A function (name, x): what it gives takes the place of x, a tensor of its shape; None leaves x.
using TraceLike = std::vector<std::pair<std::string, nb::object>>;
// Its changes may be called from threads without the GIL, as in a training, and throw what the function raises. They
// throw BadInput for what is on a GPU. Logits are those of all queries.
Trace trace_of(const TraceLike&);
nb::dict captured_by(const Trace&);  // by name; from a GPU a copy

}  // namespace poslab::python
