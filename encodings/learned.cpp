// A learned vector for each position, added to the embedding (Gehring et al. 2017):
//
//   h_i = x_i + table[p_i - first]                  x: (B, T, C)   table: (N, C)   p: (1 or B, T)
//
// Positions between two rows (sampler evenly_spread) read the nearest: at least 1 apart, they read different ones.
#include <cmath>

#include "encodings/encoding.h"

namespace poslab {
namespace {

Tensor add_rows(const Tensor& x, const Tensor& table, int first, const Positions& p) {
  std::vector<int> row;
  for (double at : p.tokens("learned")) {
    const double nearest = std::floor(at + 0.5) - first;
    if (nearest < 0 || nearest >= table.dim(0))   // JAX would clamp in silence
      bad_input("learned: position {} is not in the table of {} rows from position {} on; {}", at, table.dim(0), first,
                nearest < 0 ? "take positions from there on" : "raise max_position");
    row.push_back(int(nearest));
  }
  return x + gather(table, Ids({p.sequences(), p.time()}, std::move(row)));
}

}  // namespace

extern const SchemePages learned_pages;
Scheme learned() {
  return {.name = "learned", .reads = always(Reads::positions),
          .embed = [](Params p, const ModelShape& m, const Choices&) -> PositionEmbedding {
            // std 1, the library default of the released code, where 0.02 is usual (spec A.1 (4))
            return [table = p.truncated_normal("table", {m.pool, m.d_model}, 1.0), first = m.first](
                       const Tensor& x, const Positions& at) { return add_rows(x, table, first, at); };
          },
          .laws = always(Laws{.shift = false, .toeplitz = false}), .finite = always(true),
          .pages = learned_pages};
}

// -- for pages
const SchemePages learned_pages = {
    .summary = "a learned vector for each position, added; randomized per_sequence it is label encoding (Li & "
               "McClelland 2022)",
    .about = R"(Each position has a vector of its own, which is learned and added to the embedding of the symbol
that stands there. A position that training has not met has a vector that nobody has trained, and
beyond the table there is none. With randomized positions, drawn per sequence, it is label encoding
(Li & McClelland 2022).)",
    .formula = "h_i = x_i + table[p_i - first],   table: max_position rows", .source = "Gehring et al. 2017",
    .doors = "1",
    .shows = always("How alike the vectors are that the two slots are given: the cosine between them.")};

}  // namespace poslab
