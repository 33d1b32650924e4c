#include "lab/pages/report/report.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/pages/page/page.h"
#include "lab/pages/page/print.h"
#include "lab/pages/report/sections.h"
#include "lab/runs/output.h"

namespace poslab {
extern const std::string_view tasks_txt;
}

namespace poslab::report {
namespace {

using namespace page;

std::string figure_of(const std::vector<Group>& groups, const std::string& out, const std::string& width) {
  std::vector<Chart> charts;
  json figures = json::array();
  for (const Group& g : groups) {
    const std::string id = fmt::format("accuracy{}", charts.size());
    charts.push_back(accuracy_chart(g, id));
    figures.push_back(chart_json(charts.back()));
  }
  return out.ends_with(".csv") ? charts_csv(charts) : figure_file(out, figures, width);
}

json tasks_document(const std::vector<Group>& groups, const std::string& out) {
  json lead = json::array(), accuracy = json::array(), losses = json::array(), positions = json::array(),
       attention = json::array();
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& g = groups[i];
    lead.push_back(paragraph(reading(g), "reading"));
    Chart lengths = accuracy_chart(g, fmt::format("accuracy{}", i)), loss = loss_chart(g, fmt::format("loss{}", i));
    lengths.caption = accuracy_caption(g), loss.caption = loss_caption(g);
    accuracy.push_back(chart_json(lengths)), losses.push_back(chart_json(loss));
    for (const Line& line : g.lines) {
      if (!line.first().test.empty()) continue;  // the same model as the run's own line
      // A line is inspected by its first seed.
      const std::string name =
          line.runs.size() > 1 ? fmt::format("{}, seed {}", line.name, line.first().seed) : line.name;
      json run = {{"name", groups.size() > 1 ? fmt::format("{}, {}", words(g.task), name) : name},
                  {"color", color_class(line.color)},
                  {"folder", line.first().place()}};
      positions.push_back(run), attention.push_back(run);
      if (const json& pictures = line.first().pictures; !pictures.is_null()) {
        positions.back()["positions"] = pictures["positions"];
        attention.back()["examples"] = pictures["examples"];
      }
    }
  }
  return document_of(groups, out, title(groups), lead, tasks_txt,
                     {{"table", table(groups)},
                      {"accuracy", accuracy},
                      {"loss", losses},
                      {"positions", json::array({{{"kind", "positions"}, {"runs", positions}}})},
                      {"attention", json::array({{{"kind", "attention"}, {"runs", attention}}})}});
}

bool of_tasks(const std::vector<Group>& groups) { return groups[0].has("chance"); }

std::string page_of(const std::vector<Group>& groups, const std::vector<std::string>& passed, const std::string& out,
                    bool slides) {
  json document = of_tasks(groups) ? tasks_document(groups, out) : language_document(groups, out);
  for (const std::string& one : passed)
    document["lead"].push_back(paragraph(fmt::format("Skipped: {}.", literal(one)), "note"));
  if (!of_tasks(groups)) return file_of(document, {"table", "chart"}, slides);
  return file_of(document, {"table", "chart", "matrix", "report"}, slides);
}

std::string contents_of(const std::vector<Group>& groups, const std::vector<std::string>& passed,
                        const std::string& out, const std::string& width = "", bool slides = false) {
  return is_figure(out) ? figure_of(groups, out, width) : page_of(groups, passed, out, slides);
}

std::vector<TestedRun> read_all(const std::vector<std::string>& words, std::vector<std::string>& passed) {
  const Inputs inputs = find_runs(words);
  one_kind(inputs.runs, "report");
  passed = inputs.passed;
  std::vector<TestedRun> runs;
  for (const std::string& folder : inputs.runs) std::ranges::move(read_runs(folder, passed), std::back_inserter(runs));
  if (runs.empty()) bad_input("report: {}", fmt::join(passed, "; "));
  return runs;
}

const char* const lengths_begin = "text,name,seed,folder,";

// csv: the beginning of a .csv file that may be replaced.
void check(const std::string& out, const std::string& width, const char* csv) {
  std::vector<Output> kinds = figure_outputs("the chart of accuracy alone", "poslab report");
  kinds.push_back({".csv", "its numbers", csv});
  check_output("-o", out, kinds);
  check_figure(out, width);
}

// NAME-lengths.csv next to a page of language models.
std::string lengths_of(const std::string& out) {
  return std::filesystem::path(out).replace_extension().string() + "-lengths.csv";
}
void check_lengths(const std::string& out) { check_output("beside -o", lengths_of(out), {csv_output(lengths_begin)}); }

// Writes the page or picture, and next to a page the rows of eval.csv; rows of an earlier page there are removed.
void write_all(const std::vector<Group>& groups, const std::string& text, const std::string& out) {
  const std::string beside = lengths_of(out);
  const bool lengths = groups[0].has("bits_per_byte") && !is_figure(out);
  if (lengths) check_lengths(out);
  write_file(out, text);
  if (lengths) return write_file(beside, language_csv(groups));
  if (!is_figure(out) && std::filesystem::exists(beside) && read_file(beside).starts_with(lengths_begin))
    std::filesystem::remove(beside);
}

}  // namespace

std::vector<std::string> write(const std::vector<std::string>& words, const std::string& out, const std::string& width,
                               bool slides) {
  if (slides && is_figure(out)) bad_input("--slides with -o {}: slides are a page; use -o slides.html", out);
  check(out, width, "panel,series,");
  std::vector<std::string> passed;
  const std::vector<TestedRun> runs = read_all(words, passed);
  const std::vector<Group> groups = by_task(runs);
  write_all(groups, contents_of(groups, passed, out, width, slides), out);
  return passed;
}

void check_tests_output(const std::string& out) {
  check(out, "", lengths_begin);
  if (!is_figure(out)) check_lengths(out);
}

void write_tests(const std::vector<TestedRun>& runs, const std::string& out) {
  const std::vector<Group> groups = by_task(runs);
  write_all(groups, out.ends_with(".csv") ? language_csv(groups) : contents_of(groups, {}, out), out);
}

std::string text(const std::vector<std::string>& words, const std::string& out) {
  std::vector<std::string> passed;
  const std::vector<TestedRun> runs = read_all(words, passed);
  return contents_of(by_task(runs), passed, out);
}

}  // namespace poslab::report
