// The mean of a few seeds, and its uncertainty. Intervals are by the percentile bootstrap (Efron & Tibshirani 1993,
// chapter 13): the values are drawn again with replacement, 10,000 times, and the middle 95 % of the means are kept.
// The draws come from a fixed stream, so equal values have equal intervals. Leaves out corrections for bias: with three
// seeds an interval says little more than the range of the values.
#pragma once
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace poslab {

struct Interval {
  double low = std::nan(""), high = std::nan("");
  bool excludes(double x) const { return x < low || x > high; }  // false for NaNs
};

double mean(const std::vector<double>&);         // NaN if empty
Interval bootstrap(const std::vector<double>&);  // interval of the mean; NaN for fewer than two values

// In how many of 100 cells such an interval excludes zero, although its n values are normal with mean zero.
int excluded_by_luck(int n);
std::string about_intervals(int seeds);  // how far to trust such intervals: a sentence or two for a page

// first - second, over the common seeds
struct Paired {
  int seeds = 0;
  double mean = std::nan("");
  Interval interval;
};
using BySeed = std::map<int64_t, double>;
Paired paired(const BySeed& first, const BySeed& second);

}  // namespace poslab
