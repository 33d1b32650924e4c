#include "python/trace.h"

#include <algorithm>
#include <limits>

#include "python/own.h"

namespace poslab::python {
namespace {

Trace::Change change_of(nb::object function, const std::function<void()>& called) {
  const auto kept = std::make_shared<const Kept>(std::move(function));
  return [kept, called](const std::string& name, const Tensor& x) {
    if (x.device() != Device::cpu)
      bad_input("trace: {} is on a GPU, but Python functions get tensors on the CPU; use device=\"cpu\"", name);
    called();
    const Calling calling;
    const nb::object y = kept->get()(name, x);
    return y.is_none() ? x : tensor_of(y);
  };
}

std::vector<std::string> captures(const TraceLike& said) {
  std::vector<std::string> all;
  for (const auto& [pattern, function] : said)
    if (function.is_none()) all.push_back(pattern);
  return all;
}

}  // namespace

Asked::Asked(const TraceLike& said) : trace(captures(said)), captures_(captures(said)) {
  for (const auto& [pattern, function] : said) {
    if (pattern.ends_with(".logits")) trace.queries = std::numeric_limits<int>::max();
    if (function.is_none()) continue;
    changes_.push_back(pattern);
    trace.replace(pattern, change_of(function, [all = called_, pattern] { all->insert(pattern); }));
  }
}

void Asked::check_matched() const {
  std::vector<std::string> idle;
  for (const std::string& pattern : changes_)
    if (!called_->contains(pattern)) idle.push_back(pattern);
  for (const std::string& pattern : captures_) {
    const Trace its({pattern});
    if (std::ranges::none_of(trace.captured, [&](const auto& one) { return its.wants(one.first); }))
      idle.push_back(pattern);
  }
  if (!idle.empty())
    bad_input(
        "trace: no activation is called \"{}\"; names() of the model has all, and in a training each parameter has an "
        "update, such as \"update.head.w\"",
        idle[0]);
}

nb::dict Asked::captured() const {
  nb::dict all;
  for (const auto& [name, x] : trace.captured) all[name.c_str()] = nb::cast(x.to(Device::cpu));
  return all;
}

}  // namespace poslab::python
