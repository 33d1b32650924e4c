// The only list of schemes. A new one is a file encodings/NAME.cpp and a place in the two lines below.
#include "core/error.h"
#include "core/names.h"
#include "encodings/encoding.h"

namespace poslab {

Scheme none(), sincos(), learned(), relative(), alibi(), rope(), geometric();

const std::vector<Scheme>& all_encodings() {
  static const std::vector<Scheme> list = {none(), sincos(), learned(), relative(), alibi(), rope(), geometric()};
  return list;
}

const Scheme& encoding(const std::string& name) {
  std::vector<std::string> names;
  for (const Scheme& s : all_encodings()) {
    if (s.name == name) return s;
    names.push_back(s.name);
  }
  throw BadInput(unknown("encoding", name, names));
}

const Sampler& sampler_for(const EncodingSpec& spec, const std::string& name) {
  const Sampler& asked = sampler(name);
  const Scheme& scheme = encoding(spec.name);
  if (name != "randomized" || !scheme.relative) return asked;
  const bool table = spec.mode == RelativeMode::offset_table || spec.mode == RelativeMode::released ||
                     (spec.mode == RelativeMode::paper && scheme.paper_table);
  return table ? sampler("randomized_offsets") : asked;
}

}  // namespace poslab
