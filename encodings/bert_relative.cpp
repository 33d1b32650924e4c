// A learned vector for every distance, as in BERT: relative_key, the form of Shaw et al. 2018, and relative_key_query
// (Huang et al. 2020, method 4).
//
//   s_ij = ( q_i . k_j + q_i . a[d] + k_j . a[d] ) / sqrt(D)                                       d = p_i - p_j
//
//   a: (2 N - 1, D), N = max_position, in every layer and shared by its heads. meets=query: without k_j . a[d].
// Nothing is clipped, so a distance beyond the table is refused. Between whole distances: a mixture of two rows.
#include <cmath>

#include "encodings/relative_vectors.h"

namespace poslab {

extern const SchemePages bert_relative_pages;
Scheme bert_relative() {
  return {.name = "bert_relative", .options = {{"meets", {"query", "both"}, "relative_key, or relative_key_query"}},
          .reads = always(Reads::distances),
          .make = [](Params p, const ModelShape& m, const Choices& c, int) {
            const int N = m.pool;
            const DistanceVectors vectors = [N, table = p.normal("keys", {2 * N - 1, 1, m.head_dim()}, 0.02)](
                                                std::vector<double> d) {
              for (double& x : d) {
                if (std::abs(x) > N - 1)
                  bad_input("bert_relative: distance {} is not in the table of max_position = {}; raise it",
                            std::abs(x), N);
                x = N - 1 - x;
              }
              return rows_at(table, d);
            };
            return relative_vectors({.scale = 1 / std::sqrt(double(m.head_dim())),
                                     .queries = vectors,
                                     .keys = c["meets"] == "both" ? vectors : DistanceVectors()});
          },
          .finite = always(true), .pages = bert_relative_pages};
}

// -- for pages
const SchemePages bert_relative_pages = {
    .summary = "a learned vector for every distance, compared with the query, or with the key too",
    .about = R"(Every distance has a learned vector. The query is compared with it, and with meets=both the key
is too. BERT models offer this form. Unlike in `shaw`, there is no limit beyond which
distances look alike: distances that training has not seen keep untrained vectors.)",
    .formula = "s_ij = ( q_i . k_j + q_i . a[d] + k_j . a[d] ) / sqrt(D),   d = p_i - p_j",
    .source = "Shaw et al. 2018; Huang et al. 2020", .doors = "3",
    .shows = always("The logits if queries and keys are 1 in every channel: the term of the distance plus a constant."
                    ""),
    .pictures = {.matrix = unit_contents},
    .cost = {.matrices = [](const ModelShape&, const Choices& c) { return c["meets"] == "both" ? 4. : 0.; }}};

}  // namespace poslab
