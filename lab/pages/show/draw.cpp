// Views as text, numbers, pictures and a page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "encodings/encoding.h"
#include "lab/pages/show/show.h"

namespace poslab::show {
namespace {

// The least and the largest finite number; 0 and 0 without any. An end that is only a rounding error counts as 0.
std::pair<double, double> reach(const std::vector<double>& cells) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double v : cells)
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  if (low > high) return {0, 0};
  const double rounding = 1e-6 * std::max(-low, high);
  const auto whole = [rounding](double end) { return std::abs(end) < rounding ? 0 : end; };
  return {whole(low), whole(high)};
}

const std::vector<double>& head_of(const Matrix& m, int head) {
  return m.heads[m.heads.size() == 1 ? 0 : size_t(std::min<int>(head - 1, int(m.heads.size()) - 1))];
}

// xterm's colours: one hue from dark to bright, and orange - grey - blue
constexpr std::array sequential = {17, 18, 19, 25, 31, 37, 73, 109, 145, 188, 231};
constexpr std::array diverging = {202, 208, 215, 222, 187, 240, 152, 117, 75, 33, 27};

std::string grid(const Matrix& m, const std::vector<double>& cells, std::pair<double, double> ends, int columns,
                 bool colours, bool utf8) {
  const auto [low, high] = ends;
  const bool two_sided = low < 0 && high > 0;  // 0 is in the middle of the colours
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
      const double share = two_sided ? (v / std::max(-low, high) + 1) / 2 : high > low ? (v - low) / (high - low) : 0;
      const auto step = [&](size_t n) { return std::min(n - 1, size_t(share * double(n))); };
      if (colours) {
        const int colour = two_sided ? diverging[step(diverging.size())] : sequential[step(sequential.size())];
        text += fmt::format("\033[48;5;{}m{}\033[0m", colour, std::string(size_t(wide), ' '));
      } else {
        for (int n = 0; n < wide; ++n) text += shades[step(shades.size())];
      }
    }
    text += '\n';
  }
  return text;
}

using page::json;

constexpr int max_cells = 256;  // on a side

// Masked pairs look like 0 if that is the middle of the colors, else like the lowest number.
json drawn(const View& view, const Matrix& m, std::vector<double> cells) {
  const auto [low, high] = scale_of(view, m, cells);
  for (double& v : cells) v = std::isfinite(v) ? v : low < 0 && high > 0 ? 0 : low;
  return matrix_json(m.rows, m.cols, cells, low, high);
}

json matrices(const View& view) {
  json all = json::array();
  for (const Matrix& whole : view.matrices) {
    const Matrix m = reduced(whole, max_cells);
    json heads = json::array();
    for (const std::vector<double>& cells : m.heads) heads.push_back(drawn(view, m, cells));
    all.push_back({{"of", m.of}, {"block", (whole.cols + m.cols - 1) / m.cols}, {"heads", heads}});
  }
  return all;
}

// The reading, hands, matrices, charts and table of a view.
json parts_of(const View& view) {
  json parts = json::array({page::prose(view.reading)}), hands = json::array();
  for (const Hands& h : view.hands)
    hands.push_back({{"of", h.of}, {"frequencies", h.frequencies}, {"relative", h.relative}});  // NaN becomes null
  if (!hands.empty()) parts.push_back({{"kind", "hands"}, {"hands", hands}});
  if (!view.matrices.empty())
    parts.push_back({{"kind", "matrices"},
                     {"row", view.row},
                     {"col", view.col},
                     {"first_row", view.first_row},
                     {"matrices", matrices(view)}});
  for (page::Chart c : view.charts) {
    c.caption = page::literal(c.title + ".");
    parts.push_back(page::chart_json(c));
  }
  if (!view.table.rows.empty()) parts.push_back(page::table(view.table));
  return parts;
}

}  // namespace

