// FIRE (Li et al. 2024): a small network reads distance / position of the query, a ratio of at most 1 for earlier keys.
//
//   s_ij = q_i . k_j / sqrt(D) + MLP( +-psi(|p_i - p_j|) / (psi(max(p_i, |m| L)) + 1e-6) )_h     psi(x) = ln(|c| x + 1)
//
// Initially c = 0.1, m = 1. MLP 1 -> 32 -> H, ReLU, in each layer or `shared`. Published for causal masks; keys to the
// right get a negative input here (released code drops the sign). Left out: the last bias, which cancels in a softmax.
#include <cmath>
#include <numeric>

#include "encodings/windows.h"

namespace poslab {
namespace {

struct Fire : Encoding {
  int length;
  Tensor c, m, w1, b1, w2;

  Fire(const Params& p, const ModelShape& shape, const Choices& chosen)
      : length(chosen.whole("length")), c(p.full("c", {1}, 0.1)), m(p.full("m", {1}, 1)) {
    const int width = chosen.whole("width");
    w1 = p.truncated_normal("w1", {1, width}, 1), b1 = p.full("b1", {width}, 0);
    w2 = p.truncated_normal("w2", {width, shape.heads}, 1 / std::sqrt(double(width)));
  }

  Tensor psi(const Tensor& x) const { return log(x * abs(c) + 1); }

  Scores scores(const Heads& in, const Positions& p) const override {
    const int Tq = in.q.dim(1), T = p.time(), S = p.sequences();
    const auto of_pairs = [&](const char* name, const std::function<double(double, double)>& f) {
      return by_positions(in, p, name, f).reshape({S * Tq, T});
    };
    const Tensor distance = of_pairs("fire distances", [](double i, double j) { return std::abs(i - j); });
    const Tensor side = of_pairs("fire sides", [](double i, double j) { return i < j ? -1. : 1.; });
    const Tensor query = p.once(fmt::format("fire queries {}", Tq), in.q.device(), [&](Device device) {     // (S Tq, 1)
      std::vector<double> last;
      for (auto row = p.tokens("fire").begin(); int(last.size()) < S * Tq; row += T)
        last.insert(last.end(), row + T - Tq, row + T);
      return Tensor::from({S * Tq, 1}, last).to(device);
    });
    const Tensor x = side * psi(distance) / (psi(maximum(query, abs(m) * length)) + 1e-6);     // (S Tq, T)
    Scores s = Encoding::scores(in, p);
    s.bias = linear(relu(linear(x.reshape({S * Tq * T, 1}), w1, b1)), w2);                     // a row for each pair
    std::vector<int> row(size_t(S) * size_t(Tq) * size_t(T));
    std::iota(row.begin(), row.end(), 0);
    s.pairs = Ids({S, Tq, T}, std::move(row));
    return s;
  }
};

}  // namespace

extern const SchemePages fire_pages;
Scheme fire() {
  return {.name = "fire",
          .options = {{"length", 512, {1, 1 << 24}, "L: queries before slot m L, with m learned, all divide by m L"},
                      {"width", 32, {8, 4096}, "hidden units of the network"},
                      {"shared", false, "one network for all layers"}},
          .reads = always(Reads::positions),
          .make = [](const LayerParams& p, const ModelShape& m, const Choices& c,
                     int) { return std::make_unique<Fire>(c.on("shared") ? p.shared : p, m, c); },
          .laws = [](const ModelShape& m, const Choices& c) -> Laws {
            const bool all_near = 2 * (m.first + m.pool) < c.whole("length");   // all queries divide by m L
            return {.shift = all_near, .toeplitz = all_near};
          },
          .pages = fire_pages};
}

// -- for pages
const SchemePages fire_pages = {
    .summary = "a small network of the distance, relative to how far the query is from the start",
    .about = R"(The logarithm of the distance is divided by that of the query's position, so for earlier keys it
lies between 0 and 1 at any length, and a small network turns it into a bias for each head. Queries
near the start divide by a length that is learned instead. So what was learned on short strings is
stretched over long ones. Later keys get negative numbers, which may go below -1.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) + MLP( +-psi(|p_i - p_j|) / psi(max(p_i, |m| L)) )_h,   "
               "psi(x) = ln(|c| x + 1)",
    .source = "Li et al. 2024", .doors = "3", .shows = always("The bias that is added to the logits of a head."),
    .cost = {.live = [](const ModelShape& m, const Choices& c) { return (4 + 2. * c.whole("width")) / m.heads; }}};

}  // namespace poslab
