// Contextual positions (Golovneva et al. 2024): a position counts the tokens that a gate of query and key lets through.
//
//   s_ij = z_ij + q_i . e[p_ij],   p_ij = min(g_ij + ... + g_ii, N - 1)      z_ij = q_i . k_j / sqrt(D), g = sigmoid(z)
//
//   e: (N, D), in every layer and shared by its heads; between whole positions a mixture of two rows.
// `signed`: g = tanh(z) counts up and down, like the depth of a stack; e: (2N - 1, D), from -(N-1) to N-1.
// Left out: gates mixed across heads, soft one-hot positions (both in x-transformers).
#include "encodings/explicit_weights.h"
#include "encodings/picture.h"

namespace poslab {
namespace {

struct CoPE : WholeLogits {
  int N;
  bool up_and_down;
  Tensor e;
  CoPE(const Params& p, const ModelShape& m, const Choices& c)
      : N(c.whole("npos")), up_and_down(c.on("signed")),
        e(p.full("rows", {up_and_down ? 2 * N - 1 : N, m.head_dim()}, 0)) {}

  Tensor pairs(const Heads& in, const Positions& p, const Span& span) const override {
    const Tensor z = products(in);
    const Tensor gates = (up_and_down ? tanh(z) : sigmoid(z)) * seen(in, p, span);
    const Tensor counts = scan(gates, 3, {.reverse = true});                                  // (B, H, Tq, Tk)
    const Tensor rows = matmul(by_head(in.q), transpose(e));                         // (B, H, Tq, R): q_i . e_n
    return z + interpolate(rows, up_and_down ? counts + (N - 1) : counts);
  }
};

}  // namespace

extern const SchemePages cope_pages;
Scheme cope() {
  return {.name = "cope",
          .options = {{"npos", 16, {2, 1024}, "N: positions that have a vector"},
                      {"signed", false, "gates from -1 to 1, which count up and down"}},
          .reads = always(Reads::slots), .make = layer_of<CoPE>, .laws = always(Laws{.permutes = false}),
          .causal_only = always("its positions count from the key up to the query"), .pages = cope_pages};
}

// -- for pages
const SchemePages cope_pages = {
    .summary = "positions that count only the tokens which a query's gates let through",
    .about = R"(Each query decides by a gate which of the keys before it count. The position of a key is the
number of counted tokens from there to the query, so a query can ask for the third comma, however
far away that is. With signed=on a gate can also count down, as opening and closing brackets do.)",
    .formula = "s_ij = z_ij + q_i . e[min(sum of sigmoid(z_it) over t = j .. i, N - 1)],   z_ij = q_i . k_j / sqrt(D)",
    .source = "Golovneva et al. 2024", .doors = "3",
    .shows = always("The term added to the logits if queries and keys are 1 in every channel: 0 before training."
                    ""),
    .pictures = {.matrix = always(PairPicture{Quantity::unit_contents, [](auto& e, auto& m, auto& p) {
      const Heads in = all_alike(m, p.time(), 1);
      return (as<CoPE>(e).pairs(in, p, {.causal = true}) - products(in)).reshape({m.heads, p.time(), p.time()});
    }})},
    .cost = {.matrices = always(9.), .live = always(5.)}};

}  // namespace poslab
