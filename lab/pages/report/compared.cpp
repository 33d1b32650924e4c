#include "lab/pages/report/compared.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/language/options.h"
#include "lab/pages/report/sections.h"

namespace poslab::report {
namespace {

using language::parts;

// exp of the loss; of one that is no number, or too large, nothing is said.
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

std::string compared_table(const std::vector<Group>& groups) {
  std::string all;
  for (const Group& g : groups) {
    std::vector<const Results*> tests;
    std::string head;
    for (const Line& line : g.lines) {
      tests.push_back(&line.all);
      head += fmt::format("<th scope=\"col\">{}{}</th>", mark(line), page::escape(line.name));
    }
    const Compared c = compared(tests, std::stoi(g.lines.front().first().config.at("eval_tail")));
    for (const auto& [title, rows] : {std::pair{std::string("tokens"), &c.lengths},
                                      {fmt::format("tokens of the windows of {}", c.longest), &c.places}}) {
      std::string body;
      for (const ComparedRow& row : *rows) {
        body += fmt::format("<tr><th scope=\"row\">{}</th>{}", row.where, cell("set", "text", row.set));
        for (size_t n = 0; n < row.loss.size(); ++n)
          body += cell(page::escape(g.lines[n].name).c_str(), "",
                       fmt::format("{:.4f} <small>({})</small>", row.loss[n], perplexity(row.loss[n])));
        body += "</tr>\n";
      }
      all += fmt::format(
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Loss by {0}\">\n<table class=\"runs\">"
          "<thead><tr><th scope=\"col\" class=\"text\">{0}</th><th scope=\"col\" class=\"text\">set</th>{1}</tr>"
          "</thead><tbody>\n{2}</tbody></table></div>\n",
          title, head, body);
    }
  }
  return all;
}

}  // namespace poslab::report
