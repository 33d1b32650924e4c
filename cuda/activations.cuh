// The activations of feed-forward networks, each with its slope, for elementwise.cu and gated_feed_forward.cu.
// Infinities give the limits: where a factor is 0, it is not multiplied by an infinite x.
#pragma once
#include <cmath>

#include "cuda/launch.h"

namespace poslab::cuda {

struct Activated { real value, slope; };     // act(x), act'(x)

struct Relu {
  static __device__ Activated of(real x) { return {x < 0 ? real(0) : x, x > 0 ? real(1) : real(0)}; }
};

// x s, s = sigmoid(u):   s + x s (1 - s) u'
__device__ inline Activated times_sigmoid(real x, real u, real du) {
  const real e = std::exp(u < 0 ? u : -u), r = 1 / (e + 1);
  const real s = u > 0 ? r : u <= 0 ? e * r : u, both = e * r * r;               // s (1 - s), for either sign of u
  return {s == 0 ? s : x * s, both == 0 ? s : s + x * both * du};
}
struct Silu {
  static __device__ Activated of(real x) { return times_sigmoid(x, x, 1); }
};
struct GeluTanh {
  static __device__ Activated of(real x) {
    constexpr real twice_root = real(1.5957691216057308), cubic = real(0.044715);  // 2 sqrt(2 / pi)
    const real square = x * x;
    return times_sigmoid(x, x * (1 + cubic * square) * twice_root, (1 + 3 * cubic * square) * twice_root);
  }
};
struct Gelu {
  static __device__ Activated of(real x) {
    constexpr real half_root = real(0.70710678118654752), density = real(0.39894228040143268);
    const real e = std::exp(real(-0.5) * x * x), share = std::erfc(-x * half_root) / 2;
    return {share == 0 ? share : x * share, e == 0 ? share : share + x * e * density};
  }
};

}  // namespace poslab::cuda
