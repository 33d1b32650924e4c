// A training step by each engine of products (core/engine.h), of the models that docs/speed.md measures.
#pragma once

namespace poslab {

// Prints, as CSV, milliseconds of a step by each engine, medians of turns: `turns` for own and openblas, and one for
// naive, which takes long. On one thread, and on as many as there are. "" where there is no OpenBLAS.
void time_engines(int turns);

}  // namespace poslab
