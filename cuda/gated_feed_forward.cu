// The gated feed-forward network: a = x w1 + b1 and c = x w3 + b3 share a launch, then h = act(a) c, y = h w2 + b2.
// Backward: dh = dy w2^T, then da, dc and h in one pass, then the products with x and the weights. h, dh, da and dc
// are in working space.
#include "cuda/activations.cuh"
#include "cuda/partial_sums.h"

namespace poslab::cuda {
namespace {

// h = act(a) c
template <class F>
__global__ void gate_hidden(real* h, const real* a, const real* c, int64_t n) {
  for (const int64_t e : all(n)) h[e] = F::of(a[e]).value * c[e];
}

// da holds dh:   h = act(a) c   da = dh c act'(a)   dc = dh act(a)
template <class F>
__global__ void gate_hidden_backward(real* h, real* da, real* dc, const real* a, const real* c, int64_t n) {
  for (const int64_t e : all(n)) {
    const Activated f = F::of(a[e]);
    const real dh = da[e], ce = c[e];
    h[e] = f.value * ce, da[e] = dh * ce * f.slope, dc[e] = dh * f.value;
  }
}

// The kernel for the activation `act`.
template <class Kernel>
Kernel for_gate(Activation act, Kernel relu, Kernel silu, Kernel gelu, Kernel gelu_tanh) {
  return act == Activation::relu ? relu : act == Activation::silu ? silu : act == Activation::gelu ? gelu : gelu_tanh;
}

enum Buffer { h_buffer = 1, da_buffer, dc_buffer };

}  // namespace

void gated_feed_forward(real* y, real* a, real* c, const GatedArgs& g) {
  const int m = int(g.rows);
  const int64_t n = g.rows * g.d_ff;
  multiply(one_product(along(g.x, g.in), across(g.w1, g.d_ff), a, m, g.d_ff, g.in, {.bias = g.b1}));
  multiply(one_product(along(g.x, g.in), across(g.w3, g.d_ff), c, m, g.d_ff, g.in, {.bias = g.b3}));
  real* h = scratch(h_buffer, n);
  launch(for_gate(g.gate, gate_hidden<Relu>, gate_hidden<Silu>, gate_hidden<Gelu>, gate_hidden<GeluTanh>),
         blocks_for(n), threads, h, a, c, n);
  multiply(one_product(along(h, g.d_ff), across(g.w2, g.out), y, m, g.out, g.d_ff, {.bias = g.b2}));
}

void gated_feed_forward_backward(const GatedGrads& d, const real* dy, const real* a, const real* c,
                                 const GatedArgs& g) {
  const int m = int(g.rows);
  const int64_t n = g.rows * g.d_ff;
  real *h = scratch(h_buffer, n), *da = scratch(da_buffer, n), *dc = scratch(dc_buffer, n);
  multiply(one_product(along(dy, g.out), along(g.w2, g.out), da, m, g.d_ff, g.out, {}));
  launch(for_gate(g.gate, gate_hidden_backward<Relu>, gate_hidden_backward<Silu>, gate_hidden_backward<Gelu>,
                  gate_hidden_backward<GeluTanh>),
         blocks_for(n), threads, h, da, dc, a, c, n);
  const auto inputs = [&](const real* hidden, const real* w, bool add) {
    if (d.x) multiply(one_product(along(hidden, g.d_ff), along(w, g.d_ff), d.x.at, m, g.in, g.d_ff, {.add_to_c = add}));
  };
  inputs(da, g.w1, !d.x.empty), inputs(dc, g.w3, true);
  multiply(g.rows, {d.w1, d.b1, g.x, da, g.in, g.d_ff});
  multiply(g.rows, {d.w3, d.b3, g.x, dc, g.in, g.d_ff});
  multiply(g.rows, {d.w2, d.b2, h, dy, g.d_ff, g.out});
}

}  // namespace poslab::cuda
