// Additions to one of the lists while the program runs, as the Python module makes them: schemes, samplers, tasks.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "core/ascii.h"
#include "core/error.h"

namespace poslab {

// Adds an entry to the list, or replaces one that was added under the same name. The first `ours` entries are built in.
// kind: for errors, "an encoding". Throws BadInput for the name of a built-in entry, or one that cannot be spelled.
template <class Thing>
void add_own(std::vector<Thing>& all, size_t ours, const std::string& kind, Thing thing) {
  const auto spells = [](char c) { return ascii::is_lower(c) || ascii::is_digit(c) || c == '_'; };
  if (thing.name.empty() || !std::all_of(thing.name.begin(), thing.name.end(), spells))
    bad_input("\"{}\" is no name of {}; give small letters, digits and _", thing.name, kind);
  const auto there = std::find_if(all.begin(), all.end(), [&](const Thing& t) { return t.name == thing.name; });
  if (there < all.begin() + ptrdiff_t(ours)) bad_input("there is {} {} already; give another name", kind, thing.name);
  if (there == all.end())
    all.push_back(std::move(thing));
  else
    *there = std::move(thing);
}

}  // namespace poslab
