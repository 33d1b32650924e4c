#include "encodings/own.h"

#include <algorithm>
#include <cctype>

namespace poslab {

void add_encoding(Scheme scheme) {
  static const size_t ours = all_encodings().size();
  const auto spells = [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; };
  if (scheme.name.empty() || !std::all_of(scheme.name.begin(), scheme.name.end(), spells))
    bad_input("\"{}\" is no name of an encoding; give small letters, digits and _", scheme.name);
  std::vector<Scheme>& all = list_of_encodings();
  const auto there = std::find_if(all.begin(), all.end(), [&](const Scheme& s) { return s.name == scheme.name; });
  if (there < all.begin() + ptrdiff_t(ours))
    bad_input("there is an encoding {} already; give another name", scheme.name);
  if (there == all.end()) all.push_back(std::move(scheme));
  else *there = std::move(scheme);
}

}  // namespace poslab
