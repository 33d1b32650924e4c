#include "lab/files/advice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/names.h"
#include "encodings/encoding.h"
#include "encodings/sampler.h"
#include "tasks/task.h"

namespace poslab {
namespace {

using Names = std::vector<std::string>;
bool has(const Names& known, const std::string& name) {
  return std::find(known.begin(), known.end(), name) != known.end();
}

// Lists whose names users confuse with each other.
struct List {
  const char* what;
  Names (*names)();
};
const List other_lists[] = {{"a task (--task)", [] { return names_of(all_tasks()); }},
                            {"an encoding (--encoding)", [] { return names_of(all_encodings()); }},
                            {"a sampler of positions (--positions)", [] { return names_of(all_samplers()); }}};

// The number of names in one argument such as "rope,alibi", "rope/alibi" or "rope alibi"; 0 if `known` lacks one of
// them.
size_t several(std::string name, const Names& known) {
  for (char& c : name) c = c == '/' || c == ' ' ? ',' : c;
  Names all = split(name, ',');
  std::erase(all, "");  // the empty part of "rope, alibi"
  const bool each = std::all_of(all.begin(), all.end(), [&](const std::string& one) { return has(known, one); });
  return each && all.size() > 1 ? all.size() : 0;
}

std::string message(const std::string& kind, const std::string& name, const Names& known) {
  const std::string text = fmt::format("unknown {} \"{}\"", kind, name);
  if (const size_t n = several(name, known); n && kind != "list")
    return text + fmt::format("; these are {} names, but one is needed; `poslab compare` and `poslab sweep` accept "
                              "several, as in a,b", n);
  for (const List& other : other_lists)
    if (name != "none" && has(other.names(), name))
      return fmt::format("{}; this is {}", text, other.what) +
             (known.size() > 20 ? "" : fmt::format(". Known: {}", fmt::join(known, ", ")));
  return "";
}

}  // namespace

void give_advice() { advice = message; }

}  // namespace poslab
