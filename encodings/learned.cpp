// A learned vector for each position, added to the embedding (Gehring et al. 2017):
//
//   h_i = x_i + table[p_i - first]                  x: (B, T, C)   table: (N, C)   p: (1 or B, T)
//
// A position between two rows, as from the sampler evenly_spread, mixes the two.
#include "encodings/encoding.h"
#include "encodings/rows_at.h"

namespace poslab {
namespace {

Tensor add_rows(const Tensor& x, const Tensor& table, int first, const Positions& p) {
  std::vector<double> row;
  for (double at : p.tokens("learned")) {
    row.push_back(at - first);
    if (row.back() < 0 || row.back() > table.dim(0) - 1)   // JAX would clamp it silently
      bad_input("learned: position {} is not in the table of {} rows from position {} on; {}", at, table.dim(0), first,
                row.back() < 0 ? "use larger positions" : "raise max_position");
  }
  return x + rows_at(table, row).reshape({p.sequences(), p.time(), x.dim(-1)});
}

}  // namespace

extern const SchemePages learned_pages;
Scheme learned() {
  return {.name = "learned", .reads = always(Reads::positions),
          .embed = [](Params p, const ModelShape& m, const Choices&) -> PositionEmbedding {
            // std 1 is the default of the released code's library; 0.02 is usual (spec A.1 (4))
            return [table = p.truncated_normal("table", {m.pool, m.d_model}, 1.0), first = m.first](
                       const Tensor& x, const Positions& at) { return add_rows(x, table, first, at); };
          },
          .laws = always(Laws{.shift = false, .toeplitz = false}), .finite = always(true),
          .pages = learned_pages};
}

// -- for pages
const SchemePages learned_pages = {
    .summary = "a learned vector for each position, added; with positions drawn per sequence, label encoding (Li & "
               "McClelland 2022)",
    .about = R"(Each position has a vector of its own, which is learned and added to the embedding of the symbol
that stands there; a position between two whole ones mixes their vectors. A position that training
has not seen keeps an untrained vector, and beyond the table there is none.
With randomized positions, drawn per sequence, it is label encoding (Li & McClelland 2022).)",
    .formula = "h_i = x_i + table[p_i - first],   table: max_position rows", .source = "Gehring et al. 2017",
    .doors = "1",
    .shows = always("The similarity of the vectors of two slots: the cosine between them.")};

}  // namespace poslab
