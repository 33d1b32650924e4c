// The only list of schemes. A new one is a file encodings/NAME.cpp and a place in the two lines below.
#include "encodings/encoding.h"

namespace poslab {

Scheme none(), sincos(), learned(), relative(), alibi(), rope(), geometric();

const std::vector<Scheme>& all_encodings() {
  static const std::vector<Scheme> list = {none(), sincos(), learned(), relative(), alibi(), rope(), geometric()};
  return list;
}

}  // namespace poslab
