// Dynamic position bias (Wang et al. 2022, as in x-transformers): a small network of the distance.
//
//   s_ij = q_i . k_j / sqrt(D) + MLP(x_ij)_h         x = sign(d) ln(|d| + 1), or d = p_i - p_j itself if not `log`
//
// One MLP for all layers, 1 -> C/4 -> C/4 -> H, SiLU, initialized as in PyTorch. x-transformers has `log` off: random
// positions make logits of about 100. Left out: the last bias, which is the same for all keys and cancels in a softmax.
#include <cmath>

#include "encodings/by_distance.h"

namespace poslab {
namespace {

struct DynamicBias : ByDistance {
  struct Hidden { Tensor w, b, gain, bias; };      // the last two only if `norm`
  std::vector<Hidden> hidden;
  Tensor w;
  bool log_distance;
  DynamicBias(const Params& shared, const ModelShape& m, const Choices& c) : log_distance(c.on("log")) {
    const int width = std::max(1, m.d_model / 4);
    const auto made = [&](const std::string& name, const Shape& shape, int in) {
      return shared.uniform(name, shape, -1 / std::sqrt(double(in)), 1 / std::sqrt(double(in)));
    };
    for (int n = 0, in = 1; n < c.whole("depth"); ++n, in = width) {
      const std::string at = fmt::format("{}", n);
      hidden.push_back({made("w" + at, {in, width}, in), made("b" + at, {width}, in), {}, {}});
      Hidden& h = hidden.back();
      if (c.on("norm")) h.gain = shared.full("gain" + at, {width}, 1), h.bias = shared.full("bias" + at, {width}, 0);
    }
    w = made("w", {width, m.heads}, width);
  }
  void rows(Scores& s, const Positions& p, Device device) const override {
    const auto input = [&](double d, int) { return log_distance ? std::copysign(std::log1p(std::abs(d)), -d) : -d; };
    Tensor x = distance_table(p, log_distance ? "dynamic_bias log" : "dynamic_bias", device, 1, input);
    for (const Hidden& h : hidden)
      x = linear(x, h.w, h.b), x = silu(h.gain ? norm(x, h.gain, h.bias) : x);
    s.bias = linear(x, w);
  }
};

}  // namespace

extern const SchemePages dynamic_bias_pages;
Scheme dynamic_bias() {
  return {.name = "dynamic_bias",
          .options = {{"log", true, "the network reads sign(d) ln(|d| + 1), else the distance d itself"},
                      {"depth", 2, {1, 16}, "hidden layers of the network"},
                      {"norm", false, "a LayerNorm in each hidden layer"}},
          .reads = always(Reads::distances), .make = shared_layer_of<DynamicBias>,
          .pages = dynamic_bias_pages};
}

// -- for pages
const SchemePages dynamic_bias_pages = {
    .summary = "a small network of the distance, the same in all layers",
    .about = R"(A small network, one for all layers, reads the signed distance of two tokens and gives each head a
bias. Its shape is not fixed beforehand: near or far, left or right keys may count more.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) + MLP(sign(d) ln(|d| + 1))_h,   d = p_i - p_j",
    .source = "Wang et al. 2022", .doors = "3", .shows = always("The bias that is added to the logits of a head.")};

}  // namespace poslab
