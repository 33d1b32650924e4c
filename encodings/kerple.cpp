// KERPLE (Chi et al. 2022): a learned penalty, by the logarithm or a power of the distance r = |p_j - p_i|.
//
//   log     s_ij = w_ij q_i . k_j / sqrt(D) - p_h ln(1 + a_h r)
//   power   s_ij = w_ij q_i . k_j / sqrt(D) - a_h r^p_h                 w_ij = 1, or exp(-b_h r^c_h) if `weight`
//
// a, b from U(0, 1), p, c from U(0, 2), all kept above 0.01, powers below 2. All layers share them, as in the released
// code, which has `weight` only with power.
#include <cmath>

#include "encodings/by_distance.h"

namespace poslab {
namespace {

constexpr double least = 0.01;

struct Kerple : ByDistance {
  bool log_kind;
  Tensor p, a, wp, wa;                             // (H)

  Kerple(const Params& shared, const ModelShape& m, const Choices& c) : log_kind(c["kind"] == "log") {
    const auto made = [&](const char* name, double high) { return shared.uniform(name, {m.heads}, 0, high); };
    p = made("power", 2), a = made("slope", 1);
    if (c.on("weight")) wp = made("weight_power", 2), wa = made("weight_slope", 1);
  }

  // r^c, (N, H); 0^c = 0, because e^-10000 is 0 in a double
  static Tensor power(const Positions& at, Device device, const Tensor& c) {
    const auto log_r = [](double d, int) { return d == 0 ? -1e6 : std::log(std::abs(d)); };
    const Tensor logs = distance_table(at, "kerple ln r", device, 1, log_r);
    return exp(logs * clamp(c, least, 2));
  }
  static Tensor at_least(const Tensor& x) { return maximum(x, number(least, x)); }
  void rows(Scores& s, const Positions& at, Device device) const override {
    if (wp) s.gain = exp(-(power(at, device, wp) * at_least(wa)));
    const auto r = [&] { return distance_table(at, "kerple r", device, 1, [](double d, int) { return std::abs(d); }); };
    s.bias = -(log_kind ? log(r() * at_least(a) + 1) * at_least(p) : power(at, device, p) * at_least(a));
  }
};

}  // namespace

extern const SchemePages kerple_pages;
Scheme kerple() {
  return {.name = "kerple",
          .options = {{"kind", {"log", "power"}, "the penalty: p ln(1 + a r) or a r^p"},
                      {"weight", false, "q . k times exp(-b r^c), learned too"}},
          .reads = always(Reads::distances), .make = shared_layer_of<Kerple>, .laws = always(Laws{.two_sided = true}),
          .pages = kerple_pages};
}

// -- for pages
const SchemePages kerple_pages = {
    .summary = "a learned penalty that grows with the logarithm or with a power of the distance",
    .about = R"(A penalty by distance as in ALiBi, whose shape each head learns: by the logarithm of the distance,
so that a far key loses hardly more than one at half the distance, or by a power of it. All layers
share the two numbers of a head. With `weight` q . k fades with the distance too.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) - p_h ln(1 + a_h r),   or - a_h r^p_h,   r = |p_j - p_i|",
    .source = "Chi et al. 2022", .doors = "3", .shows = always("The bias that is added to the logits of a head.")};

}  // namespace poslab
