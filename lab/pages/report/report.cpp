#include "lab/pages/report/report.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/pages/page/page.h"
#include "lab/pages/page/print.h"
#include "lab/pages/report/inputs.h"
#include "lab/pages/report/language.h"
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
    charts.push_back(g.has("chance") ? accuracy_chart(g, id) : against_length(g, measures[0], false, id));
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
      // The inspection of a line is of its first seed.
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

// The reports of each kind of run, by Kind::report.
struct Report {
  const char* name;
  json (*document)(const std::vector<Group>&, const std::string& out);
  bool lengths = false;  // in a file beside the page (language_csv)
};
const std::vector<Report> reports = {
    {"tasks", tasks_document}, {"language", language_document, true}, {"t5", t5_document}};
const Report& report_of(const Group& g) { return find("report", reports, g.kind().report); }

std::string page_of(const std::vector<Group>& groups, const std::vector<std::string>& passed, const std::string& out,
                    bool slides) {
  json document = report_of(groups.front()).document(groups, out);
  for (const std::string& one : passed)
    document["lead"].push_back(paragraph(fmt::format("Passed over: {}.", literal(one)), "note"));
  std::vector<std::string_view> modules = {"table", "chart"};
  if (groups.front().has("chance")) modules.insert(modules.end(), {"matrix", "report"});
  return slides ? slides_of(document, modules) : file_of(document, modules);
}

struct Drawn {
  std::vector<TestedRun> runs;
  std::vector<Group> groups;  // lines of these runs; they point to them
  std::vector<std::string> passed;
  std::string text;
};

Drawn draw(const std::vector<std::string>& words, const std::string& out, const std::string& width = "",
           bool slides = false) {
  const Inputs inputs = find_runs(words);
  one_kind(inputs.runs, "report");
  Drawn d;
  d.passed = inputs.passed;
  for (const std::string& folder : inputs.runs)
    for (TestedRun& run : read_runs(folder, d.passed)) d.runs.push_back(std::move(run));
  if (d.runs.empty()) bad_input("report: {}", fmt::join(d.passed, "; "));
  d.groups = by_task(d.runs);
  d.text = is_figure(out) ? figure_of(d.groups, out, width) : page_of(d.groups, d.passed, out, slides);
  return d;
}

}  // namespace

namespace {

const char* const lengths_begin = "text,name,seed,folder,";

// csv: the beginning of a .csv.
void check(const std::string& out, const std::string& width, const char* csv) {
  std::vector<Output> kinds = figure_outputs("the chart of accuracy alone", "poslab report");
  kinds.push_back({".csv", "its numbers", csv});
  check_output("-o", out, kinds);
  check_figure(out, width);
}

// NAME-lengths.csv beside a page of language models.
std::string lengths_of(const std::string& out) {
  return std::filesystem::path(out).replace_extension().string() + "-lengths.csv";
}

std::string lengths_beside(const std::string& out) {
  const std::string csv = lengths_of(out);
  check_output("beside -o", csv, {csv_output(lengths_begin)});
  return csv;
}

}  // namespace

std::vector<std::string> write(const std::vector<std::string>& words, const std::string& out,
                               const std::string& width, bool slides) {
  if (slides && is_figure(out)) bad_input("--slides with -o {}: slides are a page; use -o slides.html", out);
  check(out, width, "panel,series,");
  const Drawn d = draw(words, out, width, slides);
  const bool lengths = report_of(d.groups.front()).lengths && !is_figure(out);
  const std::string csv = lengths ? lengths_beside(out) : "";
  write_file(out, d.text);
  if (lengths) write_file(csv, language_csv(d.groups));
  const std::string other = lengths_of(out);  // from an earlier page of this name, of other runs
  if (!lengths && !is_figure(out) && std::filesystem::exists(other) && read_file(other).starts_with(lengths_begin))
    std::filesystem::remove(other);
  return d.passed;
}

void check_tests_output(const std::string& out) {
  check(out, "", lengths_begin);
  if (!is_figure(out)) lengths_beside(out);
}

void write_tests(const std::vector<TestedRun>& runs, const std::string& out) {
  const std::vector<Group> groups = by_task(runs);
  const std::string csv = language_csv(groups);
  if (out.ends_with(".csv")) return write_file(out, csv);
  write_file(out, is_figure(out) ? figure_of(groups, out, "") : page_of(groups, {}, out, false));
  if (!is_figure(out)) write_file(lengths_beside(out), csv);
}

std::string text(const std::vector<std::string>& words, const std::string& out) { return draw(words, out).text; }

}  // namespace poslab::report
