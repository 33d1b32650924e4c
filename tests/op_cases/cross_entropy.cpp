// cross_entropy: the mean over rows of -ln softmax at the target.
#include <fmt/format.h>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

Shape without_last(Shape shape) {
  shape.pop_back();
  return shape;
}

const Cases cross_entropy_cases([](std::vector<OpCase>& all) {
  for (const Shape& shape : row_shapes())
    for (const double size : {1., 20.}) {
      const Ids target(without_last(shape), random_ids(size_of(without_last(shape)), shape.back(), 5));
      OpCase c{"cross_entropy", fmt::format("{} up to {}", to_string(shape), size), {shape}};
      c.op = [target](auto& x) { return cross_entropy(x[0], target); };
      c.reference = [target](Arrays x) {
        const size_t n = size_t(x[0].shape.back());
        Array loss({1});
        for (size_t i = 0; i < size_t(target.size()); ++i) {
          const double *row = &x[0].at[i * n], most = *std::max_element(row, row + n);
          double z = 0;
          for (size_t j = 0; j < n; ++j) z += std::exp(row[j] - most);
          loss.at[0] += (most + std::log(z) - row[target[int64_t(i)]]) / double(target.size());
        }
        return loss;
      };
      c.twin = [target](auto& x) { return composed::cross_entropy(x[0], target); };
      c.ranges = {{-size, size}}, c.step = 1e-3;   // larger steps: a row is only a small part of the mean
      all.push_back(c);
    }
});

const Cases cross_entropy_speed(
    [](std::vector<OpCase>& all) {
      const Ids target({2560}, random_ids(2560, 12, 5));
      const Shape logits = {2560, 12};
      all.push_back(
          {"cross_entropy", to_string(logits), {logits}, [target](auto& x) { return cross_entropy(x[0], target); }});
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
