// Elementwise functions. The backward pass reads y or x, whichever gives the simpler formula:
//   exp: dx = dy y           tanh:    dx = dy (1 - y^2)     softplus: dx = dy sigmoid(x)     sqrt: dx = dy / (2 y)
//   log: dx = dy / x         sigmoid: dx = dy y (1 - y)     relu:     dx = dy [y > 0]
//   cos: dx = -dy sin x      sin:     dx = dy cos x
//   silu, gelu, gelu_tanh: dx = dy times the slope at x (core/more_kernels.def)
#include "autograd/ops.h"
#include "autograd/tape.h"

namespace poslab {
namespace {

using Forward = void (*)(real* y, const real* x, int64_t n);
using Derivative = void (*)(Accumulator dx, const real* dy, const real* kept, int64_t n);
enum class Keep { x, y };

Tensor elementwise(const char* op, Forward forward, Derivative derivative, const Tensor& x, Keep keep) {
  Tensor y(x.shape(), x.device());
  forward(y.data(), x.data(), x.size());
  const Tensor kept = keep == Keep::x ? x : y;
  return record(op, y, {x}, [derivative, x, kept](const real* dy) {
    if (Accumulator dx = x.grad_accumulator()) derivative(dx, dy, kept.data(), x.size());
  });
}

}  // namespace

Tensor exp(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("exp", run.exp, run.exp_backward, x, Keep::y);
}
Tensor log(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("log", run.log, run.log_backward, x, Keep::x);
}
Tensor tanh(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("tanh", run.tanh, run.tanh_backward, x, Keep::y);
}
Tensor sigmoid(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("sigmoid", run.sigmoid, run.sigmoid_backward, x, Keep::y);
}
Tensor softplus(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("softplus", run.softplus, run.softplus_backward, x, Keep::x);
}
Tensor relu(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("relu", run.relu, run.relu_backward, x, Keep::y);
}
Tensor silu(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("silu", run.silu, run.silu_backward, x, Keep::x);
}
Tensor gelu(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("gelu", run.gelu, run.gelu_backward, x, Keep::x);
}
Tensor gelu_tanh(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("gelu_tanh", run.gelu_tanh, run.gelu_tanh_backward, x, Keep::x);
}
Tensor cos(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("cos", run.cos, run.cos_backward, x, Keep::x);
}
Tensor sin(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("sin", run.sin, run.sin_backward, x, Keep::x);
}
Tensor sqrt(const Tensor& x) {
  const Kernels& run = kernels(x.device());
  return elementwise("sqrt", run.sqrt, run.sqrt_backward, x, Keep::y);
}

}  // namespace poslab
