// A scheme's effect on pairs of slots: the relative position, the bias or rotation, and both by distance.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.h"
#include "encodings/picture.h"
#include "lab/pages/show/views.h"

namespace poslab::show {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

// The difference of two matrices head by head. A matrix that all heads share is compared with each head of the other.
void add_difference(View& view) {
  if (view.matrices.size() != 2) return;
  const auto &a = view.matrices[0].heads, &b = view.matrices[1].heads;
  if (a.size() != 1 && b.size() != 1 && a.size() != b.size()) return;
  Matrix d{"difference", view.matrices[0].rows, view.matrices[0].cols, {}};
  for (size_t h = 0; h < std::max(a.size(), b.size()); ++h) {
    d.heads.push_back(a[a.size() == 1 ? 0 : h]);
    const std::vector<double>& other = b[b.size() == 1 ? 0 : h];
    for (size_t n = 0; n < other.size(); ++n) d.heads.back()[n] -= other[n];
  }
  view.matrices.push_back(std::move(d));
}

// The quantity in each scheme's matrix.
std::vector<Quantity> quantities(const Subject& s) {
  std::vector<Quantity> all;
  for (const Shown& shown : s.shown) all.push_back(quantity_of(*shown.layers, s.shape, s.layer));
  return all;
}

Matrix matrix_of(const std::string& of, const Tensor& m, bool causal) {
  const int heads = m.dim(0), T = m.dim(1);
  Matrix made{of, T, T, {}};
  const std::vector<real> values = m.values();
  for (int h = 0; h < heads; ++h) {
    made.heads.emplace_back(values.begin() + int64_t(h) * T * T, values.begin() + int64_t(h + 1) * T * T);
    for (int i = 0; i < T; ++i)
      for (int j = 0; j < T; ++j) {
        double& cell = made.heads.back()[size_t(i) * size_t(T) + size_t(j)];
        if ((causal && j > i) || !std::isfinite(cell)) cell = nothing;
      }
  }
  const auto alike = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  const auto as_first = [&](const auto& head) {
    return std::equal(head.begin(), head.end(), made.heads[0].begin(), alike);
  };
  if (std::all_of(made.heads.begin(), made.heads.end(), as_first)) made.heads.resize(1);
  return made;
}

// The mean of a matrix over pairs with key - query = d                                              x: d, y: the mean
std::vector<page::Point> by_distance(const std::vector<double>& cells, int T) {
  std::vector<page::Point> mean;
  for (int d = 1 - T; d < T; ++d) {
    double sum = 0;
    int pairs = 0;
    for (int i = std::max(0, -d); i < std::min(T, T - d); ++i) {
      const double cell = cells[size_t(i) * size_t(T) + size_t(i + d)];
      if (std::isfinite(cell)) sum += cell, ++pairs;
    }
    if (pairs) mean.push_back({double(d), sum / pairs});
  }
  return mean;
}

// The relative positions of all pairs; empty if no pair has one.
std::optional<Matrix> relative_positions(const Shown& shown, const Subject& s) {
  if (!shown.scheme->pages.pictures.distances) return {};
  const Tensor d = shown.scheme->pages.pictures.distances(s.shape, shown.scheme.choices, s.positions(shown));
  const Tensor of_heads = d.dims() == 3 ? d : d.reshape({1, s.slots, s.slots});
  Matrix m = matrix_of(shown.scheme.spelled(), of_heads, s.shape.causal);
  for (const std::vector<double>& head : m.heads)
    if (std::any_of(head.begin(), head.end(), [](double v) { return std::isfinite(v); })) return m;
  return {};
}

struct RotaryHeads {
  std::string name;  // "rope", or "none*4+rope*4, heads 5 to 8"
  std::vector<double> frequencies;
  int head;  // the first of them, from 0
};
// Neighbouring heads with the same frequencies share an entry.
std::vector<RotaryHeads> rotary_heads(const Shown& shown, const Subject& s) {
  std::vector<RotaryHeads> all;
  std::vector<int> last;  // head of each, from 1
  for (int h = 0; h < s.shape.heads; ++h) {
    std::vector<double> f = shown.scheme->pages.pictures.frequencies(s.shape, shown.scheme.choices, s.slots, h);
    const bool another = all.empty() || all.back().frequencies != f;
    if (another) all.push_back({shown.scheme.spelled(), std::move(f), h}), last.push_back(0);
    last.back() = h + 1;
  }
  for (size_t n = 0; n < all.size() && all.size() > 1; ++n) {
    const int first = n ? last[n - 1] + 1 : 1;
    all[n].name += first == last[n] ? fmt::format(", head {}", first) : fmt::format(", heads {} to {}", first, last[n]);
  }
  return all;
}

}  // namespace

