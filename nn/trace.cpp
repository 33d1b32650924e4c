#include "nn/trace.h"

#include <algorithm>

namespace poslab {
namespace {

// '*' stands for any run of characters, also an empty one.
bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  return !name.empty() && pattern[0] == name[0] && matches(pattern.substr(1), name.substr(1));
}

}  // namespace

bool Trace::wants(const std::string& name) const {
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& p) { return matches(p, name); });
}

}  // namespace poslab
