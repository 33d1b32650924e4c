#include "lab/pages/inspect/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/pages/page/page.h"

namespace poslab::inspect {
namespace {

using nlohmann::json;
using page::literal, page::percent;

constexpr size_t max_dots = 1000;    // of a cloud
constexpr int max_cells = 500;       // cells on a side of an attention map
constexpr int max_head_cells = 100;  // smaller for one head's map, as there are many

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

// Shares of the slots or pairs for each whole number, as the means over bins, with a zero at both ends. At distance 0,
// which no pair of two slots has, only an area has a point, its end.
std::vector<page::Point> density(const Histogram& counts, int bin, bool distances, bool area) {
  if (counts.empty()) return {};
  std::map<int, double> bins;
  double all = 0;
  for (const auto& [value, n] : counts) all += double(n);
  const auto floor = [bin](int v) { return (v >= 0 ? v : v - bin + 1) / bin; };
  for (const auto& [value, n] : counts) bins[floor(value)] += double(n) / all;
  std::vector<page::Point> points;
  const int low = bins.begin()->first - 1, high = bins.rbegin()->first + 1;
  for (int b = low; b <= high; ++b)
    if (const int values = bin - (distances && b == 0); values || (area && b == high))
      points.push_back({b * bin + (bin - 1) / 2., bins.count(b) ? bins.at(b) / values : 0.});
  return points;
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
      "whitened. *Outside*: dots in squares of the plane, of 1/20 of the longer side of the cloud of length {}, in "
      "which that cloud has none; in brackets the same of {} other strings of that length.{}",
      literal(name),
      p.last ? fmt::format("the last {} tokens of {} texts, a dot a token", p.last, p.samples)
             : fmt::format("the answer slots of {} strings, a dot a slot", p.samples),
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

namespace {

std::vector<std::pair<std::string, const Histogram*>> histograms(const Coverage& c) {
  std::vector<std::pair<std::string, const Histogram*>> all = {{"training", &c.trained}};
  for (const Coverage::Test& test : c.tests) all.emplace_back(fmt::format("length {}", test.length), &test.met);
  return all;
}

// The number of values in a point of the chart. Odd, so that its middle is a value.
int bin_of(const Coverage& c) {
  int low = 0, high = 1;
  for (const auto& [label, counts] : histograms(c))
    if (!counts->empty()) low = std::min(low, counts->begin()->first), high = std::max(high, counts->rbegin()->first);
  return (high - low) / 480 * 2 + 1;
}

}  // namespace

page::Chart coverage_chart(const Coverage& c, const std::string& name, const std::string& id) {
  const bool distances = c.counted == Reads::distances;
  page::Chart chart{id,
                    "Seen in training and at test, " + name,
                    distances ? "distance: position of the key minus that of the query" : "position",
                    distances ? "share of pairs" : "share of slots",
                    0,
                    1,
                    0,
                    0};
  chart.unit = distances ? "distance" : "position";
  const auto all = histograms(c);
  const int bin = bin_of(c);
  for (size_t n = 0; n < all.size(); ++n) {
    const auto& [label, counts] = all[n];
    chart.curves.push_back(
        {label, n ? int(n) - 1 : page::Curve::baseline, density(*counts, bin, distances, n == 0), {}, n == 0});
    for (const page::Point p : chart.curves.back().points) {
      chart.x_low = std::min(chart.x_low, p.x), chart.x_high = std::max(chart.x_high, p.x);
      chart.y_high = std::max(chart.y_high, p.y * 1.05);
    }
  }
  return chart;
}

json coverage_figure(const Coverage& c, const std::string& name, const std::string& id) {
  if (c.counted == Reads::nothing)
    return fmt::format("**{}.** This scheme reads no positions, so there is nothing to count.", literal(name));
  const bool distances = c.counted == Reads::distances;
  page::Chart chart = coverage_chart(c, name, id);
  const int bin = bin_of(c);
  std::string shares;
  for (const Coverage::Test& t : c.tests)
    shares += fmt::format("{}{} at length {}", shares.empty() ? "" : ", ", percent(t.seen), t.length);
  chart.caption = fmt::format(
      "**{}.** {} in training (grey; {} of its steps are counted) and in a test, as a share of all {} "
      "for each whole number{}{}. Seen in training: {} of the {}.",
      literal(name), distances ? "Distances" : "Positions", c.steps, distances ? "pairs of slots" : "slots",
      c.rounded ? ", to the nearest of which they are rounded" : "",
      bin > 1 ? fmt::format(", means over {} of them", bin) : "", shares, distances ? "pairs" : "slots");
  return page::chart_json(chart);
}

}  // namespace poslab::inspect
