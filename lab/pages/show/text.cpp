// Views as text and numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "lab/pages/show/show.h"

namespace poslab::show {
namespace {

// The numbers at the ends of the colours. If a matrix has numbers on both sides of 0, 0 is in the middle.
struct Reach {
  double low, high;
  bool two_sided() const { return low < 0 && high > 0; }
  double share(double v) const {  // from 0 to 1
    if (two_sided()) return (v / std::max(-low, high) + 1) / 2;
    return high > low ? (v - low) / (high - low) : 0;
  }
};

Reach reach(const std::vector<double>& cells) {
  Reach r{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const double v : cells)
    if (std::isfinite(v)) r.low = std::min(r.low, v), r.high = std::max(r.high, v);
  if (r.low > r.high) return {0, 0};
  const double rounding = 1e-6 * std::max(-r.low, r.high);   // the remainder of numbers that cancel
  for (double* end : {&r.low, &r.high})
    if (std::abs(*end) < rounding) *end = 0;
  return r;
}

// The range of m's colours: its own numbers, or the numbers of all matrices of the view but their difference.
Reach scale_of(const View& view, const Matrix& m, const Reach& own) {
  if (!view.one_scale || m.of == "difference") return own;
  const auto [low, high] = range_of(view);
  return {low, high};
}

const std::vector<double>& head_of(const Matrix& m, int head) {
  return m.heads[m.heads.size() == 1 ? 0 : size_t(std::min<int>(head - 1, int(m.heads.size()) - 1))];
}

// xterm's colours: one hue from dark to bright, and orange - grey - blue
constexpr std::array sequential = {17, 18, 19, 25, 31, 37, 73, 109, 145, 188, 231};
constexpr std::array diverging = {202, 208, 215, 222, 187, 240, 152, 117, 75, 33, 27};

std::string grid(const Matrix& m, const std::vector<double>& cells, const Reach& r, int columns, bool colours,
                 bool utf8) {
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

}  // namespace

std::pair<double, double> range_of(const View& view) {
  Reach all{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const Matrix& m : view.matrices)
    for (const std::vector<double>& cells : m.heads)
      for (const double v : cells)
        if (m.of != "difference" && std::isfinite(v)) all.low = std::min(all.low, v), all.high = std::max(all.high, v);
  return {all.low, all.high};
}

Matrix reduced(const Matrix& m, int most) {
  const int block = (std::max(m.rows, m.cols) + most - 1) / most;
  if (block <= 1) return m;
  Matrix small{m.of, (m.rows + block - 1) / block, (m.cols + block - 1) / block, {}};
  for (const std::vector<double>& cells : m.heads) {
    std::vector<double> sum(size_t(small.rows) * size_t(small.cols), 0.);
    std::vector<double> count = sum;
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
    made += grid(m, cells, scale_of(view, whole, r), columns - 2, colours, utf8);
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
              fmt::format_to(out, "{},{},{},{},{},{:.9g}\n", view.name, quoted(m.of), h + 1, i + view.first_row, j, v);
          }
    for (const page::Chart& c : view.charts)
      for (const page::Curve& curve : c.curves)
        for (const page::Point& p : curve.points)
          fmt::format_to(out, "{},{},,,{:.9g},{:.9g}\n", view.name, quoted(curve.name), p.x, p.y);
  }
  return lines;
}

page::json figures(const std::vector<View>& all, int head) {
  constexpr int most = 64;  // cells on a side: at the width of a column a cell is then half a millimetre
  page::json made = page::json::array();
  for (const View& view : all) {
    for (const Matrix& m : view.matrices) {
      const Matrix small = reduced(m, most);
      const std::vector<double>& cells = head_of(small, head);
      const Reach r = scale_of(view, small, reach(cells));
      page::json rows = page::json::array();
      for (auto row = cells.begin(); row != cells.end(); row += small.cols)
        rows.push_back(std::vector<double>(row, row + small.cols));  // NaN becomes null
      made.push_back({{"kind", "matrix"},
                      {"title", m.heads.size() > 1 ? fmt::format("{}, head {}", m.of, head) : m.of},
                      {"row", view.row},
                      {"col", view.col},
                      {"block", (m.cols + small.cols - 1) / small.cols},
                      {"first_row", view.first_row},
                      {"low", r.low},
                      {"high", r.high},
                      {"cells", rows}});
    }
    for (const page::Chart& chart : view.charts) made.push_back(page::chart_json(chart));
  }
  return made;
}

}  // namespace poslab::show