std::pair<double, double> scale_of(const View& view, const Matrix& m, const std::vector<double>& cells) {
  if (!view.one_scale || m.of == "difference") return reach(cells);
  std::vector<double> all;
  for (const Matrix& one : view.matrices)
    for (const std::vector<double>& head : one.heads)
      if (one.of != "difference") all.insert(all.end(), head.begin(), head.end());
  return reach(all);
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
    const auto [low, high] = reach(head_of(whole, head));
    made += fmt::format("\n  {}{}: {} rows of {}, {} columns of {}{}; from {:.4g} to {:.4g}\n", m.of,
                        m.heads.size() > 1
                            ? fmt::format(", head {} of {}", std::min<int>(head, int(m.heads.size())), m.heads.size())
                            : "",
                        whole.rows, view.row, whole.cols, view.col,
                        m.rows < whole.rows || m.cols < whole.cols ? ", a cell is the mean of several" : "", low, high);
    made += grid(m, cells, scale_of(view, whole, head_of(whole, head)), columns - 2, colours, utf8);
  }
  if (!view.table.rows.empty()) made += "\n  " + view.table.caption + "\n" + page::markdown(view.table);
  return made;
}

std::string csv(const std::vector<View>& all) {
  std::string lines = "view,of,head,row,column,value\n";
  auto out = std::back_inserter(lines);
  for (const View& view : all) {
    for (const Matrix& m : view.matrices)
      for (size_t h = 0; h < m.heads.size(); ++h)
        for (int i = 0; i < m.rows; ++i)
          for (int j = 0; j < m.cols; ++j) {
            const double v = m.heads[h][size_t(i) * size_t(m.cols) + size_t(j)];
            if (std::isfinite(v))
              fmt::format_to(out, "{},{},{},{},{},{:.9g}\n", view.name, page::csv_cell(m.of), h + 1, i + view.first_row,
                             j, v);
          }
    for (const page::Chart& c : view.charts)
      for (const page::Curve& curve : c.curves)
        for (const page::Point& p : curve.points)
          fmt::format_to(out, "{},{},,,{:.9g},{:.9g}\n", view.name, page::csv_cell(curve.name), p.x, p.y);
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
      const auto [low, high] = scale_of(view, small, cells);
      page::json rows = page::json::array();
      for (auto row = cells.begin(); row != cells.end(); row += small.cols)
        rows.push_back(std::vector<double>(row, row + small.cols));  // NaN becomes null
      made.push_back({{"kind", "matrix"},
                      {"title", m.heads.size() > 1 ? fmt::format("{}, head {}", m.of, head) : m.of},
                      {"row", view.row},
                      {"col", view.col},
                      {"block", (m.cols + small.cols - 1) / small.cols},
                      {"first_row", view.first_row},
                      {"low", low},
                      {"high", high},
                      {"cells", rows}});
    }
    for (const page::Chart& chart : view.charts) made.push_back(page::chart_json(chart));
  }
  return made;
}

std::string html(const Options& options, const std::vector<View>& all, const std::string& command, bool slides) {
  json sections = json::array();
  size_t heads = 1;
  for (const View& view : all) {
    sections.push_back(page::section(view.name, view.title, parts_of(view)));
    for (const Matrix& m : view.matrices) heads = std::max(heads, m.heads.size());
  }
  const bool many = options.encodings.size() > 2;
  std::string reading, title = fmt::format("{}", fmt::join(options.encodings, " beside "));
  if (many) title = fmt::format("{} encodings side by side", options.encodings.size());
  for (const std::string& spelled : options.encodings) {
    const Chosen<Scheme> s = choose_encoding(spelled, trained_on(options.train_length));
    std::string about = s->pages.about.empty() || many ? s->pages.summary + "." : s->pages.about;
    std::replace(about.begin(), about.end(), '\n', ' ');
    reading +=
        fmt::format("{}**{}**: {}", reading.empty() ? "" : "\\\n", page::literal(s.spelled()), page::prose(about));
  }
  sections.push_back(page::section(
      "", "", json::array({page::paragraph(fmt::format("Made by `{}`", page::literal(command)), "note")})));
  const json choices = {{"kind", "choices"}, {"heads", heads}};
  const json document = {{"command", "show"},
                         {"title", title},
                         {"lead", json::array({page::paragraph(reading, "reading")})},
                         {"choices", json::array({choices})},
                         {"sections", sections}};
  return page::file_of(document, {"table", "chart", "matrix", "show"}, slides);
}

}  // namespace poslab::show
