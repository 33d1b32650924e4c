#include "encodings/sinusoid.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/platform/own_queue.h"
#include "core/platform/parallel.h"

namespace poslab {

void check_halves(const char* scheme, int d_model) {
  if (d_model % 2) bad_input("{} has half sines, half cosines, but d_model = {} is odd; make it even", scheme, d_model);
}

std::vector<double> frequencies(int channels, double base) {
  if (channels < 2 || channels % 2)
    bad_input("sinusoid: {} channels cannot be paired; use an even number", channels);
  std::vector<double> f;
  for (int m = 0; m < channels / 2; ++m) f.push_back(std::pow(base, -2.0 * m / channels));
  return f;
}

namespace {

// Row of p >= 0: its sines, then its cosines.
void fill_row(real* row, double p, const std::vector<double>& f) {
  for (size_t m = 0; m < f.size(); ++m) {
    const double angle = p * f[m];
    row[m] = real(std::sin(angle)), row[m + f.size()] = real(std::cos(angle));
  }
}

// The rows of 0, 1, 2, ... recur in every layer of every step, and a sine costs as much as a whole row of a product:
// they are kept in one table for each width, which grows with the positions.
using Rows = std::shared_ptr<const std::vector<real>>;
Rows whole_rows(int channels, const std::vector<double>& f, size_t count) {
  static Mutex mutex;
  static std::map<int, Rows> tables;
  const std::lock_guard lock(mutex);
  Rows& table = tables[channels];
  if (!table || table->size() < count * size_t(channels)) {
    const size_t rows = std::max<size_t>(2048, 2 * count);
    std::vector<real> at(rows * size_t(channels));
    parallel_ranges(int64_t(rows), 64, [&](int64_t from, int64_t to) {
      for (int64_t p = from; p < to; ++p) fill_row(&at[size_t(p * channels)], double(p), f);
    });
    table = std::make_shared<const std::vector<real>>(std::move(at));
  }
  return table;
}

}  // namespace

namespace {

constexpr double most = 1 << 16;   // a larger table would not be worth its memory
bool whole(double p) { return std::abs(p) < most && p == double(int(p)); }

// A GPU keeps the rows of -reach .. reach: a step sends it row numbers, not rows.
Tensor rows_on(Device device, int channels, int reach) {
  static Mutex mutex;
  static std::map<std::pair<int, int>, Tensor> tables;   // each queue has its own table, in its memory
  const std::lock_guard lock(mutex);
  Tensor& table = tables[{queue_number(), channels}];
  if (!table || table.dim(0) < 2 * reach + 1) {
    const int rows = std::max(2048, 2 * reach);
    std::vector<double> positions;
    for (int p = -rows; p <= rows; ++p) positions.push_back(p);
    table = Tensor({2 * rows + 1, channels}, device);
    table.set(sinusoid(positions, channels).data());
  }
  return table;
}

}  // namespace

Tensor sinusoid(const std::vector<double>& positions, int channels, Device device) {
  if (device == Device::cpu) return sinusoid(positions, channels);
  if (!std::all_of(positions.begin(), positions.end(), whole)) return sinusoid(positions, channels).to(device);
  double longest = 0;
  for (const double p : positions) longest = std::max(longest, std::abs(p));
  const Tensor table = rows_on(device, channels, int(longest));
  std::vector<int> row(positions.size());
  std::transform(positions.begin(), positions.end(), row.begin(),
                 [zero = table.dim(0) / 2](double p) { return int(p) + zero; });
  return gather(table, Ids({int(positions.size())}, std::move(row)));
}

// sin(-a) = -sin(a), cos(-a) = cos(a), so that a table of p >= 0 serves all whole positions.
Tensor sinusoid(const std::vector<double>& positions, int channels) {
  const std::vector<double> f = frequencies(channels);
  double longest = -1;
  for (const double p : positions)
    if (whole(p)) longest = std::max(longest, std::abs(p));
  const Rows rows = whole_rows(channels, f, size_t(longest + 1));
  Tensor y({int(positions.size()), channels});
  for (size_t n = 0; n < positions.size(); ++n) {
    real* row = y.data() + n * size_t(channels);
    const double p = positions[n];
    if (whole(p)) std::copy_n(rows->data() + size_t(std::abs(p)) * size_t(channels), channels, row);
    else fill_row(row, std::abs(p), f);
    if (p < 0) std::transform(row, row + f.size(), row, std::negate<>());
  }
  return y;
}

}  // namespace poslab
