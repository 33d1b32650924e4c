#include "lab/pages/inspect/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/pages/page/page.h"

namespace poslab::inspect {
namespace {

using nlohmann::json;
using page::percent;

constexpr size_t max_dots = 1000;    // of a cloud
constexpr int max_cells = 500;       // of an attention map, on a side
constexpr int max_head_cells = 100;  // of one head's: there are many
constexpr double side = 240;         // of a cloud's picture

// Values to places, alike on both axes, so that distances in the picture are those in the plane.
struct View {
  double x, y, scale;  // the value in the middle, and units of the picture for one of the plane
  explicit View(const std::vector<Cloud>& clouds) {
    double low[2] = {0, 0}, high[2] = {0, 0};
    for (const Cloud& cloud : clouds)
      for (size_t n = 0; n < cloud.at.size(); ++n) {
        low[n % 2] = std::min(low[n % 2], cloud.at[n]), high[n % 2] = std::max(high[n % 2], cloud.at[n]);
      }
    x = (low[0] + high[0]) / 2, y = (low[1] + high[1]) / 2;
    scale = (side - 12) / std::max({high[0] - low[0], high[1] - low[1], 1e-12});
  }
  double right(double v) const { return side / 2 + (v - x) * scale; }
  double down(double v) const { return side / 2 - (v - y) * scale; }
};

// One path for all dots: strokes of no length, which round caps make visible.
std::string dots(const View& view, const std::vector<double>& at, int color) {
  const size_t all = at.size() / 2, kept = std::min(all, max_dots);
  std::string d;
  for (size_t k = 0; k < kept; ++k) {
    const size_t n = k * all / kept;
    d += fmt::format("M{:.1f} {:.1f}h0", view.right(at[2 * n]), view.down(at[2 * n + 1]));
  }
  return fmt::format("<path class=\"dots {}\" d=\"{}\"/>", page::color_class(color), d);
}

std::string card(const Pca& p, size_t layer) {
  const auto& [map, clouds] = p.layers[layer];
  const View view(clouds);
  std::string marks, outside;
  for (size_t n = clouds.size(); n-- > 0;) marks += dots(view, clouds[n].at, int(n));
  for (size_t n = 1; n < clouds.size(); ++n)
    outside +=
        fmt::format("{} of length {}{} ", percent(clouds[n].outside), p.lengths[n], n + 1 < clouds.size() ? "," : "");
  outside += fmt::format("({} of length {}).", percent(clouds[0].outside), p.lengths[0]);
  return fmt::format(
      "<div class=\"card\"><svg class=\"cloud\" viewBox=\"0 0 {0} {0}\" role=\"img\" aria-label=\"Layer {1}\">"
      "<rect class=\"frame\" width=\"{0}\" height=\"{0}\"/>{2}</svg>"
      "<p class=\"said\">Layer {1}: {3} of the variance. Outside: {4}</p></div>\n",
      side, layer + 1, marks, percent(map.share[0] + map.share[1]), outside);
}

// Shares of the slots or pairs for each whole number, as the means over bins, with a zero at both ends. At distance 0,
// where there is no pair of two slots, only an area that ends there has one.
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

std::string pca_figure(const Pca& p, const std::string& name) {
  std::string legend, cards, drawn;
  for (size_t n = 0; n < p.lengths.size(); ++n) {
    const size_t points = p.layers[0].clouds[n].at.size() / 2;
    legend += fmt::format("<li><i class=\"mark {}\" aria-hidden=\"true\"></i><span>length {}: {} right</span></li>",
                          page::color_class(int(n)), p.lengths[n], percent(p.accuracy[n]));
    if (points > max_dots)
      drawn += fmt::format(" {} of the {} dots of length {} are drawn.", max_dots, points, p.lengths[n]);
  }
  for (size_t layer = 0; layer < p.layers.size(); ++layer) cards += card(p, layer);
  return fmt::format(
      "<figure><ul class=\"legend\">{}</ul><div class=\"small grid\">{}</div><figcaption><b>{}.</b> What leaves each "
      "layer at {}, in the plane of the two principal components of length "
      "{}, not whitened. <i>Outside</i>: dots in squares of the plane, of 1/20 of the longer side of the cloud of "
      "length {}, in which that cloud has none; in brackets the same of {} other strings of that length.{}"
      "</figcaption></figure>\n",
      legend, cards, page::escape(name),
      p.last ? fmt::format("the last {} tokens of {} texts, a dot a token", p.last, p.samples)
             : fmt::format("the answer slots of {} strings, a dot a slot", p.samples),
      p.lengths[0], p.lengths[0], p.samples, drawn);
}

std::string attention_figure(const std::vector<AttentionMaps>& all, const std::string& name, const std::string& id,
                             json& data) {
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
  data["maps"][id] = {{"label", name}, {"maps", maps}};
  return fmt::format(
      "<figure><div data-maps=\"{}\"></div><figcaption><b>{}.</b> Attention weights of one {}: the maximum over the "
      "heads, or one head. Each map has its own scale.</figcaption></figure>\n",
      page::escape(id), page::escape(name), all[0].symbols.empty() ? "test string" : "text");
}

namespace {

std::vector<std::pair<std::string, const Histogram*>> histograms(const Coverage& c) {
  std::vector<std::pair<std::string, const Histogram*>> all = {{"training", &c.trained}};
  for (const Coverage::Test& test : c.tests) all.emplace_back(fmt::format("length {}", test.length), &test.met);
  return all;
}

// How many values are one point of the chart. Odd, so that its middle is a value.
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
                    "Met in training and at test, " + name,
                    "",
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
    if (n == 0) continue;
    chart.description += fmt::format("{}: {} to {}. ", label, counts->begin()->first, counts->rbegin()->first);
  }
  return chart;
}

std::string coverage_figure(const Coverage& c, const std::string& name, const std::string& id, json& data) {
  if (c.counted == Reads::nothing)
    return fmt::format(
        "<figure><figcaption><b>{}.</b> This scheme says nothing about positions, so there is nothing to meet."
        "</figcaption></figure>\n",
        page::escape(name));
  const bool distances = c.counted == Reads::distances;
  const page::Chart chart = coverage_chart(c, name, id);
  const int bin = bin_of(c);
  std::string shares;
  for (const Coverage::Test& t : c.tests)
    shares += fmt::format("{}{} at length {}", shares.empty() ? "" : ", ", percent(t.seen), t.length);
  data["charts"].push_back(page::chart_json(chart));
  return fmt::format(
      "<figure>{}<figcaption><b>{}.</b> {} that training met (grey; {} of its steps are counted) and that a test "
      "meets, as a share of all {} for each whole number{}{}. Training had met {} of the {}.</figcaption></figure>\n",
      page::figure(chart), page::escape(name), distances ? "Distances" : "Positions", c.steps,
      distances ? "pairs of slots" : "slots", c.rounded ? ", to the nearest of which they are rounded" : "",
      bin > 1 ? fmt::format(", means over {} of them", bin) : "", shares, distances ? "pairs" : "slots");
}

}  // namespace poslab::inspect
