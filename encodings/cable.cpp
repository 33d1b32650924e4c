// CABLE (Veisi et al. 2025), context-aware ALiBi: each token between query and key adds its own penalty.
//
//   s_ij = q_i . k_j / sqrt(D) - sum of softplus(w_h . x_t + b_h) over the slots t after j up to i
//
//   w: (C, H), b: (H), in every layer. This is the formula of forgetting gates with -w and -b, found independently.
// scaled=off is the released code, which does not scale q . k.
#include "encodings/forgetting.h"

namespace poslab {

extern const SchemePages cable_pages;
Scheme cable() {
  return {.name = "cable", .options = {{"scaled", true, "q . k is divided by sqrt(D); off: as in the released code"}},
          .reads = always(Reads::slots),
          .make = [](Params p, const ModelShape& m, const Choices& c, int) {
            return std::make_unique<ForgettingGates>(p, m, true, 0, -1, c.on("scaled"));
          },
          .laws = always(Laws{.permutes = false}),
          .causal_only = always("its penalties add up over the tokens before the query"),
          .pages = cable_pages};
}

// -- for pages
const SchemePages cable_pages = {
    .summary = "penalties that each token between query and key sets by its content: context-aware ALiBi",
    .about = R"(The penalty for distance is a sum over the tokens between query and key. Each token adds a learned
function of its content, so that some tokens lie further apart than others. This is the formula of
forgetting gates, found independently, with gates that begin half open.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) - sum of softplus(w_h . x_t + b_h) over the slots t after j up to i",
    .source = "Veisi et al. 2025", .doors = "2", .shows = always("The bias of tokens whose states are 0."),
    .pictures = {.matrix = gate_picture}};

}  // namespace poslab
