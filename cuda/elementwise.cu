// Elementwise functions and their derivatives, a thread for each element. NaN stays NaN; infinities give the limits.
#include "cuda/activations.cuh"

namespace poslab::cuda {
namespace {

// y_e = f(x_e)
template <class F>
__global__ void forward(real* y, const real* x, int64_t n) {
  for (const int64_t e : all(n)) y[e] = F::of(x[e]);
}
// dx_e += f(dy_e, the y_e or x_e that the derivative reads)
template <class F>
__global__ void backward(Accumulator dx, const real* dy, const real* kept, int64_t n) {
  for (const int64_t e : all(n)) add_to(dx, e, F::of(dy[e], kept[e]));
}

struct Exp { static __device__ real of(real x) { return std::exp(x); } };
struct Log { static __device__ real of(real x) { return std::log(x); } };
struct Tanh { static __device__ real of(real x) { return std::tanh(x); } };
struct Sigmoid { static __device__ real of(real x) { return 1 / (1 + std::exp(-x)); } };
struct Softplus {                                        // ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|)
  static __device__ real of(real x) { return (x > 0 ? x : real(0)) + std::log1p(std::exp(x < 0 ? x : -x)); }
};
struct Cos { static __device__ real of(real x) { return std::cos(x); } };
struct Sin { static __device__ real of(real x) { return std::sin(x); } };
struct Sqrt { static __device__ real of(real x) { return std::sqrt(x); } };

struct ExpBackward { static __device__ real of(real d, real y) { return d * y; } };
struct LogBackward { static __device__ real of(real d, real x) { return d / x; } };
struct TanhBackward { static __device__ real of(real d, real y) { return d * (1 - y * y); } };
struct SigmoidBackward { static __device__ real of(real d, real y) { return d * y * (1 - y); } };
struct SoftplusBackward { static __device__ real of(real d, real x) { return d * Sigmoid::of(x); } };
struct ReluBackward { static __device__ real of(real d, real y) { return y > 0 ? d : real(0); } };
struct CosBackward { static __device__ real of(real d, real x) { return -d * std::sin(x); } };
struct SinBackward { static __device__ real of(real d, real x) { return d * std::cos(x); } };
struct SqrtBackward { static __device__ real of(real d, real y) { return d / (2 * y); } };

// The value and the slope of an activation, as functions for forward() and backward()
template <class F>
struct Value { static __device__ real of(real x) { return F::of(x).value; } };
template <class F>
struct Slope { static __device__ real of(real d, real x) { return d * F::of(x).slope; } };

template <class F>
void start(real* y, const real* x, int64_t n) {
  launch(forward<F>, blocks_for(n), threads, y, x, n);
}
template <class F>
void start(const Accumulator& dx, const real* dy, const real* kept, int64_t n) {
  if (dx) launch(backward<F>, blocks_for(n), threads, dx, dy, kept, n);
}

}  // namespace

void exp(real* y, const real* x, int64_t n) { start<Exp>(y, x, n); }
void log(real* y, const real* x, int64_t n) { start<Log>(y, x, n); }
void tanh(real* y, const real* x, int64_t n) { start<Tanh>(y, x, n); }
void sigmoid(real* y, const real* x, int64_t n) { start<Sigmoid>(y, x, n); }
void softplus(real* y, const real* x, int64_t n) { start<Softplus>(y, x, n); }
void relu(real* y, const real* x, int64_t n) { start<Value<Relu>>(y, x, n); }
void silu(real* y, const real* x, int64_t n) { start<Value<Silu>>(y, x, n); }
void gelu(real* y, const real* x, int64_t n) { start<Value<Gelu>>(y, x, n); }
void gelu_tanh(real* y, const real* x, int64_t n) { start<Value<GeluTanh>>(y, x, n); }
void cos(real* y, const real* x, int64_t n) { start<Cos>(y, x, n); }
void sin(real* y, const real* x, int64_t n) { start<Sin>(y, x, n); }
void sqrt(real* y, const real* x, int64_t n) { start<Sqrt>(y, x, n); }

void exp_backward(Accumulator dx, const real* dy, const real* y, int64_t n) { start<ExpBackward>(dx, dy, y, n); }
void log_backward(Accumulator dx, const real* dy, const real* x, int64_t n) { start<LogBackward>(dx, dy, x, n); }
void tanh_backward(Accumulator dx, const real* dy, const real* y, int64_t n) { start<TanhBackward>(dx, dy, y, n); }
void sigmoid_backward(Accumulator dx, const real* dy, const real* y, int64_t n) {
  start<SigmoidBackward>(dx, dy, y, n);
}
void softplus_backward(Accumulator dx, const real* dy, const real* x, int64_t n) {
  start<SoftplusBackward>(dx, dy, x, n);
}
void relu_backward(Accumulator dx, const real* dy, const real* y, int64_t n) { start<ReluBackward>(dx, dy, y, n); }
void silu_backward(Accumulator dx, const real* dy, const real* x, int64_t n) { start<Slope<Silu>>(dx, dy, x, n); }
void gelu_backward(Accumulator dx, const real* dy, const real* x, int64_t n) { start<Slope<Gelu>>(dx, dy, x, n); }
void gelu_tanh_backward(Accumulator dx, const real* dy, const real* x, int64_t n) {
  start<Slope<GeluTanh>>(dx, dy, x, n);
}
void cos_backward(Accumulator dx, const real* dy, const real* x, int64_t n) { start<CosBackward>(dx, dy, x, n); }
void sin_backward(Accumulator dx, const real* dy, const real* x, int64_t n) { start<SinBackward>(dx, dy, x, n); }
void sqrt_backward(Accumulator dx, const real* dy, const real* y, int64_t n) { start<SqrtBackward>(dx, dy, y, n); }

}  // namespace poslab::cuda
