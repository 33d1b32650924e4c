#include "python/trace.h"

#include <algorithm>
#include <limits>

#include "autograd/tape.h"
#include "python/own.h"

namespace poslab::python {
namespace {

Trace::Change change_of(nb::object function, const std::function<void()>& called) {
  const auto kept = std::make_shared<const Kept>(std::move(function));
  return [kept, called](const std::string& name, const Tensor& x) {
    called();
    if (kept->get().is_none()) return x;
    const Calling calling;
    const nb::object given = kept->get()(name, x.to(Device::cpu));
    const Tensor y = given.is_none() ? x : tensor_of(given);
    if (y.device() != x.device() && recording() && (x.requires_grad() || y.requires_grad()))
      bad_input("trace: {} is on a GPU, where no gradient passes through a replacement by Python; return None, or use "
                "device=\"cpu\"", name);
    return y.to(x.device());
  };
}

std::vector<std::string> captures(const TraceLike& said) {
  std::vector<std::string> all;
  for (const auto& [pattern, function] : said)
    if (function.is_none()) all.push_back(pattern);
  return all;
}

}  // namespace

Asked::Asked(const TraceLike& said) : trace(captures(said)) {
  for (const auto& [pattern, function] : said) {
    if (pattern.ends_with(".logits")) trace.queries = std::numeric_limits<int>::max();
    idle_->insert(pattern);
    trace.replace(pattern, change_of(function, [idle = idle_, pattern] { idle->erase(pattern); }));
  }
}

void Asked::check_matched() const {
  if (idle_->empty()) return;
  bad_input("trace: no activation is called \"{}\"; names() of the model lists all, and in training each parameter has "
            "an update, such as \"update.head.w\"", *idle_->begin());
}

void Asked::to_cpu() {
  for (auto& [name, x] : trace.captured) {
    const Tensor there = std::exchange(x, x.to(Device::cpu));
    if (x.data() == there.data() || !there.has_grad()) continue;
    const std::vector<real> slope = there.grad().values();
    std::ranges::copy(slope, x.require_grad().grad_accumulator().at);
  }
}

nb::dict Asked::captured() const {
  nb::dict all;
  for (const auto& [name, x] : trace.captured) all[name.c_str()] = nb::cast(x);
  return all;
}

}  // namespace poslab::python
