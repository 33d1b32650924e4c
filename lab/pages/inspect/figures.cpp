#include "lab/pages/inspect/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace poslab::inspect {
namespace {

using nlohmann::json;
using page::Chart, page::Curve, page::Point, page::literal, page::percent;

constexpr size_t max_dots = 1000;    // of a cloud
constexpr int max_cells = 500;       // cells on a side of an attention map
constexpr int max_head_cells = 100;  // smaller for maps of one head, because there are many

// The digits that a picture can show.
double rounded(double v) { return std::round(v * 1e4) / 1e4; }

// [x, y, x, y, ...] of at most max_dots points.
json dots(const std::vector<double>& at) {
  const size_t all = at.size() / 2, kept = std::min(all, max_dots);
  json places = json::array();
  for (size_t k = 0; k < kept; ++k) {
    const size_t n = k * all / kept;
    places.push_back(rounded(at[2 * n])), places.push_back(rounded(at[2 * n + 1]));
  }
  return places;
}

json card(const Pca& p, size_t layer) {
  const auto& [map, clouds] = p.layers[layer];
  std::string outside;
  json drawn = json::array();
  for (size_t n = 0; n < clouds.size(); ++n)
    drawn.push_back({{"color", page::color_class(int(n))}, {"at", dots(clouds[n].at)}});
  for (size_t n = 1; n < clouds.size(); ++n)
    outside +=
        fmt::format("{} of length {}{} ", percent(clouds[n].outside), p.lengths[n], n + 1 < clouds.size() ? "," : "");
  outside += fmt::format("({} of length {}).", percent(clouds[0].outside), p.lengths[0]);
  const std::string label = fmt::format("Layer {}", layer + 1);
  return {{"label", label},
          {"text",
           fmt::format("{}: {} of the variance. Outside: {}", label, percent(map.share[0] + map.share[1]), outside)},
          {"clouds", drawn}};
}

// The share of the slots or pairs at each whole number, as means over bins, with a zero at both ends. Different slots
// never have distance 0, so a line has no point there; an area ends there.
std::vector<Point> density(const Histogram& counts, int bin, bool distances, bool area) {
  if (counts.empty()) return {};
  std::map<int, double> bins;
  double all = 0;
  for (const auto& [value, n] : counts) all += double(n);
  const auto floor = [bin](int v) { return (v >= 0 ? v : v - bin + 1) / bin; };
  for (const auto& [value, n] : counts) bins[floor(value)] += double(n) / all;
  std::vector<Point> points;
  const int low = bins.begin()->first - 1, high = bins.rbegin()->first + 1;
  for (int b = low; b <= high; ++b)
    if (const int values = bin - (distances && b == 0); values || (area && b == high))
      points.push_back({b * bin + (bin - 1) / 2., bins.count(b) ? bins.at(b) / values : 0.});
  return points;
}

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

json pca_figure(const Pca& p, const std::string& name) {
  json legend = json::array(), cards = json::array();
  std::string drawn;
  for (size_t n = 0; n < p.lengths.size(); ++n) {
    const size_t points = p.layers[0].clouds[n].at.size() / 2;
    legend.push_back({{"text", fmt::format("length {}: {} right", p.lengths[n], percent(p.accuracy[n]))},
                      {"color", page::color_class(int(n))}});
    if (points > max_dots)
      drawn += fmt::format(" {} of the {} dots of length {} are drawn.", max_dots, points, p.lengths[n]);
  }
  for (size_t layer = 0; layer < p.layers.size(); ++layer) cards.push_back(card(p, layer));
  const std::string caption = fmt::format(
      "**{}.** The output of each layer at {}, in the plane of the two principal components of length {}, not "
      "whitened. *Outside*: dots in squares without a dot of length {}; a square's side is 1/20 of that cloud's longer "
      "side. In brackets the same for {} other strings of that length.{}",
      literal(name),
      p.last ? fmt::format("the last {} tokens of {} texts, one dot per token", p.last, p.samples)
             : fmt::format("the answer slots of {} strings, one dot per slot", p.samples),
      p.lengths[0], p.lengths[0], p.samples, drawn);
  return {{"kind", "clouds"}, {"legend", legend}, {"cards", cards}, {"caption", caption}};
}

json attention_figure(const std::vector<AttentionMaps>& all, const std::string& name, const std::string& id) {
  json maps = json::array();
  const auto map = [](const float* a, int T, int most) {
    const int block = (T + most - 1) / most, cells = (T + block - 1) / block;
    const std::vector<double> m = in_blocks(a, T, T, block);
    return json{{"block", block}, {"matrix", matrix_json(cells, cells, m, 0, *std::max_element(m.begin(), m.end()))}};
  };
  for (size_t layer = 0; layer < all[0].layers.size(); ++layer)
    for (const AttentionMaps& at : all) {
      const size_t one = at.layers[layer].size(), all_heads = at.heads[layer].size();
      json heads = json::array();
      for (size_t from = 0; from < all_heads; from += one)
        heads.push_back(map(at.heads[layer].data() + from, at.slots, max_head_cells));
      maps.push_back({{"title", fmt::format("Layer {}, length {}", layer + 1, at.length)},
                      {"layer", layer + 1},
                      {"slots", at.slots},
                      {"part", at.outputs ? at.slots - at.outputs : 0},
                      {"symbols", at.symbols},
                      {"max", map(at.layers[layer].data(), at.slots, max_cells)},
                      {"heads", heads}});
    }
  const std::string caption = fmt::format(
      "**{}.** Attention weights of one {}: the maximum over the heads, or one head. Each map has its own scale.",
      literal(name), all[0].symbols.empty() ? "test string" : "text");
  return {{"kind", "maps"}, {"id", id}, {"title", name}, {"maps", maps}, {"caption", caption}};
}

// Training as an area, tests as lines.
json coverage_figure(const Coverage& c, const std::string& name, const std::string& id) {
  if (c.counted == Reads::nothing)
    return fmt::format("**{}.** This scheme reads no positions, so there is nothing to count.", literal(name));
  const bool distances = c.counted == Reads::distances;
  std::vector<std::pair<std::string, const Histogram*>> all = {{"training", &c.trained}};
  std::string shares;
  for (const Coverage::Test& t : c.tests) {
    all.emplace_back(fmt::format("length {}", t.length), &t.met);
    shares += fmt::format("{}{} at length {}", shares.empty() ? "" : ", ", percent(t.seen), t.length);
  }
  int low = 0, high = 1;
  for (const auto& [label, counts] : all)
    if (!counts->empty()) low = std::min(low, counts->begin()->first), high = std::max(high, counts->rbegin()->first);
  const int bin = (high - low) / 480 * 2 + 1;  // values per point of the chart; odd, so that one is in the middle
  Chart chart{.id = id,
              .title = "Seen in training and at test, " + name,
              .x_label = distances ? "distance: position of the key minus that of the query" : "position",
              .y_label = distances ? "share of pairs" : "share of slots"};
  chart.unit = distances ? "distance" : "position";
  for (const auto& [label, counts] : all) {
    const bool area = counts == &c.trained;
    const int color = area ? Curve::baseline : int(chart.curves.size()) - 1;
    chart.curves.push_back({label, color, density(*counts, bin, distances, area), {}, area});
  }
  page::fit(chart, .05, 0);
  chart.x_low = std::min(0., chart.x_low), chart.x_high = std::max(1., chart.x_high);
  chart.caption = fmt::format(
      "**{}.** {} in training (grey; {} of its steps are counted) and in a test, as a share of all {} "
      "for each whole number{}{}. Seen in training: {} of the {}.",
      literal(name), distances ? "Distances" : "Positions", c.steps, distances ? "pairs of slots" : "slots",
      c.rounded ? " (values are rounded to whole numbers)" : "",
      bin > 1 ? fmt::format(", means over {} of them", bin) : "", shares, distances ? "pairs" : "slots");
  return page::chart_json(chart);
}

json dispersion_figures(const Dispersed& d, const Biases& b, const std::string& name, const std::string& id) {
  json all = json::array();
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
  sorted.x_label = "normal quantile, in standard deviations of each curve", sorted.y_label = "logit minus the mean";
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
      fmt::format("The terms that positions alone add to the logits of query {} in layer 1. Without content, minus "
                  "the mean over the keys{}.",
                  b.query, b.heads > most ? fmt::format(": {} of {} heads", most, b.heads) : ""));
  return all;
}

}  // namespace poslab::inspect
