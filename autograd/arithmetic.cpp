// y = a + b, a - b, a b, a / b with broadcasting, powers, comparisons and what they choose. Where an input was
// repeated, its gradient is the sum over all places.
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
  Operand(const Tensor& x) : at(x.data()), shape(x.shape()) {}
};

// y = kernel(a, b), y of the shape `over` that a and b repeat to fill
Tensor apply(Kernel kernel, Device device, Operand a, Operand b, const Shape& over) {
  Tensor y(over, device);
  kernel(y.data(), a.at, b.at,
         strided_loop(over, dense(over), broadcast_strides(a.shape, over), broadcast_strides(b.shape, over)));
  return y;
}

// dx += d, added up over the places that x was repeated to                                    d: (over)
void add_grad(const Tensor& x, const real* d, const Shape& over) {
  if (Accumulator dx = x.grad_accumulator())
    kernels(x.device()).sum(dx, d, strided_loop(over, broadcast_strides(x.shape(), over), dense(over)));
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
    if (b.requires_grad())
      add_grad(b, apply(run.mul, b.device(), {dy, over}, Tensor::full({1}, -1, b.device()), over).data(), over);
  });
}

// da = dy b   db = dy a
Tensor mul(const Tensor& a, const Tensor& b) {
  const Shape over = broadcast("mul", a.shape(), b.shape());
  const Kernels& run = kernels(a.device());
  return record("mul", apply(run.mul, a.device(), a, b, over), {a, b}, [&run, a, b, over](const real* dy) {
    if (a.requires_grad()) add_grad(a, apply(run.mul, a.device(), {dy, over}, b, over).data(), over);
    if (b.requires_grad()) add_grad(b, apply(run.mul, b.device(), {dy, over}, a, over).data(), over);
  });
}

// da = dy / b   db = -(dy / b) y
Tensor div(const Tensor& a, const Tensor& b) {
  const Shape over = broadcast("div", a.shape(), b.shape());
  const Kernels& run = kernels(a.device());
  Tensor y = apply(run.div, a.device(), a, b, over);
  return record("div", y, {a, b}, [&run, a, b, y, over](const real* dy) {
    const Tensor da = apply(run.div, a.device(), {dy, over}, b, over);
    add_grad(a, da.data(), over);
    if (!b.requires_grad()) return;
    const Tensor minus_y = apply(run.mul, b.device(), y, Tensor::full({1}, -1, b.device()), over);
    add_grad(b, apply(run.mul, b.device(), da, minus_y, over).data(), over);
  });
}

// dx = dy c x^(c-1)
Tensor pow(const Tensor& x, double c) {
  const Kernels& run = kernels(x.device());
  const auto power = [&run, x](double c) { return apply(run.pow, x.device(), x, number(c, x), x.shape()); };
  return record("pow", power(c), {x}, [&run, x, c, power](const real* dy) {
    const Tensor slope = apply(run.mul, x.device(), power(c - 1), number(c, x), x.shape());
    add_grad(x, apply(run.mul, x.device(), {dy, x.shape()}, slope, x.shape()).data(), x.shape());
  });
}

Tensor greater_equal(const Tensor& a, const Tensor& b) {
  const Shape over = broadcast("greater_equal", a.shape(), b.shape());
  return record("greater_equal", apply(kernels(a.device()).greater_equal, a.device(), a, b, over), {}, {});
}

namespace {

// y = a where the mask is not 0, else 0: unlike the product, also where a is infinite or NaN. da = dy, likewise.
Tensor keep(const Tensor& a, const Tensor& mask) {
  const Shape over = broadcast("where", a.shape(), mask.shape());
  const Kernels& run = kernels(a.device());
  return record("keep", apply(run.keep, a.device(), a, mask, over), {a}, [&run, a, mask, over](const real* dy) {
    add_grad(a, apply(run.keep, a.device(), {dy, over}, mask, over).data(), over);
  });
}

}  // namespace

Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b) { return keep(a, mask) + keep(b, 1 - mask); }
Tensor minimum(const Tensor& a, const Tensor& b) { return where(greater_equal(-a, -b), a, b); }
Tensor maximum(const Tensor& a, const Tensor& b) { return where(greater_equal(a, b), a, b); }
Tensor clamp(const Tensor& x, double low, double high) {
  if (!(low <= high)) bad_input("clamp: low = {} is above high = {}; exchange them", low, high);
  return minimum(maximum(x, number(low, x)), number(high, x));
}
Tensor abs(const Tensor& x) { return relu(x) + relu(-x); }

}  // namespace poslab
