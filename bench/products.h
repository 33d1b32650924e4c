// Products of the sizes of training by our matmul, OpenBLAS and oneDNN, in turns.
#pragma once

namespace poslab {

void time_products();  // prints a table: medians in GFLOP/s, and ours against the faster of the others

}  // namespace poslab
