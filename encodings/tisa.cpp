// TISA (Wennberg and Henter 2021): a few learned bumps along the distance.
//
//   s_ij = q_i . k_j / sqrt(D) + sum_n a_nh exp(-|b_nh| (p_j - p_i - c_nh)^2)                        n = 1 .. kernels
//
// Initial values, as released: a, b from N(0.1, 0.01^2), c from N(0, 5^2). A layer has 3 H kernels parameters.
#include "encodings/by_distance.h"

namespace poslab {
namespace {

struct Tisa : ByDistance {
  Tensor amplitude, sharpness, centre;             // (kernels, H)
  Tisa(const Params& p, const ModelShape& m, const Choices& c) {
    const Shape shape{c.whole("kernels"), m.heads};
    amplitude = p.normal("amplitude", shape, 0.01), sharpness = p.normal("sharpness", shape, 0.01);
    centre = p.normal("centre", shape, 5);
    for (Tensor* x : {&amplitude, &sharpness})
      for (int64_t i = 0; i < x->size(); ++i) x->data()[i] += real(0.1);
  }

  void rows(Scores& s, const Positions& p, Device device) const override {
    const Tensor d = distance_table(p, "tisa", device, 1, [](double distance, int) { return distance; });
    const int N = d.dim(0);
    const Tensor away = d.reshape({N, 1, 1}) - centre;                                               // (N, kernels, H)
    s.bias = sum(amplitude * exp(-(abs(sharpness) * away * away)), 1).reshape({N, amplitude.dim(1)});
  }
};

}  // namespace

extern const SchemePages tisa_pages;
Scheme tisa() {
  return {.name = "tisa", .options = {{"kernels", 5, {1, 1024}, "bumps of each head"}},
          .reads = always(Reads::distances), .make = layer_of<Tisa>, .pages = tisa_pages};
}

// -- for pages
const SchemePages tisa_pages = {
    .summary = "a sum of a few learned bumps along the distance",
    .about = R"(The bias of a distance is a sum of bumps, by default five for each head, whose heights, widths
and places are learned: a head may look at the key three to the left, or away from its neighbours.
Distances that training has not seen get the sum of the bumps there: almost 0 far from all bumps.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) + sum_n a_nh exp(-|b_nh| (p_j - p_i - c_nh)^2)",
    .source = "Wennberg and Henter 2021", .doors = "3",
    .shows = always("The bias that is added to the logits of a head.")};

}  // namespace poslab
