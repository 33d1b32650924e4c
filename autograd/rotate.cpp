// Rotary embedding (Su et al. 2021): each pair of channels of x_t is rotated by its angle, the same for all heads.
//   (y, y') = (x cos - x' sin, x sin + x' cos)
// The gradient is rotated back:   (dx, dx') = (dy cos + dy' sin, dy' cos - dy sin)
// Learned angles get gradients through    dcos = dy x + dy' x'    dsin = dy' x - dy x',    summed over heads
#include "autograd/ops.h"
#include "autograd/strided_loop.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {
namespace {

// y += from, rotated forward or back                               y, from: (B, T, H, D)   by: (1 or B, T, D/2)
void add_rotated(Accumulator y, const real* from, const Shape& shape, const Rotation& by, Pairing pairing, bool back) {
  kernels(by.cosine.device())
      .rotate(y, from, by.cosine.data(), by.sine.data(), shape[0], by.cosine.dim(0), shape[1], shape[2], shape[3],
              pairing == Pairing::interleaved, back);
}

void rotate_backward(const Tensor& x, const real* dy, const Rotation& by, Pairing pairing) {
  if (Accumulator dx = x.grad_accumulator()) add_rotated(dx, dy, x.shape(), by, pairing, true);
}

// dtable += the products of dy and x, added up over both channels of a pair, over heads, and over the sequences that
// share the table                                                        dy, x: (B, T, H, D)   table: (1 or B, T, D/2)
void add_products(const Tensor& table, const real* dy, const Tensor& x, Pairing pairing) {
  const int64_t B = x.dim(0), T = x.dim(1), H = x.dim(2), D = x.dim(3), half = D / 2;
  const Kernels& run = kernels(x.device());
  const Tensor products(x.shape(), x.device());
  const Strides all = dense(x.shape());
  run.mul(products.data(), dy, x.data(), strided_loop(x.shape(), all, all, all));
  const bool interleaved = pairing == Pairing::interleaved;
  const Shape pairs = {int(B), int(T), int(H), interleaved ? int(half) : 2, interleaved ? 2 : int(half)};
  const int64_t b = table.dim(0) == 1 ? 0 : T * half;
  const Strides of_table = {b, half, 0, interleaved ? 1 : 0, interleaved ? 0 : 1};
  run.sum(table.grad_accumulator(), products.data(), strided_loop(pairs, of_table, dense(pairs)));
}

// (-x', x): dsin is its product with dy
Tensor quarter_turn(const Tensor& x, Pairing pairing) {
  const NoGrad constant;
  const Shape table = {1, x.dim(1), x.dim(3) / 2};
  return rotate(x, Rotation{Tensor::full(table, 0, x.device()), Tensor::full(table, 1, x.device())}, pairing);
}

}  // namespace

Tensor rotate(const Tensor& x, const Rotation& by, Pairing pairing) {   // (B, T, H, D), (1 or B, T, D/2)
  if (x.dims() != 4 || x.dim(3) % 2)
    bad_input("rotate: x is {}; it must be (batch, time, heads, an even head size)", to_string(x.shape()));
  const int batch = x.dim(0), time = x.dim(1), head_dim = x.dim(3);
  const Tensor &cosine = by.cosine, &sine = by.sine;
  if (cosine.shape() != sine.shape() || cosine.dims() != 3 || (cosine.dim(0) != 1 && cosine.dim(0) != batch) ||
      cosine.dim(1) != time || cosine.dim(2) != head_dim / 2)
    bad_input("rotate: cosines are {} and sines {} for x {}; both must be (1 or {}, {}, {})", to_string(cosine.shape()),
              to_string(sine.shape()), to_string(x.shape()), batch, time, head_dim / 2);
  Tensor y(x.shape(), x.device());
  add_rotated({y.data(), true}, x.data(), x.shape(), by, pairing, false);
  return record("rotate", y, {x, cosine, sine}, [x, by, pairing](const real* dy) {
    rotate_backward(x, dy, by, pairing);
    if (by.cosine.requires_grad()) add_products(by.cosine, dy, x, pairing);
    if (by.sine.requires_grad()) add_products(by.sine, dy, quarter_turn(x, pairing), pairing);
  });
}

Tensor rotate(const Tensor& x, const Tensor& angles, Pairing pairing) {
  if (angles.requires_grad() && angles.device() != x.device())
    bad_input("rotate: angles that require a gradient must be on the device of x; compute them there");
  return rotate(x, Rotation{cos(angles).to(x.device()), sin(angles).to(x.device())}, pairing);
}

}  // namespace poslab
