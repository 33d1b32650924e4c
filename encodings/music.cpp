// Music Transformer (Huang et al. 2018): a learned key for each distance, separate for each head.
//
//   s_ij = q_i . (k_j + a_h[d]) / sqrt(D)                                              d = clip(p_j - p_i, -k, k)
//
//   a: (k + 1, H, D) in every layer with a causal mask, as published; (2k + 1, H, D) without one.
// Left out: the local form, and the skewing of memory, because fused attention looks rows up instead.
#include <algorithm>
#include <cmath>

#include "encodings/relative_vectors.h"

namespace poslab {

extern const SchemePages music_pages;
Scheme music() {
  return {.name = "music", .options = {{"clip", 512, {2, 65536}, "k: distances beyond it look alike"}},
          .reads = always(Reads::distances),
          .make = [](Params p, const ModelShape& m, const Choices& c, int) {
            const int k = c.whole("clip"), ahead = m.causal ? 0 : k;
            const double scale = 1 / std::sqrt(double(m.head_dim()));
            const Tensor table = p.normal("keys", {k + 1 + ahead, m.heads, m.head_dim()}, scale);
            return relative_vectors({.scale = scale, .queries = [=](std::vector<double> d) {
                                       for (double& x : d) x = std::clamp<double>(x, -k, ahead) + k;
                                       return rows_at(table, d);
                                     }});
          },
          .pages = music_pages};
}

// -- for pages
const SchemePages music_pages = {
    .summary = "a learned key for each distance and head: relative attention of Music Transformer",
    .about = R"(Each head has a learned vector for each distance up to a limit, and the query is compared with it
as with the key. It is Shaw's scheme without the vectors for values, with separate vectors for each
head, and with a limit so wide that it covers the length of training.)",
    .formula = "s_ij = q_i . (k_j + a_h[d]) / sqrt(D),   d = clip(p_j - p_i, -k, k)", .source = "Huang et al. 2018",
    .doors = "3",
    .shows = always("The logits if queries and keys are 1 in every channel: the term of the distance plus a constant."
                    ""),
    .pictures = {.matrix = unit_contents}};

}  // namespace poslab
