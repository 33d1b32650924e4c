// Figures for papers as LaTeX: a picture by pgfplots for each panel, with the colours and lines of svg.css.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/ascii.h"
#include "lab/pages/page/html.h"
#include "lab/pages/page/paper.h"
#include "lab/pages/page/svg.h"

namespace poslab::page {
namespace {

// Text in LaTeX, also in its oldest font encoding, which has no < > |.
std::string tex(const std::string& text) {
  static const std::map<std::string, std::string> said = {{"\\", "\\textbackslash{}"},
                                                          {"~", "\\textasciitilde{}"},
                                                          {"^", "\\textasciicircum{}"},
                                                          {"<", "\\textless{}"},
                                                          {">", "\\textgreater{}"},
                                                          {"|", "\\textbar{}"},
                                                          {"–", "--"},
                                                          {"−", "$-$"},
                                                          {"×", "$\\times$"},
                                                          {"→", "$\\rightarrow$"},
                                                          {"↓", "$\\downarrow$"},
                                                          {"≤", "$\\leq$"},
                                                          {"≥", "$\\geq$"},
                                                          {"∞", "$\\infty$"},
                                                          {"·", "$\\cdot$"},
                                                          {"\n", " "}};
  std::string made;
  for (size_t at = 0, n; at < text.size(); at += n) {
    n = 1;
    while (at + n < text.size() && (text[at + n] & 0xc0) == 0x80) ++n;
    const std::string letter = text.substr(at, n);
    if (const auto it = said.find(letter); it != said.end())
      made += it->second;
    else
      made += (letter.find_first_of("#$%&_{}") == 0 ? "\\" : "") + letter;
  }
  return made;
}

std::string color(const std::string& hex) {  // "#0072b2", whose \definecolor stands in the head
  return "poslab" + hex.substr(1);
}
std::string color(int n) { return color(drawn_as("line " + color_class(n)).at("stroke")); }

// Dashes of the eighth color on, of the n-th baseline, and of what lies on another line (`gaps`), in points.
std::string dashes(int color, int baseline, const std::string& gaps = "") {
  const std::string css = color < 0 ? fmt::format("line base d{}", baseline % 3) : "line " + color_class(color) + gaps;
  const auto says = drawn_as(css);
  const auto it = says.find("stroke-dasharray");
  if (it == says.end()) return "";
  std::string pattern;
  size_t n = 0;
  std::string rest = it->second + " ";
  for (size_t end; (end = rest.find(' ')) != std::string::npos; rest.erase(0, end + 1))
    pattern +=
        fmt::format("{} {:.2g}pt ", n++ % 2 ? "off" : "on", std::max(.8, .6 * ascii::number(rest.substr(0, end))));
  return ", dash pattern=" + pattern.substr(0, pattern.size() - 1);
}

// Numbers as pgfplots takes them; of a share percent. Nothing of what is no number, and of 0 on a logarithmic axis.
std::string coordinates(const std::vector<Point>& points, const Chart& c) {
  std::string made;
  for (const Point p : points)
    if (std::isfinite(p.y) && (!c.log || p.y > 0))
      made += fmt::format("({:.6g},{:.5g})", p.x, c.percent ? 100 * p.y : p.y);
  return made;
}

// A line is broken where a number is missing; the last part has the name of it all.
std::string plots(const std::vector<Point>& points, const Chart& c, const std::string& look,
                  const std::string& end = "") {
  std::vector<std::string> parts(1);
  for (const Point p : points)
    if (std::isfinite(p.y))
      parts.back() += coordinates({p}, c);
    else if (!parts.back().empty())
      parts.emplace_back();
  if (parts.back().empty()) parts.pop_back();
  std::string made;
  for (size_t n = 0; n < parts.size(); ++n)
    made += fmt::format("\\addplot[{}{}] coordinates {{{}}}{};\n", look, n + 1 < parts.size() ? ", forget plot" : "",
                        parts[n], end);
  return made;
}

std::string legend_columns(const std::vector<Key>& keys, double millimetres) {
  size_t longest = 1;
  for (const Key& key : keys) longest = std::max(longest, key.name.size());
  const double each = 9 + 1.45 * double(longest);  // letters of 8 points
  return fmt::format("{}", std::clamp<size_t>(size_t(millimetres / each), 1, std::max<size_t>(keys.size(), 1)));
}

// The options that all panels have. What the paper says of poslab counts last, but a matrix keeps its shape.
std::string axis(const Panel& p, double width, double height, bool titled, const std::string& more) {
  const std::string size = fmt::format("width={:.4g}mm, height={:.4g}mm", width, height);
  return fmt::format(
      "\\begin{{tikzpicture}}[baseline=(current axis.south)]\n"
      "\\begin{{axis}}[poslab figure, {},{}\n  {},\n  poslab/.try{}]\n",
      size, titled ? fmt::format("\n  title={{{}}},", tex(title_of(p))) : "", more,
      std::holds_alternative<HeatMap>(p) ? ", " + size : "");
}
const char* const axis_end = "\\end{axis}\n\\end{tikzpicture}";

std::string panel(const Chart& c, double width, bool titled) {
  const double times = c.percent ? 100 : 1;
  std::string options = fmt::format(
      "xlabel={{{}}}, ylabel={{{}{}}},\n  xmin={:.6g}, xmax={:.6g}, ymin={:.5g}, ymax={:.5g}, legend columns={}",
      tex(c.x_label), tex(c.y_label), c.percent ? " (\\%)" : "", c.x_low, c.x_high, times * c.y_low, times * c.y_high,
      legend_columns(keys(c), width));
  if (c.log) options += ", ymode=log";
  if (c.doubling) options += ", xmode=log, log basis x=2, log ticks with fixed point";
  options += fmt::format(", xtick={{{:.6g}}}", fmt::join(x_ticks(c, width < 120 ? 5 : 9), ","));
  std::string made = axis(c, width, std::clamp(.62 * width, 50., 90.), titled, options);
  if (c.shaded > c.x_low) {
    const double end = std::min(c.shaded, c.x_high);
    made += fmt::format(
        "\\addplot[draw=none, fill={}, on layer=axis background, forget plot] coordinates "
        "{{({:.6g},{:.5g})({:.6g},{:.5g})({:.6g},{:.5g})({:.6g},{:.5g})}} -- cycle;  % trained\n",
        color(drawn_as("trained").at("fill")), c.x_low, times * c.y_low, end, times * c.y_low, end, times * c.y_high,
        c.x_low, times * c.y_high);
    if (const double share = (end - c.x_low) / (c.x_high - c.x_low); share * width > 12 && !c.doubling)
      made += fmt::format(
          "\\node[{}, font=\\scriptsize, anchor=south west] at (axis cs:{:.6g},{:.5g}) {{trained}};\n",
          color(Curve::baseline), c.x_low, times * c.y_low);
  }
  for (const Curve& curve : c.curves) {
    std::vector<Point> around;
    for (const Band& b : curve.band) around.push_back({b.x, b.high});
    for (auto b = curve.band.rbegin(); b != curve.band.rend(); ++b) around.push_back({b->x, b->low});
    if (const std::string at = coordinates(around, c); !at.empty())
      made += fmt::format("\\addplot[draw=none, fill={}, fill opacity=.14, forget plot] coordinates {{{}}} -- cycle;\n",
                          color(curve.color), at);
    made += plots(curve.behind, c, fmt::format("{}, opacity=.28, line width=.5pt, forget plot", color(curve.color)));
  }
  int baseline = 0;
  for (size_t n = 0; n < c.curves.size(); ++n) {
    const Curve& curve = c.curves[n];
    const bool base = curve.color < 0 && !curve.filled;
    const std::string look = curve.filled
                                 ? fmt::format("draw=none, fill={}, fill opacity=.28, area legend", color(curve.color))
                                 : fmt::format("{}, line width={}pt{}", color(curve.color), base ? .9 : 1.2,
                                               dashes(curve.color, base ? baseline++ : 0, gaps_class(c, n)));
    const std::string lines = plots(curve.points, c, look, curve.filled ? " \\closedcycle" : "");
    if (lines.empty()) continue;
    made += lines + fmt::format("\\addlegendentry{{{}}}\n", tex(curve.name));
  }
  return made + axis_end;
}

// A cell that is masked is left out, as its number is nan.
std::string panel(const HeatMap& m, double width, bool) {
  const bool ranged = m.shades.high > m.shades.low;
  const double side = std::min(width - (ranged ? 26 : 16), 70.);  // without labels and the bar
  const double low = ranged ? m.shades.low : m.shades.low - 1, high = ranged ? m.shades.high : m.shades.low + 1;
  std::vector<std::string> stops;
  for (int n = 0; n < shades; n += 4) {
    const double v = low + (high - low) * n / (shades - 1);
    const Shades colors{low, high};
    stops.push_back(
        fmt::format("color=({})", color(drawn_as(shade_class(colors.two_sided(), colors.share(v))).at("stroke"))));
  }
  const double height = side * m.rows / m.cols * m.tall(), line = 3.2;  // millimetres
  std::string few;  // of a low matrix, whose ticks would stand upon each other
  if (height < 4 * line) {
    const int step = std::max(1, int(std::ceil(line / height * m.rows)));
    std::vector<int> ticks;
    for (int i = 0; i < m.rows; i += step) ticks.push_back(m.first_row + i * m.block);
    few = fmt::format(", ytick={{{}}}", fmt::join(ticks, ","));
  }
  std::string made = axis(
      m, side, height, true,
      fmt::format("scale only axis, xlabel={{{}}}, ylabel={{{}}}, enlargelimits=false, axis on top, y dir=reverse, "
                  "ymajorgrids=false,\n"
                  "  colormap={{poslab}}{{{}}}, point meta min={:.6g}, point meta max={:.6g}{}{}",
                  tex(m.col), tex(m.row), fmt::join(stops, " "), low, high, few,
                  ranged ? fmt::format(",\n  colorbar, colorbar style={{at={{(1,1)}}, xshift=2mm, anchor=north west, "
                                       "width=2mm, font=\\scriptsize{}}}",
                                       few.empty() ? "" : fmt::format(", ytick={{{:.6g},{:.6g}}}", low, high))
                         : ""));
  made += fmt::format(
      "\\addplot[matrix plot*, point meta=explicit, unbounded coords=jump, mesh/cols={}] coordinates {{\n", m.cols);
  for (int i = 0; i < m.rows; ++i) {
    for (int j = 0; j < m.cols; ++j)
      made += fmt::format("({},{})[{:.5g}]", j * m.block, i * m.block + m.first_row,
                          m.cells[size_t(i) * size_t(m.cols) + size_t(j)]);
    made += "\n";
  }
  return made + "};\n" + axis_end;
}

// Alone it is a document, and within one it draws into it: there \@nodocument, an error before it begins, is \relax.
constexpr std::string_view head =
    R"(% poslab: a figure for LaTeX. Alone: pdflatex. In a paper: \input, after \usepackage{{pgfplots}}
% and \pgfplotsset{{compat=1.13}}.
% All figures of a paper in a style of its own: \pgfplotsset{{poslab/.style={{font=\small, height=5cm}}}} before them.
\expandafter\ifx\csname @nodocument\endcsname\relax\def\poslabend{{}}\else
\documentclass{{article}}
\usepackage{{pgfplots}}\pgfplotsset{{compat=1.13}}
\usepackage[margin=15mm]{{geometry}}
\pagestyle{{empty}}
\begin{{document}}\noindent\def\poslabend{{\end{{document}}}}\fi
{}\pgfplotsset{{poslab figure/.style={{font=\footnotesize, set layers, axis lines=left, axis line style={{-}},
  tick align=outside, ymajorgrids, grid style={{{}}}, title style={{font=\footnotesize\bfseries}},
  legend style={{draw=none, fill=none, at={{(0.5,0)}}, yshift=-10mm, anchor=north, column sep=2pt}},
  legend cell align=left,
  every axis title/.append style={{yshift=2pt}}}}}}
)";

}  // namespace

