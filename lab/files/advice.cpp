#include "lab/files/advice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
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

// The lists whose names are mistaken for each other.
struct List {
  const char* what;
  Names (*names)();
};
const List other_lists[] = {{"a task (--task)", [] { return names_of(all_tasks()); }},
                            {"an encoding (--encoding)", [] { return names_of(all_encodings()); }},
                            {"a sampler of positions (--positions)", [] { return names_of(all_samplers()); }}};

// "even_pairs,bucket_sort", "rope alibi", "rope/alibi": names of the list, where one is asked for. How many; 0 if they
// are not.
size_t several(std::string name, const Names& known) {
  size_t n = 0;
  for (char& c : name) c = c == ',' || c == '/' ? ' ' : c;
  for (size_t from = 0; (from = name.find_first_not_of(' ', from)) != std::string::npos; ++n) {
    const size_t end = std::min(name.find(' ', from), name.size());
    if (!has(known, name.substr(from, end - from))) return 0;
    from = end;
  }
  return n > 1 ? n : 0;
}

// Two names joined as one: "none_rope", "none-rope".
bool two_joined(const std::string& name, const Names& known) {
  for (size_t at = 0; (at = name.find_first_of("_-", at + 1)) != std::string::npos;)
    if (has(known, name.substr(0, at)) && has(known, name.substr(at + 1))) return true;
  return false;
}

// Advice for a name of another list beside one of this, as papers have it: "randomized rope", "randomized_rope".
std::string of_two_lists(const std::string& name, const Names& known) {
  for (size_t at = 0; (at = name.find_first_of(" _-+", at + 1)) != std::string::npos;)
    for (const auto& [here, there] :
         {std::pair{name.substr(at + 1), name.substr(0, at)}, std::pair{name.substr(0, at), name.substr(at + 1)}})
      for (const List& other : other_lists)
        if (has(known, here) && has(other.names(), there))
          return fmt::format("; \"{}\" is {}, and \"{}\" stands here alone", there, other.what, here);
  return "";
}

std::string message(const std::string& kind, const std::string& name, const Names& known) {
  for (const char* dash : {"\u2014", "\u2013", "\u2212"})  // as editors and chats make of --
    if (name.starts_with(dash))
      return fmt::format("\"{}\" begins with a typographic dash; type it again with -- in front", name);
  const std::string text = fmt::format("unknown {} \"{}\"", kind, name);
  if (name.find(" --") != name.npos) return text + "; quotes make it one word, options included; leave them out";
  if (const size_t n = two_joined(name, known) ? 2 : several(name, known))
    return text + fmt::format("; these are {}, and one stands here; {}", n,
                              kind == "list" ? "say the command for each"
                                             : "`poslab compare` takes several, as in a,b, and so does `poslab sweep`");
  if (const std::string both = of_two_lists(name, known); !both.empty()) return text + both;
  for (const List& other : other_lists)
    if (name != "none" && has(other.names(), name))
      return fmt::format("{}; this is {}", text, other.what) +
             (known.size() > 20 ? "" : fmt::format(". Known: {}", fmt::join(known, ", ")));
  return "";
}

}  // namespace

void give_advice() { advice = message; }

}  // namespace poslab
