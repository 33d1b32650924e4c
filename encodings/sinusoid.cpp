#include "encodings/sinusoid.h"

#include <cmath>

#include "core/error.h"
#include "core/parallel.h"

namespace poslab {

std::vector<double> frequencies(int channels) {
  if (channels < 2 || channels % 2)
    bad_input("sinusoid: {} channels do not fall into pairs; use an even number", channels);
  std::vector<double> f;
  for (int m = 0; m < channels / 2; ++m) f.push_back(std::pow(10000.0, -2.0 * m / channels));
  return f;
}

Tensor sinusoid(const std::vector<double>& positions, int channels) {
  const std::vector<double> f = frequencies(channels);
  Tensor y({int(positions.size()), channels});
  parallel_ranges(int64_t(positions.size()), 256, [&](int64_t from, int64_t to) {
    for (int64_t n = from; n < to; ++n)
      for (size_t m = 0; m < f.size(); ++m) {
        real* row = y.data() + n * channels;
        const double angle = positions[size_t(n)] * f[m];
        row[m] = real(std::sin(angle)), row[m + f.size()] = real(std::cos(angle));
      }
  });
  return y;
}

}  // namespace poslab
