#include "lab/pages/report/language.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "lab/pages/report/compared.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/sweep/collect.h"

namespace poslab {
extern const std::string_view language_html;
}

namespace poslab::report {
namespace {

using namespace page;

const Row* tested_at(const Line& line, int length, bool repeated) {
  for (const Row& at : line.all)
    if (at.length() == length && repeats(at) == repeated) return &at;
  return nullptr;
}

std::string nats(double x) { return std::isfinite(x) ? fmt::format("{:.4f}", x) : "–"; }

std::string shown(const Row* at, const Measure& m) {
  if (!at) return "–";
  return m.percent ? percent((*at)[m.column]) : nats((*at)[m.column]);
}

std::string colored(const Line& line) {
  return fmt::format("<span class=\"{}\">{}</span>", color_class(line.color), escape(line.name));
}

std::string said_of(const Line& line) {
  const Row *far = tested_at(line, line.longest(), false), *near = tested_at(line, line.train_length(), false);
  std::string text = fmt::format("{} gets {} of the next tokens right at {} tokens, with a loss of {:.3f} nats a token",
                                 colored(line), percent((*far)["accuracy"]), far->length(), (*far)["loss"]);
  if (near && near != far)
    text += fmt::format(", against {} and {:.3f} at the trained length, {}", percent((*near)["accuracy"]),
                        (*near)["loss"], near->length());
  return text;
}

std::string scrolled(const char* label, const std::string& table) {
  return fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n{}</div>\n", label,
                     table);
}

std::string column(const std::string& name) { return fmt::format("<th scope=\"col\">{}</th>", name); }

}  // namespace

std::string language_reading(const Group& g) {
  std::vector<const Line*> all;
  for (const Line& line : g.lines) all.push_back(&line);
  const auto far_loss = [](const Line* line) { return (*tested_at(*line, line->longest(), false))["loss"]; };
  std::stable_sort(all.begin(), all.end(), [&](auto* a, auto* b) { return far_loss(a) < far_loss(b); });
  std::string text = fmt::format("<b>{}.</b> {}", heading(g), said_of(*all.front()));
  if (all.size() > 1) text += fmt::format("; {}", said_of(*all.back()));
  if (all.size() == 3) text += "; the other is between them in loss";
  if (all.size() > 3) text += fmt::format("; the {} others are between them in loss", all.size() - 2);
  return text + ".";
}

std::string language_table(const std::vector<Group>& groups) {
  std::string rows;
  for (const Group& g : groups)
    for (const Line& line : g.lines) {
      const auto& record = line.first().record;
      rows += fmt::format("<tr><th scope=\"row\">{}{}<small>{}</small></th>", mark(line), escape(line.name),
                          escape(line.runs.size() > 1 ? line.seeds() : line.first().place()));
      if (groups.size() > 1) rows += cell("text", "text", escape(g.task));
      rows += cell("parameters", "", record.parameters ? fmt::format("{}", *record.parameters) : "–");
      rows += cell("steps/s", "", record.steps_per_second ? fmt::format("{:.1f}", *record.steps_per_second) : "–");
      const Row* near = tested_at(line, line.train_length(), false);
      const Row* far = tested_at(line, line.longest(), false);
      for (const auto& [at, where] : {std::pair{near, "trained"}, {far, "longest"}}) {
        rows += cell(fmt::format("{}: length", where).c_str(), "quiet", at ? fmt::format("{}", at->length()) : "–");
        for (const Measure& m : measures)
          rows += cell(fmt::format("{}: {}", where, m.name).c_str(), m.percent ? "score" : "", shown(at, m));
      }
      rows += cell("repeated", "", shown(tested_at(line, line.longest(), true), measures[0])) + "</tr>\n";
    }
  std::string head = "<th scope=\"col\" class=\"text\">run</th>";
  if (groups.size() > 1) head += "<th scope=\"col\" class=\"text\">text</th>";
  head += column("parameters") + column("steps/s");
  for (int n = 0; n < 2; ++n) {
    head += column("tokens");
    for (const Measure& m : measures) head += column(escape(m.name));
  }
  return scrolled("Table of runs",
                  fmt::format("<table class=\"runs\">\n<thead>\n<tr><td colspan=\"{}\"></td><th colspan=\"4\" "
                              "scope=\"colgroup\"><span>trained length</span></th><th colspan=\"4\" "
                              "scope=\"colgroup\"><span>longest length</span></th><td></td></tr>\n<tr>{}{}</tr>\n"
                              "</thead>\n<tbody>\n{}</tbody>\n</table>\n",
                              groups.size() > 1 ? 4 : 3, head, column("repeated"), rows));
}

