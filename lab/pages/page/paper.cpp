#include "lab/pages/page/paper.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/ascii.h"
#include "core/error.h"
#include "lab/pages/page/html.h"
#include "lab/pages/page/svg.h"

namespace poslab::page {
namespace {

constexpr double units = 13 / 8. * 72 / 25.4;  // of a millimetre: letters of 13 units then have 8 points
constexpr double letter = 7.4;                 // the mean width of one in every common sans-serif face
constexpr double line = 18, gap = 18, under_axes = 48;

struct Drawn {
  std::string shapes;
  double height;
};

std::string moved(double x, double y, const std::string& shapes) {
  return fmt::format("<g transform=\"translate({:.1f} {:.1f})\">{}</g>\n", x, y, shapes);
}

// In lines of at most `most` letters, parted where there is a space or a sign between words.
std::vector<std::string> wrapped(const std::string& text, size_t most) {
  std::vector<std::string> lines;
  std::string rest = text;
  while (rest.size() > most) {
    size_t end = rest.find_last_of(" ,:|&+", most - 1);
    end = end == std::string::npos || end < most / 3 ? most : end + 1;
    while (end < rest.size() && (rest[end] & 0xc0) == 0x80) ++end;  // not within a letter of several bytes
    lines.push_back(rest.substr(0, end)), rest.erase(0, end);
  }
  lines.push_back(rest);
  return lines;
}

size_t letters(double width) { return size_t(std::max(8., width / letter)); }

std::string words_in_lines(const char* classes, double x, double y, const std::vector<std::string>& lines) {
  std::string made;
  for (const std::string& one : lines) {
    made += fmt::format("<text{} x=\"{:g}\" y=\"{:.1f}\">{}</text>", classes, x, y, escape(one));
    y += line;
  }
  return made;
}

// One after another in lines, as words are.
Drawn legend(const std::vector<Key>& keys, double width) {
  constexpr double swatch = 34;
  Drawn d{"", 0};
  double x = 0, tallest = 0;
  for (const Key& key : keys) {
    const std::vector<std::string> name = wrapped(key.name, letters(width - swatch));
    const double each = swatch + letter * double(name.size() > 1 ? letters(width - swatch) : key.name.size());
    if (x > 0 && x + each > width) d.height += tallest, x = tallest = 0;
    d.shapes += moved(x, d.height + 4, key.swatch);
    d.shapes += words_in_lines("", x + swatch, d.height + 13, name);
    tallest = std::max(tallest, line * double(name.size())), x += each + gap;
  }
  d.height += tallest;
  return d;
}

Drawn panel(const Chart& c, double width) {
  const Drawn names = legend(keys(c), width);
  const double top = names.height + 34, bottom = top + std::clamp(.5 * width, 150., 340.);
  return {names.shapes + plot(c, {48, width - 12, top, bottom, std::max(3, int(width / 80))}), bottom + under_axes};
}

// A number beside the bar: three digits are more than colours tell.
std::string at_bar(double v) { return number(std::abs(v) < 1000 ? ascii::number(fmt::format("{:.3g}", v)) : v); }

// The range of colours beside a matrix, from the lowest number below to the highest above.
std::string bar(const Shades& s, double x, double top, double height) {
  std::string made;
  const double each = height / shades;
  for (int n = 0; n < shades; ++n) {
    const double v = s.low + (s.high - s.low) * n / (shades - 1);
    // Each reaches under the next one, so that no gap is seen between them.
    const double from = top + height - each * n, to = n + 1 < shades ? std::max(top, from - 1.5 * each) : top;
    made += fmt::format("<path class=\"{}\" stroke-width=\"10\" d=\"M{:.1f} {:.2f}V{:.2f}\"/>",
                        shade_class(s.two_sided(), s.share(v)), x + 5, from, to);
  }
  made += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 15, top + 10, at_bar(s.high));
  return made + fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 15, top + height, at_bar(s.low));
}

Drawn panel(const HeatMap& m, double width) {
  const bool ranged = m.shades.high > m.shades.low;
  // Room for six letters beside the bar, as 0.0968 has, so that matrices in a row are of one size.
  const size_t longest = std::max({size_t(6), at_bar(m.shades.low).size(), at_bar(m.shades.high).size()});
  const double left = 40, right = ranged ? 24 + letter * double(longest) : 12, top = 6;
  const double side = std::min(width - left - right, 320.) / std::max(m.rows, m.cols);
  const double high = side * m.tall(), bottom = top + high * m.rows, end = left + side * m.cols;
  std::string made = moved(left, top, cells_of(m, side));
  // A tick stands at the middle of the cell of its slot, and as far from the next one as a line is high.
  const auto ticks = [&](int cells, double each, auto&& tick) {
    const double slots = cells * m.block, least = std::max(slots / 4, .8 * line / each * m.block);
    const double step = std::max(1., tick_step(least));
    for (double v = 0; v < slots; v += step) tick(v, (v + .5) / m.block * each);
  };
  ticks(m.cols, side, [&](double v, double at) {
    made += fmt::format(
        "<path class=\"tick\" d=\"M{0:.1f} {1:.1f}v5\"/><text x=\"{0:.1f}\" y=\"{2:.1f}\" "
        "text-anchor=\"middle\">{3}</text>",
        left + at, bottom, bottom + 19, number(v));
  });
  ticks(m.rows, high, [&](double v, double at) {
    made += fmt::format(
        "<path class=\"tick\" d=\"M{0:.1f} {1:.1f}h-5\"/><text x=\"{2:.1f}\" y=\"{3:.1f}\" "
        "text-anchor=\"end\">{4}</text>",
        left, top + at, left - 8, top + at + 4, number(v + m.first_row));
  });
  made += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                      (left + end) / 2, bottom + 38, escape(m.col));
  made += fmt::format(
      "<text class=\"label\" transform=\"translate(10 {:.1f}) rotate(-90)\" "
      "text-anchor=\"middle\">{}</text>",
      (top + bottom) / 2, escape(m.row));
  if (ranged) made += bar(m.shades, end + 8, top, bottom - top);
  return {made, bottom + under_axes};
}

}  // namespace

