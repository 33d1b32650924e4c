// core/platform/openblas.h in a build without OpenBLAS.
#include "core/error.h"
#include "core/platform/openblas.h"

namespace poslab {

const OpenBlas& openblas() {
  bad_input("products = openblas: this build of poslab has no OpenBLAS; build it with -DPOSLAB_OPENBLAS=AUTO, or use "
            "products = own");
}

bool has_openblas() { return false; }

}  // namespace poslab
