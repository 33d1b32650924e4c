// One product of matrices, written better and better: from a dot product to tiles of pairs (docs/speed.md).
#pragma once

namespace poslab {

void time_ladder();    // prints comma-separated lines: GFLOP/s of each rung on one thread

}  // namespace poslab
