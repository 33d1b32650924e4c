#include "lab/pages/report/compared.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/language/options.h"
#include "lab/pages/report/language.h"

namespace poslab::report {
namespace {

using language::parts;

// exp of the loss; "" if that is not a number, or too large.
std::string perplexity(double loss) {
  const double p = std::exp(loss);
  return !std::isfinite(p) ? "–" : p < 1e5 ? fmt::format("{:.2f}", p) : fmt::format("{:.1e}", p);
}

std::vector<double> losses_in(const std::vector<const Results*>& tests, size_t row, const std::string& column) {
  std::vector<double> all;
  for (const Results* test : tests) all.push_back((*test)[row][column]);
  return all;
}

}  // namespace

Compared compared(const std::vector<const Results*>& tests, int tail) {
  Compared made{{}, {}, 0};
  const Results& rows = *tests.front();
  for (const Row& at : rows) made.longest = std::max(made.longest, at.length());
  const int counted = tail ? tail : made.longest, first = made.longest - counted;
  for (size_t n = 0; n < rows.size(); ++n) {
    made.lengths.push_back({rows[n].word("set"), fmt::format("{}", rows[n].length()), losses_in(tests, n, "loss")});
    if (rows[n].length() != made.longest) continue;
    for (int p = 0; p < parts; ++p) {
      const int from = first + (p * counted + parts - 1) / parts, to = first + ((p + 1) * counted + parts - 1) / parts;
      made.places.push_back({rows[n].word("set"), fmt::format("{}-{}", from + 1, to),
                             losses_in(tests, n, fmt::format("loss_{}", p + 1))});
    }
  }
  return made;
}

std::string compared_text(const Compared& c, const std::vector<std::string>& names) {
  const auto table = [&](const char* what, const std::vector<ComparedRow>& rows) {
    std::string text = fmt::format("{:10}{:>14}", "", what);
    for (const std::string& name : names) text += fmt::format("  {:>18}", name);
    for (const ComparedRow& row : rows) {
      text += fmt::format("\n{:10}{:>14}", row.set, row.where);
      for (size_t n = 0; n < names.size(); ++n)
        text += fmt::format("  {:>{}}", fmt::format("{:.4f} ({})", row.loss[n], perplexity(row.loss[n])),
                            std::max<size_t>(18, names[n].size()));
    }
    return text + "\n";
  };
  return fmt::format(
      "loss in nats a token, and in brackets the perplexity\n{}\nat the places of windows of {} tokens\n{}",
      table("tokens", c.lengths), c.longest, table("places", c.places));
}

page::json compared_tables(const std::vector<Group>& groups) {
  using page::column;
  json tables = json::array();
  for (const Group& g : groups) {
    std::vector<const Results*> tests;
    std::vector<json> losses;
    for (const Line& line : g.lines) {
      tests.push_back(&line.all);
      losses.push_back(column(line.name.c_str(), 4));
      losses.back()["color"] = page::color_class(line.color);
    }
    const Compared c = compared(tests, tail_of(g.lines.front()));
    for (const auto& [title, rows] : {std::pair{std::string("tokens"), &c.lengths},
                                      {fmt::format("tokens of the windows of {}", c.longest), &c.places}}) {
      json columns = {column(title.c_str()), column("set", nullptr, "text")}, body = json::array();
      page::append(columns, losses);
      for (const ComparedRow& row : *rows) {
        json cells = {row.where, row.set};
        for (const double loss : row.loss)
          cells.push_back({{"value", loss}, {"beside", fmt::format("({})", perplexity(loss))}});
        body.push_back(std::move(cells));
      }
      tables.push_back(page::table("Loss by " + title, columns, body));
    }
  }
  return tables;
}

}  // namespace poslab::report