std::string paper_tex(const std::vector<Panel>& all, double millimetres) {
  std::string drawn;
  for (const PanelRow& row : rows_of(all, millimetres)) {
    const double each = (millimetres - 4 * double(row.columns - 1)) / double(row.columns);
    for (size_t n = row.from; n < row.to; ++n)
      drawn += std::visit([&](const auto& p) { return panel(p, each, all.size() > 1); }, all[n]) +
               (n + 1 < row.to        ? "\\hspace{4mm}%\n"
                : row.to < all.size() ? "\\par\\medskip\\noindent\n"
                                      : "%\n");
  }
  const std::string rule = color(drawn_as("gridline").at("stroke"));
  std::map<std::string, std::string> colors = {{rule, ""}};
  for (size_t at = 0; (at = drawn.find("poslab", at)) != std::string::npos; ++at) {
    const std::string name = drawn.substr(at, 12);
    if (name.size() == 12 && name.find_first_not_of("0123456789abcdef", 6) == std::string::npos) colors[name] = "";
  }
  std::string definitions;
  for (const auto& [name, unused] : colors) {
    std::string hex = name.substr(6);
    std::transform(hex.begin(), hex.end(), hex.begin(), ascii::upper);
    definitions += fmt::format("\\definecolor{{{}}}{{HTML}}{{{}}}\n", name, hex);
  }
  return fmt::format(fmt::runtime(head), definitions, rule) + drawn + "\\poslabend\n";
}

}  // namespace poslab::page
