// y = a + b, a - b, a b, a / b with broadcasting, powers, comparisons, and selection by a mask. An element that
// broadcasting repeats gets the sum of its gradients; without repetition the first gradient is not added but written.
#include <cmath>

#include "core/error.h"
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "autograd/strided_loop.h"

namespace poslab {
namespace {

using Kernel = void (*)(real* y, const real* a, const real* b, const StridedLoop&);

struct Operand {
  const real* at;
  const Shape& shape;
  Operand(const real* values, const Shape& s) : at(values), shape(s) {}
  Operand(const Tensor& x) : at(x.data()), shape(x.shape()) { x.device(); }   // throws if x is absent
};

// y = kernel(a, b), y of the shape `over` that a and b repeat to fill
void apply_to(real* y, Kernel kernel, Operand a, Operand b, const Shape& over) {
  kernel(y, a.at, b.at,
         strided_loop(over, dense(over), broadcast_strides(a.shape, over), broadcast_strides(b.shape, over)));
}
Tensor apply(Kernel kernel, Device device, Operand a, Operand b, const Shape& over) {
  Tensor y(over, device);
  apply_to(y.data(), kernel, a, b, over);
  return y;
}

// dx += d, summed over all elements of d for one element of x                                 d: (over)
void add_grad(const Tensor& x, const real* d, const Shape& over) {
  if (Accumulator dx = x.grad_accumulator())
    kernels(x.device()).sum(dx, d, strided_loop(over, broadcast_strides(x.shape(), over), dense(over)));
}
// dx += kernel(a, b), summed over repetitions as above
void add_grad(const Tensor& x, Kernel kernel, Operand a, Operand b, const Shape& over) {
  if (!x.requires_grad()) return;
  if (x.has_grad() || x.size() != size_of(over))
    return add_grad(x, apply(kernel, x.device(), a, b, over).data(), over);
  apply_to(x.grad_accumulator().at, kernel, a, b, over);
}

}  // namespace

// da = dy   db = dy
Tensor add(const Tensor& a, const Tensor& b) {
  const Shape over = broadcast("add", a.shape(), b.shape());
  Tensor y = apply(kernels(a.device()).add, a.device(), a, b, over);
  return record("add", y, {a, b}, [a, b, over](const real* dy) {
    add_grad(a, dy, over);
    add_grad(b, dy, over);
  });
}

// da = dy   db = -dy
Tensor sub(const Tensor& a, const Tensor& b) {
  const Shape over = broadcast("sub", a.shape(), b.shape());
  const Kernels& run = kernels(a.device());
  return record("sub", apply(run.sub, a.device(), a, b, over), {a, b}, [&run, a, b, over](const real* dy) {
    add_grad(a, dy, over);
    add_grad(b, run.mul, {dy, over}, number(-1, b), over);
  });
}

// da = dy b   db = dy a
Tensor mul(const Tensor& a, const Tensor& b) {
  const Shape over = broadcast("mul", a.shape(), b.shape());
  const Kernels& run = kernels(a.device());
  return record("mul", apply(run.mul, a.device(), a, b, over), {a, b}, [&run, a, b, over](const real* dy) {
    add_grad(a, run.mul, {dy, over}, b, over);
    add_grad(b, run.mul, {dy, over}, a, over);
  });
}

// da = dy / b   db = -(dy / b) y
Tensor div(const Tensor& a, const Tensor& b) {
  const Shape over = broadcast("div", a.shape(), b.shape());
  const Kernels& run = kernels(a.device());
  Tensor y = apply(run.div, a.device(), a, b, over);
  return record("div", y, {a, b}, [&run, a, b, y, over](const real* dy) {
    add_grad(a, run.div, {dy, over}, b, over);
    if (!b.requires_grad()) return;
    const Tensor minus_y = apply(run.mul, b.device(), y, number(-1, b), over);
    add_grad(b, run.mul, apply(run.div, b.device(), {dy, over}, b, over), minus_y, over);
  });
}

// dx = dy c x^(c-1), and 0 for c = 0, also at x = 0
Tensor pow(const Tensor& x, double c) {
  if (!std::isfinite(real(c))) bad_input("pow: the exponent is {}; give a finite number", c);
  const Kernels& run = kernels(x.device());
  const auto power = [&run, x](double c) { return apply(run.pow, x.device(), x, number(c, x), x.shape()); };
  return record("pow", power(c), {x}, [&run, x, c, power](const real* dy) {
    if (c == 0) return add_grad(x, Tensor::full(x.shape(), 0, x.device()).data(), x.shape());
    const Tensor slope = apply(run.mul, x.device(), power(c - 1), number(c, x), x.shape());
    add_grad(x, run.mul, {dy, x.shape()}, slope, x.shape());
  });
}

Tensor greater_equal(const Tensor& a, const Tensor& b) {
  const Shape over = broadcast("greater_equal", a.shape(), b.shape());
  return without_gradient("greater_equal", apply(kernels(a.device()).greater_equal, a.device(), a, b, over), {a, b});
}

namespace {

// 1 where the mask is 0, else 0
Tensor not_of(const Tensor& mask) {
  const Kernels& run = kernels(mask.device());
  const Tensor one = number(1, mask), is = apply(run.keep, mask.device(), one, mask, mask.shape());
  return apply(run.sub, mask.device(), one, is, mask.shape());
}

// da = dy where the mask is 1, db = dy where it is 0                                          mask, dy: (over)
void add_grads_of_chosen(const Tensor& mask, const Tensor& a, const Tensor& b, const real* dy) {
  const Kernels& run = kernels(mask.device());
  const Shape& over = mask.shape();
  add_grad(a, run.keep, {dy, over}, mask, over);
  if (!b.requires_grad()) return;
  add_grad(b, run.keep, {dy, over}, apply(run.sub, b.device(), number(1, b), mask, over), over);
}

}  // namespace

// y = a [mask != 0] + b [mask = 0]; an element that is not chosen counts as 0, even if it is infinite or NaN
// da = dy [mask != 0]   db = dy [mask = 0]
Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b) {
  const Shape over = broadcast("where", broadcast("where", mask.shape(), a.shape()), b.shape());
  const Kernels& run = kernels(mask.device());
  const Tensor rest = not_of(mask);
  const auto kept = [&](const Tensor& x, const Tensor& in) {                       // broadcast only with its mask
    return apply(run.keep, x.device(), x, in, broadcast("where", x.shape(), in.shape()));
  };
  const Tensor y = apply(run.add, mask.device(), kept(a, mask), kept(b, rest), over);
  return record("where", y, {mask.detach(), a, b}, [&run, mask, rest, a, b, over](const real* dy) {
    add_grad(a, run.keep, {dy, over}, mask, over);
    add_grad(b, run.keep, {dy, over}, rest, over);
  });
}
// da = dy [a <= b]   db = dy [a > b]
Tensor minimum(const Tensor& a, const Tensor& b) {
  const Shape over = broadcast("minimum", a.shape(), b.shape());
  const Kernels& run = kernels(a.device());
  return record("minimum", apply(run.minimum, a.device(), a, b, over), {a, b}, [a, b, over](const real* dy) {
    add_grads_of_chosen(apply(kernels(a.device()).greater_equal, a.device(), b, a, over), a, b, dy);
  });
}
// da = dy [a >= b]   db = dy [a < b]
Tensor maximum(const Tensor& a, const Tensor& b) {
  const Shape over = broadcast("maximum", a.shape(), b.shape());
  const Kernels& run = kernels(a.device());
  return record("maximum", apply(run.maximum, a.device(), a, b, over), {a, b}, [a, b, over](const real* dy) {
    add_grads_of_chosen(apply(kernels(a.device()).greater_equal, a.device(), a, b, over), a, b, dy);
  });
}
Tensor clamp(const Tensor& x, double low, double high) {
  if (std::isnan(low) || std::isnan(high)) bad_input("clamp: low = {}, high = {}; give numbers", low, high);
  if (low > high) bad_input("clamp: low = {} is above high = {}; swap them", low, high);
  return minimum(maximum(x, number(low, x)), number(high, x));
}
Tensor abs(const Tensor& x) { return relu(x) + relu(-x); }

}  // namespace poslab
