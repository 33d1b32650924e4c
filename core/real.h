// The one scalar type: `float`, but in the double build `double`. That build, of the same sources, checks every
// gradient against central differences.
#pragma once

namespace poslab {

#ifdef POSLAB_DOUBLE
using real = double;
#else
using real = float;
#endif

}  // namespace poslab
