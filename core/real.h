// The one scalar type: `float`, or `double` in the double build, which checks every gradient of the same sources
// against central differences.
#pragma once

namespace poslab {

#ifdef POSLAB_DOUBLE
using real = double;
#else
using real = float;
#endif

}  // namespace poslab
