// Every op of autograd/ops.h under its name, except products with weights in the formats of external checkpoints.
#include <optional>

#include "autograd/ops.h"

#include "python/op.h"

namespace poslab::python {
namespace {

Dropout dropout_of(double rate, uint64_t seed, uint32_t step) {
  return {real(rate), stream(seed, Purpose::dropout, step)};
}
Pairing pairing_of(const std::string& word) {
  return word_of<Pairing>("pairing", word, {{"half", Pairing::half}, {"interleaved", Pairing::interleaved}});
}
Activation gate_of(const std::string& word) {
  return word_of<Activation>("gate", word, {{"relu", Activation::relu}, {"silu", Activation::silu},
                                            {"gelu", Activation::gelu}, {"gelu_tanh", Activation::gelu_tanh}});
}

// Ops whose arguments differ in C++, or that C++ overloads.
Tensor rows(const Tensor& table, const Ids& at) { return gather(table, at); }
Tensor drop(const Tensor& x, double rate, uint64_t seed, uint32_t step) {
  return dropout(x, dropout_of(rate, seed, step));
}
Tensor running_sum(const Tensor& x, int axis, bool exclusive, bool reverse) {
  return scan(x, axis, {exclusive, reverse});
}
Tensor rotated(const Tensor& x, const Tensor& angles, const std::string& pairing) {
  return rotate(x, angles, pairing_of(pairing));
}
Tensor rotated_by(const Tensor& x, const Tensor& cosine, const Tensor& sine, const std::string& pairing) {
  return rotate(x, Rotation{cosine, sine}, pairing_of(pairing));
}
Tensor normed_sum(const Tensor& x, const Tensor& z, const Tensor& gain, const Tensor& bias, double rate, uint64_t seed,
                  uint32_t step) {
  return residual_norm(x, z, gain, bias, dropout_of(rate, seed, step));
}
ResidualNorm rms_normed_sum(const Tensor& x, const Tensor& z, const Tensor& gain, double epsilon, double rate,
                            uint64_t seed, uint32_t step) {
  return residual_rms_norm(x, z, gain, epsilon, dropout_of(rate, seed, step));
}

// Names as in the engine, which also states the shapes.
void add_simple_ops(nb::module_& m) {
  op(m, "add", add, "a"_a, "b"_a, "a + b; shapes broadcast from the right");
  op(m, "sub", sub, "a"_a, "b"_a, "a - b; shapes broadcast from the right");
  op(m, "mul", mul, "a"_a, "b"_a, "a times b; shapes broadcast from the right");
  op(m, "div", div, "a"_a, "b"_a, "a / b; shapes broadcast from the right");
  op(m, "pow", pow, "x"_a, "c"_a, "x to the power of the number c; NaN if x < 0 unless c is whole; slope 0 if c = 0");
  op(m, "greater_equal", greater_equal, "a"_a, "b"_a, "1 where a >= b or a is NaN, else 0, without a gradient");
  op(m, "where", where, "mask"_a, "a"_a, "b"_a, "b where the mask is 0, a elsewhere");
  op(m, "minimum", minimum, "a"_a, "b"_a, "the smaller of each a and b; if they are equal, a gets all of the gradient");
  op(m, "maximum", maximum, "a"_a, "b"_a, "the larger of each a and b; if they are equal, a gets all of the gradient");
  op(m, "clamp", clamp, "x"_a, "low"_a, "high"_a, "x, but at least low and at most high; slope 1 at both ends");
  op(m, "abs", abs, "x"_a, "|x|; slope 0 at 0");
  op(m, "exp", exp, "x"_a, "e^x");
  op(m, "log", log, "x"_a, "the natural logarithm");
  op(m, "tanh", tanh, "x"_a, "the hyperbolic tangent");
  op(m, "sigmoid", sigmoid, "x"_a, "1 / (1 + e^-x)");
  op(m, "softplus", softplus, "x"_a, "ln(1 + e^x)");
  op(m, "relu", relu, "x"_a, "max(x, 0)");
  op(m, "silu", silu, "x"_a, "x sigmoid(x)");
  op(m, "gelu", gelu, "x"_a, "x (1 + erf(x / sqrt(2))) / 2");
  op(m, "gelu_tanh", gelu_tanh, "x"_a, "gelu's approximation by a tanh, \"gelu_new\" of GPT-2 and T5 v1.1");
  op(m, "cos", cos, "x"_a, "the cosine of x in radians");
  op(m, "sin", sin, "x"_a, "the sine of x in radians");
  op(m, "sqrt", sqrt, "x"_a, "the square root");
  op(m, "sum", sum, "x"_a, "axis"_a, "the sum over one axis, which stays with size 1");
  op(m, "mean", mean, "x"_a, "axis"_a, "the mean over one axis, which stays with size 1");
  op(m, "sum_all", sum_all, "x"_a, "the sum of all numbers: (1,)");
  op(m, "max", max, "x"_a,
     "the maximum over the last axis, which stays with size 1; of equal numbers the first gets all of the gradient");
  op(m, "interpolate", interpolate, "table"_a, "places"_a,
     "reads each row of a table (..., N) at places (..., n) from 0 to N-1 with linear interpolation: (..., n)");
  op(m, "top_k", top_k, "x"_a, "k"_a,
     "the k largest of each row, the largest first, and their columns: (..., k) twice");
  op(m, "permute", permute, "x"_a, "order"_a, "dimension i of the result is dimension order[i] of x");
  op(m, "transpose", transpose, "x"_a, "x with its last two dimensions exchanged");
  op(m, "slice", slice, "x"_a, "axis"_a, "start"_a, "stop"_a, "x at start <= index < stop along the axis");
  op(m, "concat", concat, "parts"_a, "axis"_a, "joins tensors one after the other along the axis");
  op(m, "gather", rows, "table"_a, "at"_a, "rows by index: (N, ...), integers (A, ..., Z) -> (A, ..., Z, ...)");
  op(m, "matmul", matmul, "a"_a, "b"_a, "the product (..., m, k) x (..., k, n) or (k, n) -> (..., m, n)");
  op(m, "softmax", softmax, "x"_a, "the softmax over the last axis");
  op(m, "norm", norm, "x"_a, "gain"_a, "bias"_a, "LayerNorm over the last axis");
  op(m, "rms_norm", rms_norm, "x"_a, "gain"_a, "epsilon"_a = 1e-6, "RMSNorm over the last axis");
  op(m, "feed_forward", feed_forward, "x"_a, "w1"_a, "b1"_a, "w2"_a, "b2"_a,
     "max(x w1 + b1, 0) w2 + b2: (..., in) -> (..., out)");
  op(m, "cross_entropy", cross_entropy, "logits"_a, "targets"_a,
     "the mean cross-entropy over rows, in nats: (..., V), integers (...) -> (1,)");
}

}  // namespace

void add_attention(nb::module_&);  // ops of attention.cpp

void add_ops(nb::module_& m) {
  add_simple_ops(m);
  op(m, "scan", running_sum, "x"_a, "axis"_a, "exclusive"_a = false, "reverse"_a = false,
     "running sums along the axis. exclusive: each without its own number. reverse: from the end");
  op(m, "dropout", drop, "x"_a, "rate"_a, "seed"_a = 0, "step"_a = 0,
     "sets a share `rate` of the numbers to 0 and divides the rest by 1 - rate; seed and step determine which");
  op(m, "rotate", rotated, "x"_a, "angles"_a, "pairing"_a = "interleaved",
     "rotates pairs of channels: x (B, T, H, D), angles (1 or B, T, D/2) in radians. pairing: \"interleaved\",\n"
     "channels (2m, 2m+1), as --encoding rope does; or \"half\", channels (m, m + D/2)");
  op(m, "rotate", rotated_by, "x"_a, "cosine"_a, "sine"_a, "pairing"_a = "interleaved",
     "the same rotation, by the cosines and sines of the angles");
  m.def(
      "linear",
      [](TensorLike x, TensorLike w, std::optional<TensorLike> b) {
        return linear(tensor_of(x), tensor_of(w), b ? tensor_of(*b) : Tensor());
      },
      "x"_a, "w"_a, "b"_a = nb::none(), "x w + b: (..., in) -> (..., out), w (in, out)");
  m.def(
      "gated_feed_forward",
      [](TensorLike x, TensorLike w1, TensorLike w3, TensorLike w2, nb::object b1, nb::object b3, nb::object b2,
         const std::string& gate) {
        const GatedWeights w{tensor_of(w1),        tensor_or_absent(b1), tensor_of(w3),
                             tensor_or_absent(b3), tensor_of(w2),        tensor_or_absent(b2)};
        return gated_feed_forward(tensor_of(x), w, gate_of(gate));
      },
      "x"_a, "w1"_a, "w3"_a, "w2"_a, "b1"_a = nb::none(), "b3"_a = nb::none(), "b2"_a = nb::none(), "gate"_a = "silu",
      "(gate(x w1 + b1) (x w3 + b3)) w2 + b2; gate is relu, silu, gelu or gelu_tanh");
  op(m, "residual_norm", normed_sum, "x"_a, "z"_a, "gain"_a, "bias"_a, "rate"_a = 0, "seed"_a = 0, "step"_a = 0,
     "norm(x + dropout(z), gain, bias)");
  op(m, "residual_rms_norm", rms_normed_sum, "x"_a, "z"_a, "gain"_a, "epsilon"_a = 1e-6, "rate"_a = 0, "seed"_a = 0,
     "step"_a = 0, "a pair: s = x + dropout(z), and rms_norm(s, gain)");
  add_attention(m);
}

}  // namespace poslab::python