const std::string& title_of(const Panel& p) {
  if (const auto* m = std::get_if<HeatMap>(&p)) return m->name;
  return std::get<Chart>(p).title;
}

std::vector<PanelRow> rows_of(const std::vector<Panel>& all, double millimetres) {
  std::vector<PanelRow> rows;
  for (size_t from = 0, end; from < all.size(); from = end) {
    end = from + 1;
    while (end < all.size() && all[end].index() == all[from].index()) ++end;
    const double least = std::holds_alternative<HeatMap>(all[from]) ? 40 : 75;  // millimetres of a panel
    const size_t most = size_t(std::max(1., millimetres / least)), n = end - from;
    const size_t columns = (n + (n + most - 1) / most - 1) / ((n + most - 1) / most);
    for (size_t at = from; at < end; at += columns) rows.push_back({at, std::min(end, at + columns), columns});
  }
  return rows;
}

std::string paper_svg(const std::vector<Panel>& all, double millimetres) {
  constexpr double edge = 2;
  const double width = millimetres * units - 2 * edge;
  const bool titled = all.size() > 1;
  std::string shapes;
  std::vector<std::string> titles;
  double y = 0;
  for (const PanelRow& row : rows_of(all, millimetres)) {
    const double each = (width - gap * double(row.columns - 1)) / double(row.columns);
    std::vector<Drawn> drawn;
    double heads = 0, tallest = 0;
    for (size_t n = row.from; n < row.to; ++n) {
      const size_t lines = wrapped(title_of(all[n]), letters(.88 * each)).size();  // bold is wider
      if (titled) heads = std::max(heads, line * double(lines));
      drawn.push_back(std::visit([&](const auto& p) { return panel(p, each); }, all[n]));
      tallest = std::max(tallest, drawn.back().height);
      titles.push_back(title_of(all[n]));
    }
    for (size_t n = row.from; n < row.to; ++n) {  // titles are at one height, and so are the axes below
      const Drawn& one = drawn[n - row.from];
      std::string made = moved(0, heads + tallest - one.height, one.shapes);
      if (titled)
        made = words_in_lines(" class=\"panel\"", 0, 13, wrapped(title_of(all[n]), letters(.88 * each))) + made;
      shapes += moved((each + gap) * double(n - row.from), y, fmt::format("<g class=\"chart\">{}</g>", made));
    }
    y += heads + tallest + (row.to < all.size() ? gap : 0);
  }
  return svg_document({-edge, -edge, width + 2 * edge, y + 2 * edge, millimetres},
                      fmt::format("{}", fmt::join(titles, "; ")), "", shapes);
}

std::string paper_csv(const std::vector<Panel>& all) {
  std::string made = "panel,series,x,y,low,high\n";
  const auto quoted = [](std::string text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
    return '"' + text + '"';
  };
  const auto say = [](double v) { return std::isfinite(v) ? fmt::format("{:.9g}", v) : ""; };
  const auto add = [&](const std::string& panel, const std::string& series, const std::string& x, double y,
                       double low = std::nan(""), double high = std::nan("")) {
    if (std::isfinite(y))
      made += fmt::format("{},{},{},{},{},{}\n", quoted(panel), quoted(series), quoted(x), say(y), say(low), say(high));
  };
  for (const Panel& p : all) {
    const std::string& title = title_of(p);
    if (const auto* chart = std::get_if<Chart>(&p))
      for (const Curve& c : chart->curves)
        for (const Point at : c.points) {
          const auto band = std::find_if(c.band.begin(), c.band.end(), [&](const Band& b) { return b.x == at.x; });
          const bool has = band != c.band.end();
          add(title, c.name, say(at.x), at.y, has ? band->low : std::nan(""), has ? band->high : std::nan(""));
        }
    if (const auto* m = std::get_if<HeatMap>(&p))
      for (int i = 0; i < m->rows; ++i)
        for (int j = 0; j < m->cols; ++j)
          add(title, fmt::format("{} {}", m->row, i * m->block + m->first_row), fmt::format("{}", j * m->block),
              m->cells[size_t(i) * size_t(m->cols) + size_t(j)]);
  }
  return made;
}

}  // namespace poslab::page