page::Grid table_of(const std::string& caption, const std::string& x, const std::vector<page::Curve>& curves,
                    const std::vector<double>& at, const std::function<std::string(double)>& written) {
  page::Grid made{caption, {x}, {}};
  for (const page::Curve& curve : curves) made.head.push_back(curve.name);
  for (const double place : at) {
    std::vector<std::string> row = {fmt::format("{}", place)};
    bool seen = false;  // a distance with all pairs masked has no point
    for (const page::Curve& curve : curves) {
      const auto found = std::ranges::find(curve.points, place, &page::Point::x);
      seen = seen || found != curve.points.end();
      row.push_back(found == curve.points.end() ? "–" : written(found->y));
    }
    if (seen) made.rows.push_back(std::move(row));
  }
  return made;
}

std::optional<View> relative_view(const Subject& s) {
  View view{.name = "relative",
            .title = "Relative position of each pair",
            .reading =
                "The scheme's distance for a query (row) and a key (column), key minus query: a "
                "key on the left has a negative one. In plain RoPE it counts slots; schemes that stretch or "
                "clip it show that here."};
  view.one_scale = true;
  for (const Shown& shown : s.shown)
    if (std::optional<Matrix> m = relative_positions(shown, s)) view.matrices.push_back(std::move(*m));
  if (view.matrices.empty()) return {};
  if (s.shown.size() == 2) add_difference(view);
  return view;
}

std::optional<View> bias_view(const Subject& s) {
  View view{.name = "bias", .title = "The scheme's value for each pair"};
  for (const Shown& shown : s.shown) {
    const std::vector<Tensor> layers = position_matrices(*shown.layers, s.shape, *shown.sample);
    const Tensor& m = layers[std::min(layers.size() - 1, size_t(s.layer))];
    view.matrices.push_back(matrix_of(shown.scheme.spelled(), m, s.shape.causal));
    view.reading +=
        fmt::format("{}{}{}", view.reading.empty() ? "" : " ", s.shown.size() > 1 ? shown.scheme.spelled() + ": " : "",
                    shown.scheme->pages.shows(s.shape, shown.scheme.choices));
  }
  const std::vector<Quantity> of = quantities(s);
  if (of.size() != 2) return view;
  if (of[0] == of[1] && of[0] != Quantity::several)
    add_difference(view);
  else
    view.reading += fmt::format(" No difference is drawn: {} shows {}, and {} shows {}.", s.shown[0].scheme.spelled(),
                                words(of[0]), s.shown[1].scheme.spelled(), words(of[1]));
  return view;
}

std::optional<View> similarity_view(const Subject& s) {
  const View bias = *bias_view(s);
  View view{.name = "similarity",
            .title = "The same by distance",
            .reading = "The mean over all pairs of slots at a distance."};
  const std::vector<Quantity> of = quantities(s);
  std::vector<page::Curve> curves;
  for (size_t n = 0; n < s.shown.size(); ++n) {
    const Matrix& m = bias.matrices[n];
    const std::string name = words(of[n]);  // an axis has one quantity
    if (view.charts.empty() || view.charts.back().y_label != name) {
      const std::string id = fmt::format("similarity{}", n);
      view.charts.push_back({id, view.title, "distance: key slot - query slot", name, 0, 1, 0, 1});
      view.charts.back().unit = "distance";
    }
    for (size_t h = 0; h < m.heads.size(); ++h) {
      curves.push_back({m.heads.size() > 1 ? fmt::format("{}, head {}", m.of, h + 1) : m.of, int(curves.size()),
                        by_distance(m.heads[h], m.rows)});
      view.charts.back().curves.push_back(curves.back());
    }
  }
  for (page::Chart& c : view.charts) page::fit(c, .05);
  std::vector<double> distances;  // 0, 1, 2, 4, 8, ... in both directions
  for (int d = 1 - s.slots; d < s.slots; ++d)
    if (const int size = std::abs(d); (size & (size - 1)) == 0) distances.push_back(d);
  view.table = table_of("the mean of the scheme's values at a distance", "distance", curves, distances,
                        [](double mean) { return fmt::format("{:.4g}", mean); });
  return view;
}

