// The page of `poslab show -o NAME.html`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "encodings/encoding.h"
#include "lab/pages/show/show.h"

namespace poslab {
extern const std::string_view show_html, show_js;
}

namespace poslab::show {
namespace {

using nlohmann::json;

constexpr int max_cells = 256;   // on a side

// Masked pairs look like nothing: like 0 where that is the middle, else like the lowest.
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

}  // namespace

std::string html(const Options& options, const std::vector<View>& all, const std::string& command) {
  json data = {{"charts", json::array()}, {"views", json::array()}};
  std::string sections;
  for (size_t n = 0; n < all.size(); ++n) {
    const View& view = all[n];
    sections += fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n<p>{2}</p>\n", view.name,
                            page::escape(view.title), page::prose(view.reading));
    json hands = json::array();
    for (const Hands& h : view.hands)
      hands.push_back({{"of", h.of}, {"frequencies", h.frequencies}, {"relative", h.relative}});   // NaN becomes null
    data["views"].push_back({{"row", view.row},
                             {"col", view.col},
                             {"first_row", view.first_row},
                             {"matrices", matrices(view)},
                             {"hands", hands}});
    if (!view.hands.empty()) sections += fmt::format("<div data-hands=\"{}\"></div>\n", n);
    if (!view.matrices.empty()) sections += fmt::format("<div class=\"grid\" data-view=\"{}\"></div>\n", n);
    for (const page::Chart& c : view.charts) {
      data["charts"].push_back(page::chart_json(c));
      sections += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", page::figure(c),
                              page::escape(c.title + "."));
    }
    if (!view.table.rows.empty()) sections += page::html(view.table);
    sections += "</section>\n";
  }
  const bool many = options.encodings.size() > 2;
  std::string reading, title = fmt::format("{}", fmt::join(options.encodings, " beside "));
  if (many) title = fmt::format("{} encodings side by side", options.encodings.size());
  for (const std::string& spelled : options.encodings) {
    const Chosen<Scheme> s = choose_encoding(spelled, trained_on(options.train_length));
    std::string about = s->pages.about.empty() || many ? s->pages.summary + "." : s->pages.about;
    std::replace(about.begin(), about.end(), '\n', ' ');
    reading += fmt::format("{}<b>{}</b>: {}", reading.empty() ? "" : "<br>", page::escape(s.spelled()),
                           page::prose(about));
  }
  return page::document(show_html, {{"title", page::escape(title)},
                                    {"reading", reading},
                                    {"views", sections},
                                    {"command", page::escape(command)},
                                    {"data", page::script_safe(data)}},
                        show_js);
}

}  // namespace poslab::show
