// core/platform/openblas.h where it is not looked for.
#include "core/error.h"
#include "core/platform/openblas.h"

namespace poslab {

const OpenBlas& openblas() {
  bad_input("products = openblas: this build of poslab is without it; build it with -DPOSLAB_OPENBLAS=AUTO, or use "
            "products = own");
}

bool has_openblas() { return false; }

}  // namespace poslab
