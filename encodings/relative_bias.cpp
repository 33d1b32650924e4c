// A learned bias for each distance, clipped: T5's bias without buckets, as in Swin (Liu et al. 2021) and BEiT.
//
//   s_ij = q_i . k_j / sqrt(D) + table[clip(p_j - p_i)]_h          clip to -K .. K, interpolated between rows
//
// Left out: Swin's and BEiT's two dimensions.
#include <algorithm>

#include "encodings/by_distance.h"
#include "encodings/rows_at.h"

namespace poslab {
namespace {

struct RelativeBias : ByDistance {
  int clip;
  Tensor table;                                    // (2K + 1, H)
  RelativeBias(const Params& p, const ModelShape& m, const Choices& c)
      : clip(c.whole("clip")), table(p.truncated_normal("table", {2 * clip + 1, m.heads}, 0.02)) {}

  void rows(Scores& s, const Positions& p, Device device) const override {
    std::vector<double> row;
    for (const double d : p.distances().rows(device)) row.push_back(std::clamp(d, -double(clip), double(clip)) + clip);
    s.bias = rows_at(table, row);
  }
};

}  // namespace

extern const SchemePages relative_bias_pages;
Scheme relative_bias() {
  return {.name = "relative_bias",
          .options = {{"clip", 128, {2, 1 << 20}, "the furthest distance with a row of its own"}},
          .reads = always(Reads::distances), .make = layer_of<RelativeBias>, .pages = relative_bias_pages};
}

// -- for pages
const SchemePages relative_bias_pages = {
    .summary = "a learned bias for each distance, up to a furthest one",
    .about = R"(Each head learns a number for each distance, left and right, which is added to the logits. All
distances beyond the furthest one count as the furthest. This is the plainest learned bias: nothing
is shared between neighbouring distances, so one that training has not seen keeps its initial value.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) + table[clip(p_j - p_i)]_h,   table: (2 clip + 1, H) in each layer",
    .source = "Liu et al. 2021", .doors = "3", .shows = always("The bias that is added to the logits of a head.")};

}  // namespace poslab
