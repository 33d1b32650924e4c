// How dispersed attention is, as charts: largest weights, entropy and largest logits against length, the sorted logits
// of layer 1 against the normal distribution, and a scheme's addition to the logits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/pages/inspect/figures.h"
#include "lab/pages/page/page.h"

namespace poslab::inspect {
namespace {

using page::Chart, page::Curve, page::Point;

// A curve for each layer, and faint ones for its heads.
Chart against_length(const Dispersed& d, const char* label, double RowMeans::*figure) {
  Chart c{};
  c.x_label = "length", c.y_label = label, c.doubling = d.lengths.size() > 1;
  for (int layer = 0; layer < d.at[0].layers; ++layer) {
    Curve curve{fmt::format("layer {}", layer + 1), layer, {}, {}};
    for (int head = 0; head < d.at[0].heads; ++head) {
      for (size_t n = 0; n < d.lengths.size(); ++n)
        curve.behind.push_back({double(d.lengths[n]), d.at[n].of(layer, head).*figure});
      curve.behind.push_back({double(d.lengths.back()), std::nan("")});
    }
    for (size_t n = 0; n < d.lengths.size(); ++n)
      curve.points.push_back({double(d.lengths[n]), d.at[n].of_layer(layer).*figure});
    c.curves.push_back(curve);
  }
  return c;
}

}  // namespace

page::json dispersion_figures(const Dispersed& d, const Biases& b, const std::string& name, const std::string& id) {
  page::json all = page::json::array();
  const auto add = [&](Chart c, const char* what, const std::string& said) {
    c.id = fmt::format("{}{}", what, id), c.title = fmt::format("{}, {}", said.substr(0, said.find('.')), name);
    c.caption = fmt::format("**{}.** {}", page::literal(name), said);
    page::fit(c, .04);
    all.push_back(page::chart_json(c));
  };
  add(against_length(d, "largest weight", &RowMeans::largest_weight), "weight",
      "The largest weight of a row of attention. The mean over rows of each layer; faint: each head.");
  Chart entropy = against_length(d, "entropy in nats", &RowMeans::entropy);
  Curve even{"all keys alike", Curve::baseline, {}, {}};
  for (size_t n = 0; n < d.lengths.size(); ++n)
    even.points.push_back({double(d.lengths[n]), std::log(double(d.at[n].keys))});
  entropy.curves.push_back(even);
  add(entropy, "entropy", "The entropy of a row. Grey: if all keys had the same weight.");
  if (d.sorted.empty()) return all;
  add(against_length(d, "logit", &RowMeans::largest_logit), "logit",
      "The largest logit of a row. Attention disperses where it stays the same while the number of keys grows.");
  Chart sorted{};
  sorted.x_label = "normal quantile, in standard deviations of each curve", sorted.y_label = "logit less the mean";
  sorted.unit = "quantile";
  std::string deviations;
  for (size_t n = 0; n < d.sorted.size(); ++n) {
    double squares = 0;
    const size_t points = d.sorted[n].size();
    for (const double x : d.sorted[n]) squares += x * x / double(points);
    Curve curve{fmt::format("length {}", d.shown[n]), int(n), {}, {}},
        line{fmt::format("normal, {}", d.shown[n]), Curve::baseline, {}, {}};
    for (size_t k = 0; k < points; ++k) {
      const double z = normal_quantile((double(k) + 0.5) / double(points));
      curve.points.push_back({z, d.sorted[n][k]}), line.points.push_back({z, z * std::sqrt(squares)});
    }
    sorted.curves.push_back(curve), sorted.curves.push_back(line);
    deviations += fmt::format("{}{:.3g} at length {}", n ? ", " : "", std::sqrt(squares), d.shown[n]);
  }
  add(sorted, "sorted",
      fmt::format(
          "Sorted logits of layer 1 against the normal distribution. Means over rows and heads; straight lines, "
          "dashed, are normal. Standard deviations: {}.",
          deviations));
  if (b.of.empty()) return all;
  Chart bias{};
  bias.x_label = "key slot", bias.y_label = "added to the logit", bias.unit = "key";
  constexpr int most = 8;
  for (int h = 0; h < std::min(b.heads, most); ++h) {
    Curve curve{fmt::format("head {}", h + 1), h, {}, {}};
    for (int j = 0; j < b.keys; ++j) curve.points.push_back({double(j), b.of[size_t(h * b.keys + j)]});
    bias.curves.push_back(curve);
  }
  add(bias, "bias",
      fmt::format("What positions alone add to the logits of query {} in layer 1. Without content, minus the mean over "
                  "the keys{}.",
                  b.query, b.heads > most ? fmt::format(": {} of {} heads", most, b.heads) : ""));
  return all;
}

}  // namespace poslab::inspect
