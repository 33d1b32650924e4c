#include "python/trace.h"

#include <limits>

#include "python/own.h"

namespace poslab::python {
namespace {

Trace::Change change_of(nb::object function) {
  const auto kept = std::make_shared<const Kept>(std::move(function));
  return [kept](const std::string& name, const Tensor& x) {
    if (x.device() != Device::cpu)
      bad_input("trace: {} is on a GPU, and functions of Python see tensors on the CPU; say device=\"cpu\"", name);
    const Calling calling;
    const nb::object y = kept->get()(name, x);
    return y.is_none() ? x : tensor_of(y);
  };
}

}  // namespace

Trace trace_of(const TraceLike& said) {
  std::vector<std::string> captures;
  for (const auto& [pattern, function] : said)
    if (function.is_none()) captures.push_back(pattern);
  Trace trace(captures);
  for (const auto& [pattern, function] : said) {
    if (!function.is_none()) trace.replace(pattern, change_of(function));
    if (pattern.ends_with(".logits")) trace.queries = std::numeric_limits<int>::max();
  }
  return trace;
}

nb::dict captured_by(const Trace& trace) {
  nb::dict all;
  for (const auto& [name, x] : trace.captured) all[name.c_str()] = nb::cast(x.to(Device::cpu));
  return all;
}

}  // namespace poslab::python
