// The CPU's tables of kernels, one for each engine of products, compiled once for each instruction set.
// core/kernels.def lists the kernels; the other files of this folder define them. A program with few kernels
// (cmake/spine) declares them [[gnu::weak]] by POSLAB_KERNEL, so that an undefined kernel is null.
#include "core/cpu/layers.h"
#include "core/cpu/openblas_product.h"
#include "core/engine.h"
#include "core/kernels.h"

#define TEXT(x) #x
#define NAME(x) TEXT(x)
#ifndef POSLAB_KERNEL
#define POSLAB_KERNEL
#endif

namespace poslab::POSLAB_ISA {

#define KERNEL(name, result, arguments, ...) POSLAB_KERNEL result name arguments;
#include "core/kernels.def"
#undef KERNEL
POSLAB_KERNEL void linear_stored(real*, const real*, StoredAs, const void*, const real*, int64_t, int, int);
POSLAB_KERNEL void gather_stored(real*, StoredAs, const void*, const int*, int64_t, int);

namespace {

const Kernels& own() {
  static const Kernels kernels = [] {
    Kernels k;
    k.name = "cpu/" NAME(POSLAB_ISA);
#define KERNEL(name, ...) k.name = poslab::POSLAB_ISA::name;
#include "core/kernels.def"
#undef KERNEL
    k.linear_stored = poslab::POSLAB_ISA::linear_stored, k.gather_stored = poslab::POSLAB_ISA::gather_stored;
    return k;
  }();
  return kernels;
}

#ifndef __wasm__   // a page has only `own`; core/engine.cpp refuses the other engines
template <class Product>
const Kernels& with_products_by() {
  static const Kernels kernels = [] {
    using L = Layers<Product>;
    Kernels k = own();
    k.matmul = L::matmul;
    k.linear = L::linear, k.linear_backward = L::linear_backward;
    k.feed_forward = L::feed_forward, k.feed_forward_backward = L::feed_forward_backward;
    k.gated_feed_forward = L::gated_feed_forward, k.gated_feed_forward_backward = L::gated_feed_forward_backward;
    return k;
  }();
  return kernels;
}
#endif

}  // namespace

const Kernels& table(Engine products) {
#ifndef __wasm__
  switch (products) {
    case Engine::openblas: return with_products_by<OpenBlasProduct>();
    case Engine::naive: return with_products_by<NaiveProduct>();
    case Engine::own:
    case Engine::cublas: break;
  }
#endif
  return own();
}

}  // namespace poslab::POSLAB_ISA
