// Several numbers for each token; the code of each is added to the embedding:
//
//   h_i = x_i + 1/sqrt(K) sum_k roll( code(id_ik), k C/K )          x: (B, T, C)   id: (1 or B, T, K)
//
// code: C random signs for each number, or sincos. The roll by k C/K channels keeps the K numbers apart, while equal
// numbers have equal codes: a query can look for a key whose second number equals the query's first. The idea is from
// position coupling (Cho et al. 2024), whose numbers have an order.
#include <bit>
#include <cmath>

#include "core/random.h"
#include "encodings/encoding.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

// The signs are bits of a random stream whose seed is the number itself: any real number has a code. The number 0 uses
// the bits of -0, which no run has as its seed: seed 0 would repeat the random numbers of the first parameter.
Tensor random_signs(const std::vector<double>& ids, int C) {
  Tensor y({int(ids.size()), C});
  real* at = y.data();
  for (const double id : ids) {
    Bits bits{};
    for (int m = 0; m < C; ++m) {
      if (m % 128 == 0) bits = philox(uint64_t(m / 128), {.seed = std::bit_cast<uint64_t>(id == 0 ? -0. : id)});
      *at++ = bits.at[m % 128 / 32] >> (m % 32) & 1 ? real(1) : real(-1);
    }
  }
  return y;
}

Tensor embed(const Tensor& x, const Positions& p, bool random) {
  const int C = x.dim(-1), K = p.channels();
  const std::vector<double>& ids = p.ids("ids");
  const Tensor codes = random ? random_signs(ids, C) : sinusoid(ids, C);   // (S T K, C)
  Tensor sum = Tensor::full({p.sequences(), p.time(), C}, 0);
  for (size_t n = 0; n < ids.size(); ++n) {
    const int shift = int(n % size_t(K)) * C / K;
    real* to = sum.data() + n / size_t(K) * size_t(C);
    for (int m = 0; m < C; ++m)
      to[(m + shift) % C] += codes.data()[n * size_t(C) + size_t(m)] / real(std::sqrt(double(K)));
  }
  return x + sum.to(x.device());
}

}  // namespace

extern const SchemePages ids_pages;
Scheme ids() {
  return {.name = "ids",
          .options = {{"codes", {"random", "sincos"}, "random signs, or sine and cosine of the number as in sincos"}},
          .reads = always(Reads::positions),
          .check = [](const ModelShape& m, const Choices& c) {
            if (c["codes"] == "sincos") check_halves("ids", m.d_model);
          },
          .embed = [](Params, const ModelShape&, const Choices& c) -> PositionEmbedding {
            return [random = c["codes"] == "random"](const Tensor& x, const Positions& p) {
              return embed(x, p, random);
            };
          },
          .laws = always(Laws{.shift = false, .toeplitz = false}), .pages = ids_pages};
}

// -- for pages
const SchemePages ids_pages = {
    .summary = "a random code for each of the numbers that a token carries, added to the embedding",
    .about = R"(Each number that a token carries has a code, which is added to the embedding: random signs by
default, so that only equal numbers match. It reads all numbers that the sampler coupled gives;
other samplers give each token one number.)",
    .formula = "h_i = x_i + 1/sqrt(K) sum_k roll( code(id_ik), k C/K )",
    .source = "poslab; after position coupling, Cho et al. 2024", .doors = "1",
    .shows = always("The similarity of the vectors of two slots: the cosine between them.")};

}  // namespace poslab
