// A learned vector for each position, added to the embedding (Gehring et al. 2017):
//
//   h_i = x_i + table[p_i - first]                  x: (B, T, C)   table: (N, C)   p: (1 or B, T)
//
// Positions between two rows (sampler evenly_spread) read the nearest: at least 1 apart, they read different ones.
#include <cmath>

#include "core/error.h"
#include "encodings/encoding.h"

namespace poslab {
namespace {

struct Learned : Encoding {
  Tensor table;
  int first;
  // std 1, the library default of the released code, where 0.02 is usual (spec A.1 (4))
  Learned(const Params& p, const EncodingSpec& spec)
      : table(p.truncated_normal("table", {spec.max_position, spec.d_model}, 1.0)), first(spec.first) {}

  bool adds_to_embedding() const override { return true; }
  Tensor embed(const Tensor& x, const Positions& p) const override {
    std::vector<int> row;
    for (double at : p.tokens("learned")) {
      const double nearest = std::floor(at + 0.5) - first;
      if (nearest < 0 || nearest >= table.dim(0))   // JAX would clamp in silence
        bad_input("learned: position {} is not in the table of {} rows from position {} on; raise max_position", at,
                  table.dim(0), first);
      row.push_back(int(nearest));
    }
    return x + gather(table, Ids({p.sequences(), p.time()}, std::move(row)));
  }
  double told(double distance, int) const override { return distance; }
};

}  // namespace

Scheme learned() {
  return {
      "learned",
      "a learned vector for each position, added; randomized per_sequence it is label encoding (Li & McClelland 2022)",
      "Gehring et al. 2017", false,
      [](Params p, const EncodingSpec& spec) { return std::make_unique<Learned>(p, spec); }};
}

}  // namespace poslab