std::string language_lengths(const std::vector<Group>& groups) {
  std::string rows, head = "<th scope=\"col\" class=\"text\">run</th>";
  if (groups.size() > 1) head += "<th scope=\"col\" class=\"text\">text</th>";
  head += column("tokens") + "<th scope=\"col\" class=\"text\">set</th>";
  for (const Measure& m : measures) head += column(escape(m.name));
  for (const Group& g : groups)
    for (const Line& line : g.lines)
      for (const Row& at : line.all) {
        rows += fmt::format("<tr><th scope=\"row\">{}{}</th>", mark(line), escape(line.name));
        if (groups.size() > 1) rows += cell("text", "text", escape(g.task));
        rows += cell("tokens", "", fmt::format("{}", at.length()));
        rows += cell("set", "text", at.word("set"));
        for (const Measure& m : measures) rows += cell(m.name, "", shown(&at, m));
        rows += "</tr>\n";
      }
  return "<details><summary>All lengths</summary>" +
         scrolled("All lengths", fmt::format("<table class=\"runs\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody>"
                                             "</table>",
                                             head, rows)) +
         "</details>\n";
}

std::string language_csv(const std::vector<Group>& groups) {
  sweep::Table all{{"text", "name", "seed", "folder"}, {}};
  for (const Group& g : groups)
    for (const Line& line : g.lines)
      for (const TestedRun* run : line.runs) {
        std::istringstream rows(to_csv(run->all));
        std::string row;
        std::getline(rows, row);
        if (all.rows.empty())
          for (const std::string& column : split(row, ',')) all.columns.push_back(column);
        while (std::getline(rows, row)) {
          all.rows.push_back({g.task, line.name, run->seed, run->place()});
          for (const std::string& cell : split(row, ',')) all.rows.back().push_back(cell);
        }
      }
  return sweep::to_csv(all);
}

std::string language_page(const std::vector<Group>& groups, const std::string& notes, const std::string& out) {
  std::string readings, text, against, position, trained;
  Figures figures;
  size_t runs = 0, trainings = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& g = groups[i];
    const std::string seeds =
        g.has_seeds() ? " Strong: the mean over seeds. Faint: single seeds; the band reaches from the lowest to the "
                        "highest."
                      : "";
    readings += fmt::format("<p class=\"reading\">{}</p>\n", language_reading(g));
    text += fmt::format("<p><b>{}</b>: {}.</p>\n", heading(g), escape(g.lines.front().first().text));
    for (const Measure& m : measures)
      for (const bool repeated : {false, true}) {
        const std::string id = fmt::format("length{}-{}-{}", i, &m - measures, int(repeated));
        against += figures.captioned(against_length(g, m, repeated, id),
                                     fmt::format("The mean over all tokens of the windows of each length.{}", seeds));
      }
    for (const Measure& m : {measures[0], measures[1]})
      for (const bool repeated : {false, true}) {
        const std::string id = fmt::format("position{}-{}-{}", i, m.column, int(repeated));
        position += figures.captioned(by_position(g, m, repeated, id), "A point is an eighth of the window." + seeds);
      }
    for (const Line& line : g.lines) runs += line.runs.size(), trainings += !line.first().training.empty();
    if (!trainings) continue;
    trained += figures.losses(
        g, fmt::format("{}", i),
        fmt::format("<b>{}.</b> Mean cross-entropy of a training batch. Faint: single batches{}. Strong: the mean over "
                    "the nearest 4&#8239;% of the run.",
                    heading(g), g.has_seeds() ? " or seeds" : ""));
    trained += figures.captioned(training_accuracy_chart(g, fmt::format("training{}", i)),
                                 "The share of a training batch's tokens that were the most probable one.");
  }
  const TestedRun& first = groups.front().lines.front().first();
  const bool of_one = !first.again.empty() && first.test.empty();  // one model, which one command has tested
  return report_page(groups, out, language_html,
                     {{"title", of_one      ? fmt::format("A language model, tested with {}", counted(runs, "encoding"))
                                : runs == 1 ? "A language model, trained short and tested long"
                                            : fmt::format("{} language models, trained short and tested long", runs)},
                      {"readings", readings + notes},
                      {"table", language_table(groups)},
                      {"lengths", (of_one ? compared_table(groups) : "") + language_lengths(groups)},
                      {"text", text},
                      {"about", about(groups)},
                      {"against", against},
                      {"position", position},
                      {"training", trainings ? training("Training", trained) : ""},
                      {"data", script_safe(figures.data)}});
}

}  // namespace poslab::report
