#include "experiment/inside.h"

#include <algorithm>

namespace poslab {

Inspection inspection(const Probed& model, const std::vector<int>& lengths, std::function<Inside()> look,
                      const std::vector<int>& points, const std::vector<int>& maps) {
  const double word = sizeof(real);
  double kept = 0, arrays = 0;  // bytes that stay until the page is made: activations and maps
  Taken all = dispersed_take(model, lengths);
  const double longest = std::min<double>(model.forward(lengths.back()).slots, most_of_biases);
  all.then({3 * word * model.heads * longest * longest, 0});  // logits of biases
  for (size_t n = 0; n < points.size(); ++n) {
    const Forward f = model.forward(lengths[n]);
    const double times = n == 0 ? 2 : 1;  // also other inputs of the first length
    all.then({f.bytes + word * f.inputs * f.layers * f.slots * f.d_model, times * model.inputs * f.flops});
    kept += times * model.inputs * f.layers * points[n] * f.d_model * sizeof(double);
  }
  for (const int length : maps) {
    const Forward f = model.forward(length);
    const double one = f.slots * f.slots;
    all.then({f.bytes / f.inputs + 3 * word * f.heads * one, f.layers * f.flops});  // a pass for each layer
    arrays += sizeof(float) * f.layers * one;
    const double drawn = std::min(f.slots, 500.);  // cells on a side of a page's map
    kept += f.layers * (f.heads + 1) * (sizeof(float) * one + 32 * drawn * drawn);
  }
  all.bytes += kept;
  return {all, arrays, std::move(look)};
}

}  // namespace poslab
