// The page of `poslab show -o NAME.html`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "encodings/encoding.h"
#include "lab/pages/show/show.h"

namespace poslab::show {
namespace {

using page::json;

constexpr int max_cells = 256;   // on a side

// Masked pairs look like 0 if that is the middle of the colors, else like the lowest number.
json drawn(const View& view, const Matrix& m, std::vector<double> cells) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double v : cells)
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  if (view.one_scale && m.of != "difference") std::tie(low, high) = range_of(view);
  if (low > high) low = high = 0;
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
  const std::vector<std::string_view> modules = {"table", "chart", "matrix", "show"};
  return slides ? page::slides_of(document, modules) : page::file_of(document, modules);
}

}  // namespace poslab::show
