// What is said of a test whose loss is NaN or infinite, once its figures are shown and written.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "core/error.h"

namespace poslab {

// Names the first such length. A training has ended well also where a length overflows, so that behind one it is said
// and no more; a test of its own has failed.
template <class AtLength>
void must_be_finite(const std::vector<AtLength>& all, bool after_training) {
  for (const AtLength& at : all) {
    if (std::isfinite(at.loss)) continue;
    const std::string why = fmt::format(
        "the loss at length {} is {}, so its figures mean nothing: NaN or infinity came up in the computation; "
        "POSLAB_DEBUG=4 stops at the first op that makes one, and names it",
        at.length, std::isnan(at.loss) ? "NaN" : "infinite");
    if (!after_training) failure("{}", why);
    fmt::print(stderr, "poslab: {}\n", why);
    return;
  }
}

}  // namespace poslab
