#include "encodings/grouped_heads.h"

#include <typeinfo>

#include "encodings/by_distance.h"
#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

template <class Class>
bool is(const Encoding& e) {
  return dynamic_cast<const Class*>(&e) != nullptr;
}

}  // namespace

Tensor repeat_heads(const Tensor& x, int heads) {
  const int B = x.dim(0), T = x.dim(1), G = x.dim(2), D = x.dim(3);
  if (G == heads) return x;
  const Tensor zeros = Tensor::full({heads / G, 1}, 0, x.device());
  return add(x.reshape({B, T, G, 1, D}), zeros).reshape({B, T, heads, D});
}

bool reads_states(const Encoding& e) {
  return !(typeid(e) == typeid(Encoding) || is<Rotary>(e) || is<Windowed>(e) || is<PiecewiseRotary>(e) ||
           is<ByKeys>(e) || is<ByDistance>(e));
}

Heads fit_key_heads(const Encoding& e, Heads in, const Positions& p) {
  const int H = in.q.dim(2);
  if (in.k.dim(2) == H) return in;
  const auto* rotary = dynamic_cast<const Rotary*>(&e);
  const bool written_out = is<PiecewiseRotary>(e) && p.distances().pairs;  // a product for each pair and head
  if (reads_states(e) || written_out || (rotary && !rotary->heads_alike())) in.k = repeat_heads(in.k, H);
  return in;
}

}  // namespace poslab
