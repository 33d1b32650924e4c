// The one scalar type. `float` everywhere; the double build compiles the same sources with `double` and checks every
// gradient there against central differences.
#pragma once

namespace poslab {

#ifdef POSLAB_DOUBLE
using real = double;
#else
using real = float;
#endif

}  // namespace poslab
