// Sandwich (Chi et al. 2023): the product of two sin/cos encodings, which depends on their distance alone.
//
//   s_ij = q_i . k_j / sqrt(D) + ( sum_{m=1..M} cos((p_j - p_i) / 10000^(m/M)) - M ) / (8h/H)          h = 1 .. H
//
// Nothing is learned. M = 64: encodings of 128 channels. The -M, which the paper leaves out, cancels in the softmax.
#include <cmath>

#include "encodings/by_distance.h"

namespace poslab {
namespace {

struct Sandwich : ByDistance {
  int heads, frequencies;
  Sandwich(const ModelShape& m, const Choices& c) : heads(m.heads), frequencies(c.whole("frequencies")) {}

  void rows(Scores& s, const Positions& p, Device device) const override {
    double sum = 0;                                // for distance d, the same for all heads
    s.bias = distance_table(p, fmt::format("sandwich {}", frequencies), device, heads, [&](double d, int h) {
      if (h == 0) sum = 0;
      for (int m = 1; h == 0 && m <= frequencies; ++m)
        sum += std::cos(d / std::pow(10000., double(m) / frequencies)) - 1;
      return sum * heads / (8. * (h + 1));
    });
  }
};

}  // namespace

extern const SchemePages sandwich_pages;
Scheme sandwich() {
  return {.name = "sandwich",
          .options = {{"frequencies", 64, {4, 4096}, "M: frequencies of the sin/cos encodings that are multiplied"}},
          .reads = always(Reads::distances),
          .make = [](Params, const ModelShape& m, const Choices& c, int) { return std::make_unique<Sandwich>(m, c); },
          .laws = always(Laws{.two_sided = true}), .pages = sandwich_pages};
}

// -- for pages
const SchemePages sandwich_pages = {
    .summary = "the product of two sin/cos encodings as a bias",
    .about = R"(The sines and cosines of two positions, multiplied, give a number that falls with the distance,
steeply at first, then like a logarithm. That is the bias, divided by a number of its own for each
head. Nothing is learned, and both sides are alike.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) + ( sum_m cos((p_j - p_i) / 10000^(m/M)) - M ) H / (8h),   m = 1 .. M",
    .source = "Chi et al. 2023", .doors = "3", .shows = always("The bias that is added to the logits of a head.")};

}  // namespace poslab
