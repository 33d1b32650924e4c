// Sentences that the artifacts of all sources share: how many runs, which intervals; and a chart as a picture.
#pragma once
#include "lab/pages/page/chart.h"
#include "lab/papers/artifact.h"
#include "lab/papers/pivot.h"

namespace poslab::reproduce {

std::string interval_text(const Interval&, bool sign);  // "[81.2, 90.0]" in points; "" of NaNs
// "+3.1 [+1.0, +5.2]", and "+3.1" where the interval is NaNs; `unit` stands between: " points".
std::string ahead_text(double, const Interval&, const std::string& unit = "");
nlohmann::json number(double x);  // null for NaN
// The worth of intervals with so many seeds, and with a learning rate that is chosen on what is tested.
std::string about_intervals(const Outcomes&);
std::string how_many(const Outcomes&);  // "3 seeds, learning rate 0.0003; 3000 steps of 32 strings to length 20, ..."
Picture picture(const page::Chart&, const std::string& caption);  // caption: HTML

// An empty chart, whose y begins and ends at 0.
page::Chart chart_of(const std::string& id, const std::string& title, const std::string& x_label,
                     const std::string& y_label, double x_low, double x_high);

std::vector<double> values(const BySeed&);
double mean(const BySeed&);
BySeed difference(const BySeed&, const BySeed&);  // of the seeds that both have

}  // namespace poslab::reproduce