std::optional<View> frequencies_view(const Subject& s) {
  View view{.name = "frequencies",
            .title = "Wavelengths",
            .reading = fmt::format("How many positions a pair of channels takes for a full turn. Pairs above the "
                                   "dashed line do not finish a turn in the {} slots of training. A pair that never "
                                   "turns is left out.",
                                   s.train_length)};
  page::Chart c{"frequencies", view.title, "pair of channels", "positions for a turn", 1, 1, 0, 1, false, true};
  c.unit = "pair";
  view.table = {"frequency, wavelength and turns within the training length",
                {"scheme, pair", "radians a position", "wavelength", "turns in training"},
                {}};
  for (const Shown& shown : s.shown) {
    if (!shown.scheme->pages.pictures.frequencies) continue;
    for (const auto& [name, f, head] : rotary_heads(shown, s)) {
      page::Curve curve{name, int(c.curves.size()), {}};
      for (size_t m = 0; m < f.size(); ++m) {
        const double wavelength = 2 * std::numbers::pi / std::abs(f[m]);
        if (f[m] != 0) curve.points.push_back({double(m + 1), wavelength});
        view.table.rows.push_back({fmt::format("{}, {}", name, m + 1), fmt::format("{:.6g}", f[m]),
                                   f[m] != 0 ? fmt::format("{:.6g}", wavelength) : "–",
                                   fmt::format("{:.3g}", std::abs(f[m]) * s.train_length / 2 / std::numbers::pi)});
      }
      if (!curve.points.empty()) c.curves.push_back(std::move(curve));
    }
  }
  if (c.curves.empty()) return {};
  page::fit(c, 0);
  c.curves.push_back({"training length",
                      page::Curve::baseline,
                      {{c.x_low, double(s.train_length)}, {c.x_high, double(s.train_length)}}});
  page::fit(c, 0);
  view.charts.push_back(std::move(c));
  return view;
}

namespace {

// The distances by which a pair is rotated, key minus query, from the last slot's query to keys 0, 1, 2, ... slots
// back. Divided frequencies, such as PI's, already contain the division of positions: if the scheme's distances are a
// multiple of the plain ones, the plain ones rotate the pairs.
std::vector<double> rotation_distances(const std::vector<double>& distances, const std::vector<double>& positions) {
  std::vector<double> relative, plain;
  for (size_t d = 0; d < positions.size(); ++d) {
    relative.push_back(distances[distances.size() - 1 - d]);
    plain.push_back(positions[positions.size() - 1 - d] - positions.back());
  }
  const double unit = positions.size() > 1 ? relative[1] / plain[1] : 1;
  for (size_t d = 0; d < plain.size(); ++d)
    if (!(std::abs(relative[d] - unit * plain[d]) <= 1e-5 * std::abs(unit * plain[d]))) return relative;  // or NaN
  return plain;
}

}  // namespace

std::optional<View> rotation_view(const Subject& s) {
  View view{.name = "rotation",
            .title = "Rotation by slots back",
            .reading =
                "The cosine of the angle between the query of the last slot and a key that many slots back, for "
                "each pair of channels. Where the scheme stops counting, its pairs stop turning."};
  constexpr int most = 256;  // slots back in the picture; clock hands go through all
  const int drawn = std::min(s.slots, most);
  if (drawn < s.slots) view.reading += fmt::format(" The first {} slots back are drawn.", drawn);
  view.row = "pair", view.col = "slots back", view.first_row = 1, view.one_scale = true;
  for (const Shown& shown : s.shown) {
    const std::optional<Matrix> of_pairs = relative_positions(shown, s);
    if (!shown.scheme->pages.pictures.frequencies || !of_pairs) continue;
    for (const auto& [name, f, head] : rotary_heads(shown, s)) {
      const std::vector<double>& of = of_pairs->heads[of_pairs->heads.size() == 1 ? 0 : size_t(head)];
      Hands hands{name, f, rotation_distances(of, s.positions(shown).tokens(name))};
      Matrix m{name, int(f.size()), drawn, {{}}};
      for (const double frequency : f)
        for (int d = 0; d < drawn; ++d) m.heads[0].push_back(std::cos(frequency * hands.relative[size_t(d)]));
      const auto masked = [](double d) { return std::isnan(d); };
      if (f.empty() || std::all_of(hands.relative.begin(), hands.relative.end(), masked)) continue;
      view.matrices.push_back(std::move(m)), view.hands.push_back(std::move(hands));
    }
  }
  if (view.matrices.empty()) return {};
  return view;
}

}  // namespace poslab::show
