// The activations of feed-forward networks, in vectors, each with its slope, for elementwise.cpp and
// gated_feed_forward.cpp. NaN stays NaN, infinities give the limits: a factor that is exactly 0 is not multiplied by x,
// which may be infinite.
#pragma once
#include "core/cpu/functions.h"
#include "core/kernels.h"

namespace poslab::POSLAB_ISA {

struct Activated { Vec value, slope; };      // act(x), act'(x)

inline Activated relu(Vec x) { return {x < 0 ? Vec{} : x, x > 0 ? splat(1) : Vec{}}; }

// The value x s, s = sigmoid(u), and its slope s + x s (1 - s) du/dx
inline Activated times_sigmoid(Vec x, Vec u, Vec du) {
  const Vec e = exp(-magnitude(u)), r = real(1) / (e + real(1));
  const Vec s = u > 0 ? r : u <= 0 ? e * r : u, both = e * r * r;                 // s (1 - s), for either sign of u
  return {s == 0 ? s : x * s, both == 0 ? s : s + x * both * du};
}
inline Activated silu(Vec x) { return times_sigmoid(x, x, splat(1)); }
inline Activated gelu_tanh(Vec x) {
  constexpr real twice_root = real(1.5957691216057308), cubic = real(0.044715);   // 2 sqrt(2 / pi)
  const Vec square = x * x;
  return times_sigmoid(x, x * (square * cubic + real(1)) * twice_root, (square * (3 * cubic) + real(1)) * twice_root);
}

// P(x) = (1 + erf(x / sqrt(2))) / 2 for x <= 0; the second argument is exp(-x^2 / 2)
#ifdef POSLAB_DOUBLE
inline Vec lower_tail(Vec x, Vec) {
  for (int i = 0; i < lanes; ++i) x[i] = std::erfc(-x[i] * std::sqrt(0.5)) / 2;
  return x;
}
#else
// P(x) exp(x^2 / 2) is t times a polynomial in t = 1 / (1 - 0.35 x): a Chebyshev fit of our own, within 4e-8 for x down
// to -13.5, below which e is 0
inline Vec lower_tail(Vec x, Vec e) {
  const Vec t = 1.f / (1.f - x * 0.35f);
  Vec p = splat(-0.0289003365f);
  p = p * t + 0.142864957f;
  p = p * t - 0.253621459f;
  p = p * t + 0.157016069f;
  p = p * t - 0.0217896048f;
  p = p * t + 0.105019957f;
  p = p * t + 0.119938858f;
  p = p * t + 0.139849529f;
  p = p * t + 0.139621988f;
  return p * t * e;
}
#endif
inline Activated gelu(Vec x) {
  const Vec e = exp(x * x * real(-0.5)), tail = lower_tail(-magnitude(x), e), share = x > 0 ? real(1) - tail : tail;
  return {share == 0 ? share : x * share, e == 0 ? share : share + x * e * real(0.39894228040143268)};
}

// Returns f(act), where act is the activation as a lambda without captures.
template <class F>
inline auto with_activation(Activation gate, const F& f) {
  switch (gate) {
    case Activation::relu: return f([](Vec x) { return relu(x); });
    case Activation::silu: return f([](Vec x) { return silu(x); });
    case Activation::gelu: return f([](Vec x) { return gelu(x); });
    case Activation::gelu_tanh: break;
  }
  return f([](Vec x) { return gelu_tanh(x); });
}

}  // namespace poslab::POSLAB_ISA
