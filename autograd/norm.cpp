// Row norms over the last axis                                                                       x, z, y: (..., C)
//
// LayerNorm:  y = gain (x - mean) / std + bias,   std = sqrt(variance + 1e-5)
//   h = (x - mean) / std, g = dy gain:   dx = (g - mean(g) - h mean(g h)) / std     dgain = sum dy h     dbias = sum dy
// RMSNorm (Zhang and Sennrich 2019):  y = gain x / rms, rms = sqrt(mean(x^2) + epsilon)
//   h = x / rms, g = dy gain:   dx = (g - h mean(g h)) / rms     dgain = sum dy h
//
// The norm of a residual sum s = x + dropout(z): dx = ds, dz = ds keep / (1 - rate). If s is a result too, ds is the
// sum of its own gradient and the gradient through its norm.
#include <cmath>

#include "autograd/argument_checks.h"
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {
namespace {

// An op and its inputs; z is absent without a residual sum, the bias with kind rms.
struct Norm {
  const char* op;
  NormForm form;
  Tensor x, z, gain, bias, s;

  Norm(const char* op_, NormKind kind, const Tensor& x_, const Tensor& z_, const Tensor& gain_, const Tensor& bias_,
       double epsilon, Dropout drop)
      : op(op_), form{kind, x_.rows(), x_.dim(-1), real(epsilon), drop}, x(x_), z(z_), gain(gain_), bias(bias_) {
    const Shape row{form.n};
    if (z && x.shape() != z.shape())
      bad_input("{}: x is {}, z is {}; they must be equal", op, to_string(x.shape()), to_string(z.shape()));
    if (kind == NormKind::layer && (gain.shape() != row || bias.shape() != row))
      bad_input("{}: x is {}, gain {}, bias {}; gain and bias must be ({})", op, to_string(x.shape()),
                to_string(gain.shape()), to_string(bias.shape()), form.n);
    if (gain.shape() != row)
      bad_input("{}: x is {}, gain {}; gain must be ({})", op, to_string(x.shape()), to_string(gain.shape()), form.n);
    if (!(epsilon > 0 && std::isfinite(real(epsilon))))
      bad_input("{}: epsilon is {}; it must be above 0, for example 1e-6", op, epsilon);
    check_rate(drop);
    s = z ? Tensor(x.shape(), x.device()) : x;
  }
  Tensor forward() const {
    Tensor y(x.shape(), x.device());
    kernels(x.device()).norm(y.data(), s.data(), x.data(), z.data(), gain.data(), bias.data(), form);
    return y;
  }
  void backward(const real* ds, const real* dy) const {
    const auto [dx, dz, dgain, dbias] = grad_accumulators(x, z, dy ? gain : Tensor(), bias);   // ds reaches no gain
    kernels(x.device()).norm_backward(dx, dz, dgain, dbias, ds, dy, s.data(), gain.data(), form);
  }
};

// inputs: references that outlive n.
Tensor run_norm(Norm n, Inputs inputs) {
  const char* op = n.op;
  Tensor y = n.forward();
  return record(op, std::move(y), inputs, [n = std::move(n)](const real* dy) { n.backward(nullptr, dy); });
}

}  // namespace

Tensor norm(const Tensor& x, const Tensor& gain, const Tensor& bias) {
  return run_norm({"norm", NormKind::layer, x, {}, gain, bias, layer_norm_epsilon, {}}, {x, gain, bias});
}

Tensor rms_norm(const Tensor& x, const Tensor& gain, double epsilon) {
  return run_norm({"rms_norm", NormKind::rms, x, {}, gain, {}, epsilon, {}}, {x, gain});
}

Tensor residual_norm(const Tensor& x, const Tensor& z, const Tensor& gain, const Tensor& bias, Dropout drop) {
  return run_norm({"residual_norm", NormKind::layer, x, z, gain, bias, layer_norm_epsilon, drop}, {x, z, gain, bias});
}

ResidualNorm residual_rms_norm(const Tensor& x, const Tensor& z, const Tensor& gain, double epsilon, Dropout drop) {
  const Norm n("residual_rms_norm", NormKind::rms, x, z, gain, {}, epsilon, drop);
  const Tensor y = n.forward();
  record(n.op, {n.s, y}, {x, z, gain}, [n](std::span<const real* const> d) { n.backward(d[0], d[1]); });
  return {n.s, y};
}

}  // namespace poslab
