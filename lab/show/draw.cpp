// Matrices as text, numbers and SVG.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "lab/show/show.h"

namespace poslab::show {
namespace {

struct Reach {
  double low, high;
  bool two_sided() const { return low < 0 && high > 0; }
  // from 0 to 1; of a two-sided matrix 0 is in the middle
  double share(double v) const {
    if (two_sided()) return (v / std::max(-low, high) + 1) / 2;
    return high > low ? (v - low) / (high - low) : 0;
  }
};

Reach reach(const std::vector<double>& cells) {
  Reach r{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const double v : cells)
    if (std::isfinite(v)) r.low = std::min(r.low, v), r.high = std::max(r.high, v);
  if (r.low > r.high) return {0, 0};
  const double rounding = 1e-6 * std::max(-r.low, r.high);   // left over where numbers cancel
  for (double* end : {&r.low, &r.high})
    if (std::abs(*end) < rounding) *end = 0;
  return r;
}

const std::vector<double>& head_of(const Matrix& m, int head) {
  return m.heads[m.heads.size() == 1 ? 0 : size_t(std::min<int>(head - 1, int(m.heads.size()) - 1))];
}

// xterm's colours: one hue from dark to bright, and orange - grey - blue
constexpr std::array sequential = {17, 18, 19, 25, 31, 37, 73, 109, 145, 188, 231};
constexpr std::array diverging = {202, 208, 215, 222, 187, 240, 152, 117, 75, 33, 27};

std::string grid(const Matrix& m, const std::vector<double>& cells, int columns, bool colours, bool utf8) {
  const Reach r = reach(cells);
  const int wide = 2 * m.cols <= columns ? 2 : 1;
  std::vector<std::string> shades = {" ", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  if (utf8) shades = {" ", "░", "▒", "▓", "█"};
  std::string text;
  for (int i = 0; i < m.rows; ++i) {
    text += "  ";
    for (int j = 0; j < m.cols; ++j) {
      const double v = cells[size_t(i) * size_t(m.cols) + size_t(j)];
      if (!std::isfinite(v)) {
        text += std::string(size_t(wide), colours ? ' ' : '.');
        continue;
      }
      const double share = r.share(v);
      const auto step = [&](size_t n) { return std::min(n - 1, size_t(share * double(n))); };
      if (colours) {
        const int colour = r.two_sided() ? diverging[step(diverging.size())] : sequential[step(sequential.size())];
        text += fmt::format("\033[48;5;{}m{}\033[0m", colour, std::string(size_t(wide), ' '));
      } else {
        for (int n = 0; n < wide; ++n) text += shades[step(shades.size())];
      }
    }
    text += '\n';
  }
  return text;
}

// Stops of lab/page/page.css; a cell's class is one of 33 steps between them.
constexpr int steps = 33;
using Colours = std::vector<std::array<int, 3>>;
const Colours light_sequential = {{244, 247, 249}, {207, 225, 238}, {147, 193, 222}, {66, 146, 198}, {23, 94, 156},
                                  {8, 38, 79}},
              dark_sequential = {{27, 32, 37}, {23, 64, 95}, {31, 107, 160}, {79, 163, 216}, {165, 211, 242},
                                 {243, 250, 255}},
              light_diverging = {{122, 51, 0}, {213, 94, 0}, {243, 178, 127}, {244, 245, 246}, {143, 192, 223},
                                 {0, 114, 178}, {0, 58, 102}},
              dark_diverging = {{255, 201, 160}, {245, 139, 69}, {122, 67, 32}, {34, 39, 44}, {34, 80, 111},
                                {91, 177, 234}, {197, 229, 251}};

std::string classes(const char* name, const Colours& stops, const std::array<bool, steps>& used) {
  std::string css;
  for (int n = 0; n < steps; ++n) {
    const double at = double(n) / (steps - 1) * double(stops.size() - 1);
    const size_t low = std::min(size_t(at), stops.size() - 2);
    const auto mixed = [&](size_t k) {
      return int(std::lround(stops[low][k] + (at - double(low)) * (stops[low + 1][k] - stops[low][k])));
    };
    if (used[size_t(n)])
      css += fmt::format(".{}{}{{stroke:#{:02x}{:02x}{:02x}}}", name, n, mixed(0), mixed(1), mixed(2));
  }
  return css;
}

// Which steps occur, of matrices with values on one side of 0 and on both.
struct Used { std::array<bool, steps> sequential{}, diverging{}; };

// A path for each colour, with a line as wide as a row for each run of neighbours.
std::string lines(const Matrix& m, const std::vector<double>& cells, double side, Used& used) {
  const Reach r = reach(cells);
  const char* kind = r.two_sided() ? "d" : "s";
  const auto step = [&](int i, int j) {
    const double v = cells[size_t(i) * size_t(m.cols) + size_t(j)];
    if (!std::isfinite(v)) return -1;
    return r.high > r.low ? int(std::lround(r.share(v) * (steps - 1))) : steps / 2;   // unlike the paper
  };
  std::array<std::string, steps> runs;
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0, end; j < m.cols; j = end) {
      for (end = j + 1; end < m.cols && step(i, end) == step(i, j);) ++end;
      if (step(i, j) >= 0) runs[size_t(step(i, j))] += fmt::format("M{} {}h{}", j, i, end - j);
    }
  std::string shapes;
  for (int n = 0; n < steps; ++n)
    if (!runs[size_t(n)].empty()) {
      (r.two_sided() ? used.diverging : used.sequential)[size_t(n)] = true;
      shapes += fmt::format("<path class=\"{}{}\" d=\"{}\"/>", kind, n, runs[size_t(n)]);
    }
  return fmt::format("<g transform=\"scale({:.4g}) translate(0 .5)\">{}</g>", side, shapes);
}

}  // namespace

Matrix reduced(const Matrix& m, int most) {
  const int block = (std::max(m.rows, m.cols) + most - 1) / most;
  if (block <= 1) return m;
  Matrix small{m.of, (m.rows + block - 1) / block, (m.cols + block - 1) / block, {}};
  for (const std::vector<double>& cells : m.heads) {
    std::vector<double> sum(size_t(small.rows) * size_t(small.cols), 0.), count = sum;
    for (int i = 0; i < m.rows; ++i)
      for (int j = 0; j < m.cols; ++j) {
        const double v = cells[size_t(i) * size_t(m.cols) + size_t(j)];
        if (!std::isfinite(v)) continue;
        const size_t at = size_t(i / block) * size_t(small.cols) + size_t(j / block);
        sum[at] += v, ++count[at];
      }
    for (size_t n = 0; n < sum.size(); ++n)
      sum[n] = count[n] > 0 ? sum[n] / count[n] : std::numeric_limits<double>::quiet_NaN();
    small.heads.push_back(std::move(sum));
  }
  return small;
}

std::string text(const View& view, int head, int columns, bool colours, bool utf8) {
  std::string made = view.title + "\n" + view.reading + "\n";
  for (const Matrix& whole : view.matrices) {
    const Matrix m = reduced(whole, columns - 2);
    const std::vector<double>& cells = head_of(m, head);
    const Reach r = reach(head_of(whole, head));
    made += fmt::format("\n  {}{}: {} rows of {}, {} columns of {}{}; from {:.4g} to {:.4g}\n", m.of,
                        m.heads.size() > 1 ? fmt::format(", head {} of {}", std::min<int>(head, int(m.heads.size())),
                                                         m.heads.size()) : "",
                        whole.rows, view.row, whole.cols, view.col,
                        m.rows < whole.rows || m.cols < whole.cols ? ", a cell is the mean of several" : "", r.low,
                        r.high);
    made += grid(m, cells, columns - 2, colours, utf8);
  }
  if (!view.table.rows.empty()) made += "\n  " + view.table.caption + "\n" + page::markdown(view.table);
  return made;
}

std::string csv(const std::vector<View>& all) {
  std::string lines = "view,of,head,row,column,value\n";
  auto out = std::back_inserter(lines);
  const auto quoted = [](const std::string& text) {
    return text.find(',') == std::string::npos ? text : '"' + text + '"';
  };
  for (const View& view : all) {
    for (const Matrix& m : view.matrices)
      for (size_t h = 0; h < m.heads.size(); ++h)
        for (int i = 0; i < m.rows; ++i)
          for (int j = 0; j < m.cols; ++j) {
            const double v = m.heads[h][size_t(i) * size_t(m.cols) + size_t(j)];
            if (std::isfinite(v))
              fmt::format_to(out, "{},{},{},{},{},{:.9g}\n", view.name, quoted(m.of), h + 1, i, j, v);
          }
    for (const page::Chart& c : view.charts)
      for (const page::Curve& curve : c.curves)
        for (const page::Point& p : curve.points)
          fmt::format_to(out, "{},{},,,{:.9g},{:.9g}\n", view.name, quoted(curve.name), p.x, p.y);
  }
  return lines;
}

std::string svg(const std::vector<View>& all, int head) {
  std::vector<page::Chart> charts;
  std::vector<std::pair<const View*, Matrix>> matrices;
  for (const View& view : all) {
    charts.insert(charts.end(), view.charts.begin(), view.charts.end());
    for (const Matrix& m : view.matrices) matrices.emplace_back(&view, reduced(m, 128));
  }
  if (matrices.empty()) return page::svg_file(charts);
  if (!charts.empty())
    bad_input("an SVG holds matrices or curves, not both; choose one with --view, or write a page: -o NAME.html");
  constexpr double gap = 24, above = 44;
  std::string shapes;
  Used used;
  double x = gap, below = 0;
  for (const auto& [view, m] : matrices) {
    const double picture = std::clamp(12. * std::max(m.rows, m.cols), 192., 360.);
    const double side = picture / std::max(m.rows, m.cols);
    const std::vector<double>& cells = head_of(m, head);
    const Reach r = reach(cells);
    const std::string name = m.heads.size() > 1 ? fmt::format("{}, head {}", m.of, head) : m.of;
    const std::string what =
        fmt::format("{}: {} ↓ {} →, {:.4g} to {:.4g}", view->name, view->row, view->col, r.low, r.high);
    shapes += fmt::format("<g transform=\"translate({:.1f} {:.1f})\"><title>{}: {}</title><text y=\"-24\">{}</text>"
                          "<text class=\"small\" y=\"-8\">{}</text>{}</g>\n",
                          x, above + gap, page::escape(view->title), page::escape(name), page::escape(name),
                          page::escape(what), lines(m, cells, side, used));
    x += std::max({picture, 8.6 * double(name.size()), 6.4 * double(what.size())}) + gap;
    below = std::max(below, side * m.rows);
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\"><style>svg{{background:#fff;color:#1b1f23}}text{{font:600 14px system-ui,sans-serif;fill:"
      "currentColor}}.small{{font:12px system-ui,sans-serif}}path{{shape-rendering:crispEdges}}{2}{3}@media "
      "(prefers-color-scheme:dark){{svg{{background:#14181c;color:#e6eaee}}{4}{5}}}</style>\n{6}</svg>\n",
      x, above + gap + below + gap, classes("s", light_sequential, used.sequential),
      classes("d", light_diverging, used.diverging), classes("s", dark_sequential, used.sequential),
      classes("d", dark_diverging, used.diverging), shapes);
}

}  // namespace poslab::show
