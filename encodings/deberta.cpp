// DeBERTa's disentangled attention (He et al. 2021): content meets distance twice, from the query and from the key.
//
//   s_ij = ( q_i . k_j + q_i . W_K E[t(p_i - p_j)] + k_j . W_Q E[t(p_j - p_i)] ) / sqrt(3 D)
//
//   t(d) = clip(d + k, 0, 2k - 1); E: (2k, C), W_K, W_Q: (C, C), in every layer (published: one E for all layers)
// The 3 counts the terms. With `log`, from version 2, distances from k/2 to 2k share buckets that grow. Left out: the
// bias of W_Q, absolute positions before the output, and W_K, W_Q shared with the content (version 2).
#include <algorithm>
#include <cmath>

#include "encodings/relative_vectors.h"

namespace poslab {
namespace {

// The bucket of distance d: d itself up to k/2, then ceilings of a logarithm, k - 1 at distance 2k - 1.
double bucket(double d, int k) {
  const int middle = k / 2;
  const double far = std::abs(d);
  if (far <= middle) return d;
  const double log = std::log(far / middle) / std::log((2 * k - 1.0) / middle);
  return std::copysign(middle + std::ceil(log * (middle - 1) - 1e-9), d);
}

}  // namespace

extern const SchemePages deberta_pages;
Scheme deberta() {
  return {.name = "deberta",
          .options = {{"clip", 512, {4, 65536}, "k: distances beyond it look alike (version 2: 256)"},
                      {"c2p", true, "the query's content is compared with the distance"},
                      {"p2c", true, "the key's content is compared with the distance"},
                      {"log", false, "distances beyond k/2 share buckets that grow, as in version 2"},
                      {"p2c_rows", {"paper", "released"}, "released: p2c too looks up t(p_i - p_j), as the code does"}},
          .reads = [](const Choices& c) { return c.on("c2p") || c.on("p2c") ? Reads::distances : Reads::nothing; },
          .make = [](Params p, const ModelShape& m, const Choices& c, int) {
            const int k = c.whole("clip"), C = m.d_model, H = m.heads, D = m.head_dim();
            const bool log = c.on("log"), c2p = c.on("c2p"), p2c = c.on("p2c");
            const Tensor rows = c2p || p2c ? p.normal("rows", {2 * k, C}, 0.02) : Tensor();
            const auto vectors = [&](bool on, const char* name, int sign) -> DistanceVectors {
              if (!on) return {};
              const Tensor w = p.truncated_normal(name, {C, H * D}, 1 / std::sqrt(double(C)));
              return [=](std::vector<double> d) {                                 // d: p_j - p_i
                for (double& x : d) {
                  x *= sign;
                  x = std::clamp<double>((log ? bucket(x, k) : x) + k, 0, 2 * k - 1);
                }
                return linear(rows_at(rows, d), w).reshape({int(d.size()), H, D});
              };
            };
            const DistanceVectors of_queries = vectors(c2p, "keys", -1),
                                  of_keys = vectors(p2c, "queries", c["p2c_rows"] == "paper" ? 1 : -1);
            return relative_vectors({.scale = 1 / std::sqrt((1.0 + c2p + p2c) * D),
                                     .queries = of_queries, .keys = of_keys});
          },
          .laws = [](const ModelShape&, const Choices& c) { return Laws{.two_sided = !c.on("c2p") && !c.on("p2c")}; },
          .pages = deberta_pages};
}

// -- for pages
const SchemePages deberta_pages = {
    .summary = "query and key are each compared with the distance, through projections of their own",
    .about = R"(A logit is a sum of three: content with content, the query's content with the distance, and the
key's content with the distance seen from the other side. Each distance up to a limit has a learned
vector, from which two projections make the vectors that queries and keys are compared with.)",
    .formula = "s_ij = ( q_i . k_j + q_i . W_K E[t(p_i - p_j)] + k_j . W_Q E[t(p_j - p_i)] ) / sqrt(3 D),   "
               "t(d) = clip(d + k, 0, 2k - 1)",
    .source = "He et al. 2021", .doors = "3",
    .shows = always("The logits if queries and keys are 1 in every channel: the term of the distance plus a constant."
                    ""),
    .pictures = {.matrix = unit_contents},
    .cost = {.matrices = [](const ModelShape&, const Choices& c) { return c.on("p2c") ? 11. : 0.; },
             .live = [](const ModelShape& m, const Choices& c) { return c.on("p2c") ? 3 + 2. * m.head_dim() : 0.; }}};

}  // namespace poslab
