// Elementwise functions and their derivatives, in vectors. NaN stays NaN; infinities give the limits.
#include "core/cpu/activations.h"
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int64_t grain = 16384;

// y_e = f(e, lanes in use), or y_e += f(...) if add, a vector at a time
template <class F>
void each(real* y, bool add, int64_t n, const F& f) {
  parallel_ranges(n, grain, [&](int64_t from, int64_t to) {
    write_row(y + from, add, int(to - from), [&](int j, int count) { return f(from + j, count); });
  });
}
template <class F>
void forward(real* y, const real* x, int64_t n, const F& f) {
  each(y, false, n, [&](int64_t e, int count) { return f(load_some(x + e, count)); });
}
// dx_e += f(dy_e, kept_e); kept: y or x, whichever the derivative reads
template <class F>
void backward(Accumulator dx, const real* dy, const real* kept, int64_t n, const F& f) {
  if (!dx) return;
  each(dx.at, !dx.empty, n,
       [&](int64_t e, int count) { return f(load_some(dy + e, count), load_some(kept + e, count)); });
}

#ifdef POSLAB_DOUBLE

Vec log(Vec x) {
  for (int i = 0; i < lanes; ++i) x[i] = std::log(x[i]);
  return x;
}
Vec tanh(Vec x) {
  for (int i = 0; i < lanes; ++i) x[i] = std::tanh(x[i]);
  return x;
}
Vec cos(Vec x) {
  for (int i = 0; i < lanes; ++i) x[i] = std::cos(x[i]);
  return x;
}
Vec sin(Vec x) {
  for (int i = 0; i < lanes; ++i) x[i] = std::sin(x[i]);
  return x;
}

#else

// ln x = n ln 2 + ln m, x = 2^n m, m from sqrt(1/2) to sqrt(2)
Vec log(Vec x) {
  typedef int32_t Int __attribute__((vector_size(vector_bytes)));
  const Vec positive = x > 0 ? x : splat(1.f);
  const auto tiny = positive < std::numeric_limits<float>::min();     // whether x is subnormal: it is scaled up first
  const Vec in = tiny ? positive * 8388608.f : positive;
  Int bits;
  __builtin_memcpy(&bits, &in, sizeof bits);
  const Int power = (bits - 0x3F3504F3) >> 23, rest = bits - (power << 23);
  Vec m;
  __builtin_memcpy(&m, &rest, sizeof m);
  const Vec n = __builtin_convertvector(power, Vec) - (tiny ? splat(23.f) : Vec{});
  const Vec y = n * 0.693359375f + (log_of_ratio((m - 1.f) / (m + 1.f)) - n * 2.12194440e-4f);
  const float infinity = std::numeric_limits<float>::infinity();
  return x > 0 ? (x < infinity ? y : x) : (x == 0 ? splat(-infinity) : splat(std::numeric_limits<float>::quiet_NaN()));
}

// x + x^3 P(x^2) near 0, P a Chebyshev fit of our own, within 1e-8; else 1 - 2 / (e^2|x| + 1) with the sign of x
Vec tanh(Vec x) {
  const Vec z = x * x, size = magnitude(x);
  Vec p = splat(0.0022928072f);
  p = p * z - 0.0083440006f;
  p = p * z + 0.021768935f;
  p = p * z - 0.053959262f;
  p = p * z + 0.13333304f;
  p = p * z - 0.33333333f;
  const Vec far = 1.f - 2.f / (exp(size * 2.f) + 1.f);
  return size < 0.625f ? x + x * z * p : (x < 0 ? -far : far);
}

// sin(x + quarters pi/2), by x = n pi/2 + r, |r| <= pi/4, and Chebyshev fits of our own to sine and cosine of r, within
// 1e-9. pi/2 is subtracted in four parts; n times each of the first three is exact for n < 8192, so that values near
// zeros of sine are accurate too. For larger |x|, infinities and NaN, of_one() computes lane by lane.
template <class OfOne>
Vec wave(Vec x, int quarters, const OfOne& of_one) {
  typedef int32_t Int __attribute__((vector_size(vector_bytes)));
  const auto near = magnitude(x) <= 8192.f;
  const Vec in = near ? x : Vec{}, n = to_whole(in * 0.636619772f);
  const Vec r = in - n * 1.5703125f - n * 4.83751297e-4f - n * 7.54953362e-8f - n * 2.56334415e-12f, z = r * r;
  const Vec sine = r + r * z * (((z * 2.72493141e-6f - 1.9840082e-4f) * z + 8.33333187e-3f) * z - 0.166666667f);
  const Vec cosine = (z * 2.45474372e-5f - 1.38883007e-3f) * z * z * z + (0.0416666646f * z * z - 0.5f * z) + 1.f;
  const Int quarter = __builtin_convertvector(n, Int) + quarters;
  const Vec y = (quarter & 1) != 0 ? cosine : sine;
  Vec rotated = (quarter & 2) != 0 ? -y : y;
  if (any(!near))
    for (int i = 0; i < lanes; ++i)
      if (!near[i]) rotated[i] = float(of_one(double(x[i])));
  return rotated;
}
Vec cos(Vec x) {
  return wave(x, 1, [](double one) { return std::cos(one); });
}
Vec sin(Vec x) {
  return wave(x, 0, [](double one) { return std::sin(one); });
}

