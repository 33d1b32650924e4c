// gated_feed_forward: (act(x w1 + b1) (x w3 + b3)) w2 + b2.
#include <fmt/format.h>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

double act(Activation gate, double x) {
  const double root = std::sqrt(2 / std::acos(-1.));
  switch (gate) {
    case Activation::relu: return x > 0 ? x : 0;
    case Activation::silu: return x / (1 + std::exp(-x));
    case Activation::gelu: return x * std::erfc(-x / std::sqrt(2.)) / 2;
    case Activation::gelu_tanh: return x * (1 + std::tanh(root * (x + 0.044715 * x * x * x))) / 2;
  }
  return NAN;
}

struct Sizes { Shape rows; int in, d_ff, out; };

// The inputs x, w1, w3, w2 and, if present, b1, b3, b2.
GatedWeights weights_of(const Tensors& t) {
  if (t.size() == 4) return {.w1 = t[1], .w3 = t[2], .w2 = t[3]};
  return {.w1 = t[1], .b1 = t[4], .w3 = t[2], .b3 = t[5], .w2 = t[3], .b2 = t[6]};
}
std::vector<Shape> shapes_of(const Shape& x, const Sizes& s, bool biases) {
  std::vector<Shape> shapes = {x, {s.in, s.d_ff}, {s.in, s.d_ff}, {s.d_ff, s.out}};
  if (biases) shapes.insert(shapes.end(), {{s.d_ff}, {s.d_ff}, {s.out}});
  return shapes;
}

OpCase gated(const Sizes& s, const char* name, Activation gate, bool biases) {
  Shape x = s.rows, y = s.rows;
  x.push_back(s.in), y.push_back(s.out);
  const int rows = int(size_of(s.rows));
  OpCase c{"gated_feed_forward"};
  c.name = fmt::format("{} {} d_ff {} out {}{}", name, to_string(x), s.d_ff, s.out, biases ? " biases" : "");
  c.shapes = shapes_of(x, s, biases);
  c.op = [=](auto& t) { return gated_feed_forward(t[0], weights_of(t), gate); };
  c.twin = [=](auto& t) { return composed::gated_feed_forward(t[0], weights_of(t), gate); };
  c.reference = [=](Arrays t) {
    const auto layer = [&](Array& in, int k, Array& w, int n, Array* bias) {
      Array to({rows, n});
      for (size_t e = 0; bias && e < to.at.size(); ++e) to.at[e] = bias->at[e % size_t(n)];
      multiply(to.at.data(), in.at.data(), w.at.data(), rows, k, n);
      return to;
    };
    Array h = layer(t[0], s.in, t[1], s.d_ff, biases ? &t[4] : nullptr);
    const Array linear = layer(t[0], s.in, t[2], s.d_ff, biases ? &t[5] : nullptr);
    for (size_t e = 0; e < h.at.size(); ++e) h.at[e] = act(gate, h.at[e]) * linear.at[e];
    Array z = layer(h, s.d_ff, t[3], s.out, biases ? &t[6] : nullptr);
    z.shape = y;
    return z;
  };
  c.ranges = {{-1, 1}, {-0.3, 0.3}, {-0.3, 0.3}, {-0.3, 0.3}};      // like trained weights: sums stay near 1
  c.flops = 2. * rows * s.d_ff * (2. * s.in + s.out);
  c.step = gate == Activation::relu ? 1e-7 : 1e-4;
  return c;
}

const std::pair<const char*, Activation> gates[] = {{"relu", Activation::relu}, {"silu", Activation::silu},
                                                    {"gelu", Activation::gelu}, {"gelu_tanh", Activation::gelu_tanh}};

const Cases gated_feed_forward_cases([](std::vector<OpCase>& all) {
  const std::vector<Sizes> sizes = {{{1}, 1, 1, 1},      {{31}, 33, 70, 7},        {{3, 5}, 8, 31, 8},
                                    {{257}, 31, 64, 33}, {{2, 2, 3}, 64, 256, 64}, {{1700}, 16, 65, 16}};
  for (const auto& [name, gate] : gates)
    for (const Sizes& s : sizes)
      for (const bool biases : {false, true}) all.push_back(gated(s, name, gate, biases));
});

const Cases gated_feed_forward_speed(
    [](std::vector<OpCase>& all) {
      for (const auto& [name, gate] : gates)
        for (const bool fused : {true, false}) {
          OpCase c = gated({{5120}, 64, 256, 64}, name, gate, false);
          if (!fused) c.op = c.twin, c.name = fmt::format("{} composed", name);
          all.push_back(c);
        }
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
