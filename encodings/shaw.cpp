// Relative position representations (Shaw, Uszkoreit, Vaswani 2018): a learned vector for each distance up to `clip`.
//
//   s_ij = q_i . (k_j + a[d]) / sqrt(D),   o_i = sum_j w_ij (v_j + c[d])             d = clip(p_j - p_i, -k, k)
//
//   a, c: (2k + 1, D), in every layer and shared by its heads. Between whole distances: a mixture of two rows.
#include <algorithm>
#include <cmath>

#include "encodings/relative_vectors.h"

namespace poslab {

extern const SchemePages shaw_pages;
Scheme shaw() {
  return {.name = "shaw",
          .options = {{"clip", 16, {2, 65536}, "k: distances beyond it look alike"},
                      {"values", true, "vectors of the distances are added to the values too"}},
          .reads = always(Reads::distances),
          .make = [](Params p, const ModelShape& m, const Choices& c, int) {
            const int k = c.whole("clip"), D = m.head_dim();
            const double bound = std::sqrt(6.0 / (2 * k + 1 + D));   // Glorot's initialization, as in the released code
            const auto vectors = [&](const char* name) -> DistanceVectors {
              return [table = p.uniform(name, {2 * k + 1, 1, D}, -bound, bound), k](std::vector<double> d) {
                for (double& x : d) x = std::clamp<double>(x, -k, k) + k;
                return rows_at(table, d);
              };
            };
            return relative_vectors({.scale = 1 / std::sqrt(double(D)),
                                     .queries = vectors("keys"),
                                     .values = c.on("values") ? vectors("values") : DistanceVectors()});
          },
          .pages = shaw_pages};
}

// -- for pages
const SchemePages shaw_pages = {
    .summary = "a learned vector for each near distance, added to keys and to values",
    .about = R"(Each distance up to a limit has two learned vectors: one is added to the key at that
distance from the query, the other to the value that the query takes from there. All distances
beyond the limit look alike. With values=off it costs far less, and often works as well.)",
    .formula = "s_ij = q_i . (k_j + a[d]) / sqrt(D),   o_i = sum_j w_ij (v_j + c[d]),   d = clip(p_j - p_i, -k, k)",
    .source = "Shaw et al. 2018", .doors = "3 and 4",
    .shows = always("The logits if queries and keys are 1 in every channel: the term of the distance plus a constant."
                    ""),
    .pictures = {.matrix = unit_contents},
    .cost = {.matrices = [](const ModelShape&, const Choices& c) { return c.on("values") ? 6. : 0.; },
             .live = [](const ModelShape& m,
                        const Choices& c) { return c.on("values") ? 3 + 2. * m.head_dim() / m.heads : 0.; }}};

}  // namespace poslab
