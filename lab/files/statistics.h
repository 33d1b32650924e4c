// The mean of a few seeds, and how far it may be off. Intervals are by the percentile bootstrap (Efron
// & Tibshirani 1993, chapter 13): the values are drawn again with replacement, 10,000 times, and the middle 95 % of the
// means kept. The draws come from a fixed stream, so equal values have equal intervals. Leaves out corrections for
// bias: with three seeds an interval is honest about little more than the values' own range.
#pragma once
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace poslab {

struct Interval {
  double low = std::nan(""), high = std::nan("");
  bool excludes(double x) const { return x < low || x > high; }  // of NaNs: false
};

double mean(const std::vector<double>&);         // NaN of none
Interval bootstrap(const std::vector<double>&);  // of the mean; NaN of fewer than two
double median(std::vector<double>);              // NaN of none

// In how many of 100 cells such an interval of n values excludes zero though they are normal with mean zero.
int excluded_by_luck(int n);
std::string about_intervals(int seeds);  // their worth with so many: a sentence or two for a page

// first - second, over the seeds that both have.
struct Paired {
  int seeds = 0;
  double mean = std::nan("");
  Interval interval;
};
using BySeed = std::map<int64_t, double>;
Paired paired(const BySeed& first, const BySeed& second);

}  // namespace poslab
