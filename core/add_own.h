// Additions to a list of schemes, samplers or tasks while the program runs, for example by the Python module.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "core/ascii.h"
#include "core/error.h"

namespace poslab {

// Adds an entry to the list, or replaces one that was added under the same name. The first `built_in` entries are
// poslab's own. kind: "an encoding", for errors. Throws BadInput for the name of a built-in entry, and for a name with
// characters other than lower-case letters, digits and _.
template <class Thing>
void add_own(std::vector<Thing>& all, size_t built_in, const std::string& kind, Thing thing) {
  const auto allowed = [](char c) { return ascii::is_lower(c) || ascii::is_digit(c) || c == '_'; };
  if (thing.name.empty() || !std::all_of(thing.name.begin(), thing.name.end(), allowed))
    bad_input("\"{}\" cannot be the name of {}; give lower-case letters, digits and _", thing.name, kind);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Thing& t) { return t.name == thing.name; });
  if (found < all.begin() + ptrdiff_t(built_in))
    bad_input("there is {} {} already; give another name", kind, thing.name);
  if (found == all.end())
    all.push_back(std::move(thing));
  else
    *found = std::move(thing);
}

}  // namespace poslab
