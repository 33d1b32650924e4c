// A row for each node, in the order of the tape, which is a topological one: a node's inputs are above it. A line
// joins neighbours, and an arc on the left nodes that lie further apart.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/pages/graph/graph.h"
#include "lab/pages/page/prose.h"
#include "lab/pages/page/svg.h"

namespace poslab::graph {
namespace {

constexpr double row_height = 22, above = 84, edge = 24, letter = 7.6;  // wide enough for common faces at 13 px
constexpr double bar = 60, number = 70, gap = 22;                       // of the columns of times

std::string bytes(int64_t n) {
  if (n < 10000) return fmt::format("{}", n);
  return n < 10000000 ? fmt::format("{:.0f} k", double(n) / 1e3) : fmt::format("{:.0f} M", double(n) / 1e6);
}

// What lies before the module's own name is said by the column of modules.
std::string own_parameters(const Node& n) {
  std::vector<std::string> names;
  for (const std::string& name : n.reads)
    names.push_back(name.rfind(n.module + ".", 0) == 0 ? name.substr(n.module.size() + 1) : name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// No wider than `most` letters.
std::string cut(const std::string& text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

struct Columns {
  double node, module, name, reads, shape, forward, backward, bytes, gradient, width;
};

Columns columns(const Graph& g, double arcs) {
  size_t module = 6, name = 2, reads = 5, shape = 6;
  for (const Node& n : g.nodes) {
    module = std::max(module, n.module.size()), name = std::max(name, n.name.size());
    reads = std::max(reads, own_parameters(n).size()), shape = std::max(shape, to_string(n.shape).size());
  }
  const auto wide = [](size_t letters) { return letter * double(std::min<size_t>(letters, 44)) + gap; };
  Columns c{.node = edge + arcs};
  c.module = c.node + 16, c.name = c.module + wide(module), c.reads = c.name + wide(name);
  c.shape = c.reads + wide(reads), c.forward = c.shape + wide(shape), c.backward = c.forward + number + bar + gap;
  c.bytes = c.backward + number + bar + gap + 56, c.gradient = c.bytes + 120, c.width = c.gradient + edge;
  return c;
}

std::string text(double x, double y, const char* style, const std::string& words) {
  return fmt::format("<text class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>", style, x, y + 4.5, page::escape(words));
}

// The number ends where its bar begins; the longest of a column is as long as the column.
std::string time(double x, double y, double seconds, double longest, const char* style) {
  return text(x + number - 8, y, "right", fmt::format("{:.0f}", seconds * 1e6)) +
         fmt::format("<rect class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"10\"/>", style, x + number,
                     y - 5, longest > 0 ? std::max(.5, bar * seconds / longest) : 0.);
}

double bow(size_t rows) { return rows == 1 ? 0 : std::min(96., 14 * std::sqrt(double(rows))); }

std::string line(double x, size_t from, size_t to) {
  const auto y = [](size_t row) { return above + row_height * double(row); };
  return fmt::format("<path d=\"M{0:.0f} {1:.0f}C{2:.1f} {1:.0f} {2:.1f} {3:.0f} {0:.0f} {3:.0f}\"/>", x, y(from),
                     x - bow(to - from) * 4 / 3, y(to));
}

}  // namespace

std::string svg(const Graph& g) {
  double arcs = 0, forward = 0, backward = 0, all_forward = 0, all_backward = 0;
  int64_t all_bytes = 0;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    for (const size_t source : node.from) arcs = std::max(arcs, bow(n - source));
    forward = std::max(forward, node.forward), backward = std::max(backward, node.backward);
    all_forward += node.forward, all_backward += node.backward, all_bytes += node.bytes;
  }
  const Columns c = columns(g, arcs);
  const double end = above + row_height * double(g.nodes.size()), height = end + edge;
  std::string shades, lines, rows;
  bool shaded = true;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    const double y = above + row_height * double(n);
    const bool first = n == 0 || g.nodes[n - 1].module != node.module;
    if (first) shaded = !shaded;
    if (shaded)
      shades += fmt::format("<rect class=\"shade\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\"/>",
                            y - row_height / 2, c.width, row_height);
    for (const size_t source : node.from) lines += line(c.node, source, n);
    const std::string parameters = own_parameters(node);
    rows += fmt::format("<g><title>{}: {}{}</title><circle cx=\"{:.0f}\" cy=\"{:.0f}\" r=\"3.5\"/>",
                        page::escape(node.module), page::escape(node.name),
                        parameters.empty() ? "" : ", reads " + page::escape(parameters), c.node, y);
    if (first) rows += text(c.module, y, "module", node.module);
    rows += text(c.name, y, "", cut(node.name, 44)) + text(c.reads, y, "faded", cut(parameters, 44)) +
            text(c.shape, y, "", to_string(node.shape)) + time(c.forward, y, node.forward, forward, "forward") +
            time(c.backward, y, node.backward, backward, "backward") + text(c.bytes, y, "right", bytes(node.bytes)) +
            text(c.gradient, y, "right", std::isnan(node.gradient) ? "" : fmt::format("{:.2g}", node.gradient)) +
            "</g>\n";
  }
  const double headings = above - 26;
  const std::string head =
      text(edge, 24, "heading", g.title) + text(c.module, headings, "faded", "module") +
      text(c.name, headings, "faded", "ops") + text(c.reads, headings, "faded", "reads") +
      text(c.shape, headings, "faded", "result") +
      text(c.forward + number - 8, headings, "faded right", "forward µs") +
      text(c.backward + number - 8, headings, "faded right", "backward µs") +
      text(c.bytes, headings, "faded right", "bytes") +
      text(c.gradient, headings, "faded right", "gradient norm");
  const std::string foot = text(c.module, end, "module", "all") +
                           text(c.forward + number - 8, end, "right", fmt::format("{:.0f}", all_forward * 1e6)) +
                           text(c.backward + number - 8, end, "right", fmt::format("{:.0f}", all_backward * 1e6)) +
                           text(c.bytes, end, "right", bytes(all_bytes));
  const std::string description = fmt::format(
      "The tape, from its first op to the loss: {} rows of module, op, parameters, shape, time, bytes, gradient norm.",
      g.nodes.size());
  return page::svg_document({0, 0, std::round(c.width), height}, g.title, description,
                            fmt::format("<g class=\"tape\">{}<g class=\"joins\">{}</g>\n{}\n{}{}</g>\n", shades, lines,
                                        head, rows, foot));
}

std::string json(const Graph& g) {
  nlohmann::json nodes = nlohmann::json::array();
  for (const Node& n : g.nodes)
    nodes.push_back({{"module", n.module},
                     {"name", n.name},
                     {"reads", own_parameters(n)},
                     {"from", n.from},
                     {"shape", to_string(n.shape)},
                     {"bytes", n.bytes},
                     {"forward", n.forward * 1e6},
                     {"backward", n.backward * 1e6},
                     {"gradient", n.gradient}});
  const nlohmann::json figure = {{"kind", "tape"}, {"id", "tape"}, {"title", g.title}, {"nodes", nodes}};
  return nlohmann::json{{"figures", {figure}}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace poslab::graph