#endif

// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|)
Vec softplus(Vec x) { return (x > 0 ? x : Vec{}) + log_of_one_plus(exp(-magnitude(x))); }

}  // namespace

void exp(real* y, const real* x, int64_t n) { forward(y, x, n, [](Vec v) { return exp(v); }); }
void log(real* y, const real* x, int64_t n) { forward(y, x, n, [](Vec v) { return log(v); }); }
void tanh(real* y, const real* x, int64_t n) { forward(y, x, n, [](Vec v) { return tanh(v); }); }
void sigmoid(real* y, const real* x, int64_t n) { forward(y, x, n, [](Vec v) { return sigmoid(v); }); }
void softplus(real* y, const real* x, int64_t n) { forward(y, x, n, [](Vec v) { return softplus(v); }); }
void relu(real* y, const real* x, int64_t n) { forward(y, x, n, [](Vec v) { return relu(v).value; }); }
void silu(real* y, const real* x, int64_t n) { forward(y, x, n, [](Vec v) { return silu(v).value; }); }
void gelu(real* y, const real* x, int64_t n) { forward(y, x, n, [](Vec v) { return gelu(v).value; }); }
void gelu_tanh(real* y, const real* x, int64_t n) { forward(y, x, n, [](Vec v) { return gelu_tanh(v).value; }); }
void cos(real* y, const real* x, int64_t n) { forward(y, x, n, [](Vec v) { return cos(v); }); }
void sin(real* y, const real* x, int64_t n) { forward(y, x, n, [](Vec v) { return sin(v); }); }
void sqrt(real* y, const real* x, int64_t n) {
  forward(y, x, n, [](Vec v) {
    for (int i = 0; i < lanes; ++i) v[i] = std::sqrt(v[i]);
    return v;
  });
}

void exp_backward(Accumulator dx, const real* dy, const real* y, int64_t n) {
  backward(dx, dy, y, n, [](Vec d, Vec v) { return d * v; });
}
void log_backward(Accumulator dx, const real* dy, const real* x, int64_t n) {
  backward(dx, dy, x, n, [](Vec d, Vec v) { return d / v; });
}
void tanh_backward(Accumulator dx, const real* dy, const real* y, int64_t n) {
  backward(dx, dy, y, n, [](Vec d, Vec v) { return d * (real(1) - v * v); });
}
void sigmoid_backward(Accumulator dx, const real* dy, const real* y, int64_t n) {
  backward(dx, dy, y, n, [](Vec d, Vec v) { return d * v * (real(1) - v); });
}
void softplus_backward(Accumulator dx, const real* dy, const real* x, int64_t n) {
  backward(dx, dy, x, n, [](Vec d, Vec v) { return d * sigmoid(v); });
}
void relu_backward(Accumulator dx, const real* dy, const real* y, int64_t n) {
  backward(dx, dy, y, n, [](Vec d, Vec v) { return v > 0 ? d : Vec{}; });
}
void silu_backward(Accumulator dx, const real* dy, const real* x, int64_t n) {
  backward(dx, dy, x, n, [](Vec d, Vec v) { return d * silu(v).slope; });
}
void gelu_backward(Accumulator dx, const real* dy, const real* x, int64_t n) {
  backward(dx, dy, x, n, [](Vec d, Vec v) { return d * gelu(v).slope; });
}
void gelu_tanh_backward(Accumulator dx, const real* dy, const real* x, int64_t n) {
  backward(dx, dy, x, n, [](Vec d, Vec v) { return d * gelu_tanh(v).slope; });
}
void cos_backward(Accumulator dx, const real* dy, const real* x, int64_t n) {
  backward(dx, dy, x, n, [](Vec d, Vec v) { return -d * sin(v); });
}
void sin_backward(Accumulator dx, const real* dy, const real* x, int64_t n) {
  backward(dx, dy, x, n, [](Vec d, Vec v) { return d * cos(v); });
}
void sqrt_backward(Accumulator dx, const real* dy, const real* y, int64_t n) {
  backward(dx, dy, y, n, [](Vec d, Vec v) { return d / (v * real(2)); });
}

}  // namespace poslab::POSLAB_ISA
