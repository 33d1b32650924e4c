// Relative bias of T5 (Raffel et al. 2020): a learned bias for each bucket of distances (narrow buckets for near ones,
// logarithmic ones for far ones), one table for all layers.
//
//   s_ij = q_i . k_j / sqrt(D) + table[bucket(d_ij)]_h                             d_ij = p_j - p_i, |d| rounded down
//
// T5 itself has no 1 / sqrt(D), because its W_q starts smaller by that factor: `unscaled`. Cross-attention has no bias.
#include <algorithm>
#include <cmath>

#include "encodings/by_distance.h"

namespace poslab {
namespace {

// Without a causal mask half the buckets are for keys to the right of the query; T5 numbers them last.
struct Buckets {
  int side;                       // buckets of one side
  bool causal;
  std::vector<double> first;      // the first distance of buckets 1, 2, ...: exact, where T5 rounds a float logarithm

  // Half of a side's buckets hold one distance e = 0 .. side/2 - 1 each; bucket b of the others begins at
  // e (max_distance / e)^((b - e) / (side - e)), rounded up.
  Buckets(int buckets, double max_distance, bool is_causal)
      : side(is_causal ? buckets : buckets / 2), causal(is_causal) {
    const int exact = side / 2;
    const double times = std::max(1., max_distance / exact);
    for (int b = 1; b < side; ++b) {
      const double beyond = double(b - exact) / (side - exact);
      first.push_back(b < exact ? b : std::ceil(exact * std::pow(times, beyond) - 1e-9));
    }
  }
  int operator()(double distance) const {
    if (causal && distance > 0) return 0;          // as in T5; masked, unless positions are unsorted
    const double whole = std::floor(std::abs(distance) + 1e-9);   // 3 steps of 1/3 are 1
    const int bucket = int(std::upper_bound(first.begin(), first.end(), whole) - first.begin());
    return bucket + (distance > 0 ? side : 0);
  }
};

Buckets buckets(const ModelShape& m, const Choices& c) {
  return {c.whole("buckets"), double(c.whole("max_distance")), m.causal};
}

struct T5 : ByDistance {
  Tensor table;                                    // (buckets, H)
  Buckets bucket;
  bool unscaled;
  double times;

  T5(const Params& shared, const ModelShape& m, const Choices& c)
      : table(shared.normal("table", {c.whole("buckets"), m.heads},
                            c.number("init") > 0 ? c.number("init") : 1 / std::sqrt(double(m.d_model)))),
        bucket(buckets(m, c)),
        unscaled(c.on("unscaled")),
        times(c.on("sqrt_d") ? std::sqrt(double(m.head_dim())) : 1) {}

  void rows(Scores& s, const Positions& p, Device device) const override {
    std::vector<int> row;
    for (const double d : p.distances().rows(device)) row.push_back(bucket(d));
    s.bias = gather(table, Ids({int(row.size())}, row));
    if (times != 1) s.bias = s.bias * times;
    if (unscaled) s.scale = 1;
  }
};

}  // namespace

extern const SchemePages t5_pages;
Scheme t5() {
  return {.name = "t5",
          .options = {{"buckets", 32, {8, 4096}, "number of buckets, both sides together"},
                      {"max_distance", 128, {2, 1 << 24}, "all distances from here on share one bucket"},
                      {"unscaled", false, "logits without 1 / sqrt(D), as in T5, where W_q starts smaller"},
                      {"sqrt_d", false, "the bias times sqrt(D), as in GPT-NeoX and x-transformers"},
                      {"init", 0., {0, 100}, "spread of the table before training; 0: 1 / sqrt(d_model)"}},
          .reads = always(Reads::distances), .make = shared_layer_of<T5>, .pages = t5_pages};
}

// -- for pages
// For each pair, the first distance of its bucket: (T, T)
static Tensor first_distances(const ModelShape& m, const Choices& c, const Positions& p) {
  const Buckets bucket = buckets(m, c);
  const int T = p.time();
  std::vector<double> first_of;
  for (int i = 0; i < T; ++i)
    for (int j = 0; j < T; ++j) {
      const double d = p.distances().value[size_t(p.distances().row(0, i, j, T))];
      const int place = bucket(d) % bucket.side;
      const double first = place ? bucket.first[size_t(place - 1)] : 0;
      first_of.push_back(d > 0 ? first : 0 - first);
    }
  return Tensor::from({T, T}, first_of);
}

const SchemePages t5_pages = {
    .summary = "a learned bias for each bucket of distances, one table for all layers",
    .about = R"(Distances fall into buckets: near ones have a bucket each, far ones share one with more and more
others, and all beyond max_distance are one bucket. Each head learns a bias for each bucket, and all
layers use the same table. Keys on either side of the query have buckets of their own, unless the
mask is causal.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) + table[bucket(p_j - p_i)]_h,   table: (buckets, H), one for all layers",
    .source = "Raffel et al. 2020", .doors = "3",
    .shows = always("The bias that is added to the logits of a head."),
    .pictures = {.distances = first_distances}};

}  // namespace poslab
