#include "encodings/own.h"

#include <algorithm>
#include <cctype>

namespace poslab {
namespace {

// The first `ours` of the list are poslab's.
template <class Thing>
void add(std::vector<Thing>& all, size_t ours, const std::string& kind, Thing thing) {
  const auto spells = [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; };
  if (thing.name.empty() || !std::all_of(thing.name.begin(), thing.name.end(), spells))
    bad_input("\"{}\" is no name of {}; give small letters, digits and _", thing.name, kind);
  const auto there = std::find_if(all.begin(), all.end(), [&](const Thing& t) { return t.name == thing.name; });
  if (there < all.begin() + ptrdiff_t(ours)) bad_input("there is {} {} already; give another name", kind, thing.name);
  if (there == all.end())
    all.push_back(std::move(thing));
  else
    *there = std::move(thing);
}

}  // namespace

void add_encoding(Scheme scheme) {
  static const size_t ours = all_encodings().size();
  add(list_of_encodings(), ours, "an encoding", std::move(scheme));
}

void add_sampler(Sampler sampler) {
  static const size_t ours = all_samplers().size();
  add(list_of_samplers(), ours, "a sampler", std::move(sampler));
}

}  // namespace poslab
