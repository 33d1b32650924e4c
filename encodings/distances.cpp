// The distances of a batch, each listed once: schemes compute a row per distance, not per pair. With randomized
// positions of 0..2047, some 1,200 of 4,095 distances occur at T = 40, and nearly all at T = 1500, in 2,250,000 pairs.
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "encodings/positions.h"

namespace poslab {
namespace {

// p_j - p_i = (j - i) step for the first T positions; empty if they are not evenly spaced
std::vector<double> toeplitz(const std::vector<double>& p, int T) {
  const double all = p[size_t(T - 1)] - p[0], step = T > 1 ? all / (T - 1) : 1;
  std::vector<double> value;
  for (int i = 0; i < T; ++i)
    if (std::abs(p[size_t(i)] - p[0] - i * step) > 1e-9 * std::abs(all)) return value;
  for (int d = 1 - T; d < T; ++d) value.push_back(d * step);
  return value;
}

// All pairs of a query and a slot of the same sequence; the queries are its last slots.
struct Pairs {
  int sequences, queries, time;
  int64_t count() const { return int64_t(sequences) * queries * time; }
  template <class Work>
  void each(const Work& work) const {              // work(s, i, j)
    for (int s = 0; s < sequences; ++s)
      for (int i = time - queries; i < time; ++i)
        for (int j = 0; j < time; ++j) work(s, i, j);
  }
  template <class Row>
  Ids rows(const Row& row) const {                 // row(s, i, j) of each
    std::vector<int> all(size_t(count()), 0);
    int* at = all.data();
    each([&](int s, int i, int j) { *at++ = row(s, i, j); });
    return {{sequences, queries, time}, std::move(all)};
  }
};

// The table of 2 furthest + 1 entries, for whole distance(s, i, j) of at most `furthest`.
template <class Distance>
Distances look_up_whole(const Pairs& pairs, int furthest, const Distance& distance) {
  const int64_t places = 2 * int64_t(furthest) + 1;
  std::vector<double> value;
  if (pairs.count() > 16 * places) {   // nearly all occur: a few idle rows cost less than finding them
    for (int d = -furthest; d <= furthest; ++d) value.push_back(d);
    return {std::move(value), pairs.rows([&](int s, int i, int j) { return distance(s, i, j) + furthest; })};
  }
  std::vector<int> row(size_t(places), 0);
  pairs.each([&](int s, int i, int j) { row[size_t(distance(s, i, j) + furthest)] = 1; });
  for (int d = -furthest; d <= furthest; ++d)
    if (int& at = row[size_t(d + furthest)]) at = int(value.size()), value.push_back(d);
  return {std::move(value), pairs.rows([&](int s, int i, int j) { return row[size_t(distance(s, i, j) + furthest)]; })};
}

// Works for any real distances: sorts them and searches.
template <class Distance>
Distances look_up_real(const Pairs& pairs, const Distance& distance) {
  std::vector<double> value;
  pairs.each([&](int s, int i, int j) { value.push_back(distance(s, i, j)); });
  std::sort(value.begin(), value.end());
  value.erase(std::unique(value.begin(), value.end()), value.end());
  const Ids rows = pairs.rows([&](int s, int i, int j) {
    return int(std::lower_bound(value.begin(), value.end(), distance(s, i, j)) - value.begin());
  });
  return {std::move(value), rows};
}

// Looks up distance(numbers, s, i, j), with the numbers as ints if they are whole and small.
template <class Distance>
Distances look_up(const Pairs& pairs, const std::vector<double>& numbers, double furthest, const Distance& distance) {
  const bool small =
      std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == std::floor(x) && std::abs(x) < 1 << 22; });
  if (!small) return look_up_real(pairs, [&](int s, int i, int j) { return distance(numbers, s, i, j); });
  const std::vector<int> whole(numbers.begin(), numbers.end());
  return look_up_whole(pairs, int(furthest), [&](int s, int i, int j) { return distance(whole, s, i, j); });
}

Distances between_tokens(const Pairs& pairs, const std::vector<double>& p) {
  const int time = pairs.time;
  bool shifted = pairs.queries == time;   // each sequence is the first one, shifted
  for (size_t n = size_t(time); n < p.size(); ++n)
    shifted = shifted && p[n] - p[n - n % size_t(time)] == p[n % size_t(time)] - p[0];
  if (shifted)
    if (std::vector<double> value = toeplitz(p, time); !value.empty()) return {std::move(value), {}};
  const auto [least, most] = std::minmax_element(p.begin(), p.end());
  return look_up(pairs, p, *most - *least, [time](const auto& at, int s, int i, int j) {
    return at[size_t(s * time + j)] - at[size_t(s * time + i)];
  });
}

Distances in_table(int sequences, int time, const std::vector<double>& offset) {
  if (sequences == 1) return {offset, {}};
  const auto [least, most] = std::minmax_element(offset.begin(), offset.end());
  return look_up(
      {sequences, time, time}, offset, std::max(std::abs(*least), std::abs(*most)),
      [time](const auto& at, int s, int i, int j) { return at[size_t(s * (2 * time - 1) + j - i + time - 1)]; });
}

}  // namespace

const Distances& Positions::distances() const {
  const Pairs pairs{sequences_, padded() ? 1 : time(), time()};
  if (!distances_)
    distances_ = std::make_shared<const Distances>(only_offsets() ? in_table(sequences_, time(), offset_)
                                                                  : between_tokens(pairs, position_));
  return *distances_;
}

const Distances& Positions::offsets(const std::string& scheme) const {
  if (!only_offsets() && !padded() && distances().pairs)
    bad_input("{}: this mode reads one offset for each j - i, but here it differs from pair to pair;"
              " use sampler randomized_offsets, or a mode that reads differences", scheme);
  return distances();
}

Ids Distances::last_rows(int queries) const {
  if (!pairs || pairs.shape()[1] == queries) return pairs;
  const int sequences = pairs.shape()[0], time = pairs.shape()[1];
  if (queries < 1 || queries > time)
    bad_input("positions: {} queries of {} slots; give 1 or more, and at most one for each slot", queries, time);
  std::vector<int> last;
  for (int s = 0; s < sequences; ++s)
    last.insert(last.end(), pairs.data() + int64_t(s * time + time - queries) * time,
                pairs.data() + int64_t(s + 1) * time * time);
  return {{sequences, queries, time}, std::move(last)};
}

std::vector<double> Distances::rows(Device device) const {
  std::vector<double> all = value;
  if (pairs && device != Device::cpu) all.resize((all.size() + 255) / 256 * 256, all.back());
  return all;
}

int Distances::row(int sequence, int i, int j, int time) const {
  if (!pairs) return j - i + time - 1;
  return pairs[(int64_t(pairs.shape()[0] == 1 ? 0 : sequence) * time + i) * time + j];
}

}  // namespace poslab
