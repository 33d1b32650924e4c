// Attention on a CPU by one of four routes: the first one in the table that fits the arguments computes both passes.
// All store the same two numbers for each row, its maximum and 1 / z. docs/attention.md leads from the formula
// (naive.h) to each route.
#include "core/cpu/attention/narrow_pairs.h"
#include "core/cpu/attention/wide_heads_backward.h"

namespace poslab::POSLAB_ISA {

void tiled_forward(real* o, real* stats, const AttentionArgs&);                                   // forward.cpp
void tiled_backward(const AttentionGrads&, const AttentionArgs&, const real* d_o, const real* o,  // backward.cpp
                    const real* stats);

namespace {

template <class OneHead>
void narrow_forward(real* o, real* stats, const AttentionArgs& x) {
  for_narrow_heads(x, [&](const NarrowHead& h) { OneHead(h).forward(o, stats); });
}
template <class OneHead>
void narrow_backward(const AttentionGrads& d, const AttentionArgs& x, const real* d_o, const real* o,
                     const real* stats) {
  for_narrow_heads(x, [&](const NarrowHead& h) { OneHead(h).backward(d, d_o, o, stats); });
}
void narrow_or_tiled_backward(const AttentionGrads& d, const AttentionArgs& x, const real* d_o, const real* o,
                              const real* stats) {
  const bool narrow = is_narrow_backward(x) && !d.bias;   // only the tiles sum the gradient of a bias
  (narrow ? narrow_backward<NarrowHead> : tiled_backward)(d, x, d_o, o, stats);
}

struct Route {
  bool (*fits)(const AttentionArgs&);
  void (*forward)(real* o, real* stats, const AttentionArgs&);
  void (*backward)(const AttentionGrads&, const AttentionArgs&, const real* d_o, const real* o, const real* stats);
};
constexpr Route routes[] = {
#ifndef POSLAB_DOUBLE
    {is_narrow_in_pairs, narrow_forward<PairedHead>, narrow_backward<PairedHead>},
#endif
    {is_narrow, narrow_forward<NarrowHead>, narrow_or_tiled_backward},
    {is_wide, wide_forward, wide_backward},
    {[](const AttentionArgs&) { return true; }, tiled_forward, tiled_backward},
};
const Route& route_of(const AttentionArgs& x) {
  const Route* route = routes;
  while (!route->fits(x)) ++route;
  return *route;
}

}  // namespace

void attention(real* o, real* stats, const AttentionArgs& x) { route_of(x).forward(o, stats, x); }

void attention_backward(const AttentionGrads& d, const AttentionArgs& x, const real* d_o, const real* o,
                        const real* stats) {
  route_of(x).backward(d, x, d_o, o, stats);
}

}  // namespace poslab::POSLAB_ISA
