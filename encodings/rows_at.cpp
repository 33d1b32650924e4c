#include "encodings/rows_at.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops.h"

namespace poslab {

Tensor rows_at(const Tensor& table, const std::vector<double>& at) {
  const int N = int(at.size());
  std::vector<int> below, above;
  std::vector<double> share;
  for (double a : at) {
    below.push_back(int(std::floor(a))), share.push_back(a - std::floor(a));
    above.push_back(std::min(below.back() + 1, table.dim(0) - 1));
  }
  Tensor low = gather(table, Ids({N}, std::move(below)));
  if (std::all_of(share.begin(), share.end(), [](double x) { return x == 0; })) return low;
  Shape shape(size_t(table.dims()), 1);
  shape[0] = N;
  const Tensor part = Tensor::from(shape, share).to(table.device());
  return low * (1 - part) + gather(table, Ids({N}, std::move(above))) * part;
}

}  // namespace poslab
