// The numerics number: this program must reproduce the committed one, for each instruction set of this processor.
#include "experiment/numerics.h"

#include <doctest/doctest.h>

#include "core/platform/isa.h"
#include "core/platform/parallel.h"

namespace poslab::test {

#ifndef POSLAB_DOUBLE
// Sanitizers check memory between a product and its sum, so GCC does not fuse the two, and the bits differ.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("numerics: training leaves the bits of the committed number") {
  const std::string before = isa();
  for (const std::string& set : available_isas()) {
    use_isa(set);
    const std::string measured = measured_numerics(), committed = numerics(set);
    if (committed.empty())
      MESSAGE("experiment/numerics.def has no number for ", numerics_compiler(), ", ", set, ": ", measured);
    else
      CHECK_MESSAGE(measured == committed, set,
                    ": training leaves other bits than the committed number says. If that is wanted, put this one into "
                    "experiment/numerics.def, and train the results anew");
  }
  use_isa(before);
}
#endif

TEST_CASE("numerics: the number does not depend on the number of threads") {
  const int before = threads();
  set_threads(1);
  const std::string one = measured_numerics();
  for (const int n : {3, 7}) {
    set_threads(n);
    CHECK(measured_numerics() == one);
  }
  set_threads(before);
}
#endif

TEST_CASE("numerics: an instruction set that was never measured has no number") { CHECK(numerics("mmx") == ""); }

}  // namespace poslab::test
