#include "nn/trace.h"

#include <algorithm>

#include "core/error.h"

namespace poslab {
namespace {

// '*' matches any run of characters, even an empty one.
bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  return !name.empty() && pattern[0] == name[0] && matches(pattern.substr(1), name.substr(1));
}

bool any_matches(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return matches(p, name); });
}

}  // namespace

bool Trace::wants(const std::string& name) const {
  return any_matches(captures_, name) ||
         std::any_of(changes_.begin(), changes_.end(), [&](const auto& c) { return matches(c.first, name); });
}

Tensor Trace::operator()(const std::string& name, Tensor x) {
  for (const auto& [pattern, change] : changes_) {
    if (!matches(pattern, name)) continue;
    Tensor y = change(name, x);
    if (!y || y.shape() != x.shape() || y.device() != x.device())
      bad_input("trace: {} has shape {}, and its replacement {}; give a tensor of shape {} on its device",
                name, to_string(x.shape()), y ? to_string(y.shape()) : "is absent", to_string(x.shape()));
    x = std::move(y);
  }
  if (any_matches(captures_, name)) captured[name] = x;
  return x;
}

void Trace::capture(const std::string& name, const Tensor& x) {
  if ((*this)(name, x).data() != x.data())
    bad_input("trace: {} is computed only to be shown, and nothing reads it; replace {}heads", name,
              name.substr(0, name.rfind('.') + 1));
}

}  // namespace poslab
