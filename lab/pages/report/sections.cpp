#include "lab/pages/report/sections.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lab/pages/report/run_about.h"

namespace poslab::report {
namespace {

using namespace page;

// The mean over unseen lengths, or over all lengths if none is unseen.
template <class Value>
double mean_beyond(const Line& line, const Value& value) {
  std::vector<double> at;
  for (const Row& row : line.tested)
    if (row.length() > line.train_length() || line.longest() <= line.train_length()) at.push_back(value(row));
  return mean(at);
}
double mean_beyond(const Line& line, const char* column) {
  return mean_beyond(line, [column](const Row& row) { return row[column]; });
}

// Mean over the runs of a figure that some may lack; NaN if all do.
template <class Value>
double mean_of(const Line& line, const Value& value) {
  std::vector<double> all;
  for (const TestedRun* run : line.runs)
    if (const auto x = value(run->record)) all.push_back(double(*x));
  return mean(all);
}

json score_of(const Line& line) {
  std::vector<double> all;
  for (const TestedRun* run : line.runs)
    if (run->record.paper_score) all.push_back(*run->record.paper_score);
  const Interval i = bootstrap(all);
  return {{"value", mean(all)}, {"low", i.low}, {"high", i.high}};
}

// The runs behind lines of several seeds, folded.
json single_runs(const std::vector<Group>& groups) {
  json rows = json::array();
  const bool many = groups.size() > 1;
  for (const Group& g : groups)
    for (const Line& line : g.lines)
      if (line.runs.size() > 1)
        for (const TestedRun* run : line.runs) {
          json row = row_of(line, many ? &g : nullptr);
          row[0].erase("below");
          append(row, {run->seed, run->record.paper_score.value_or(std::nan("")), run->place()});
          rows.push_back(std::move(row));
        }
  json columns = columns_of(many ? "task" : "");
  append(columns, {column("seed", 0), column("paper score", "percent"), column("folder", nullptr, "text")});
  return folded("Single runs", page::table("Single runs", columns, rows));
}

// A section that describes the tasks and the encodings.
json about(const std::vector<Group>& groups) {
  std::vector<std::string> tasks, encodings;
  for (const Group& g : groups) {
    if (g.has("chance")) tasks.push_back(g.task);
    for (const Line& line : g.lines) encodings.push_back(line.first().encoding);
  }
  return about_section(tasks, encodings);
}

}  // namespace

std::string heading(const Group& g) { return literal(g.has("chance") ? headed(g.task) : g.task); }

std::string colored(const Line& line) { return page::colored(line.name, color_class(line.color)); }

json captioned(Chart chart, const std::string& words) {
  chart.caption = fmt::format("**{}.** {}", literal(chart.title), words);
  return chart_json(chart);
}

json named(const Line& line, const std::string& below) {
  json cell = {{"text", line.name}, {"color", color_class(line.color)}};
  if (!below.empty()) cell["below"] = below;
  return cell;
}

json row_of(const Line& line, const Group* group) {
  json row = json::array({named(line, line.runs.size() > 1 ? line.seeds() : line.first().place())});
  if (group) row.push_back(group->has("chance") ? words(group->task) : group->task);
  return row;
}

json columns_of(const char* group) {
  json columns = json::array({column("run", nullptr, "text")});
  if (*group) columns.push_back(column(group, nullptr, "text"));
  return columns;
}

std::string title(const std::vector<Group>& groups) {
  std::vector<std::string> tasks;
  size_t runs = 0;
  for (const Group& g : groups) {
    tasks.push_back(words(g.task));
    for (const Line& line : g.lines) runs += line.runs.size();
  }
  return fmt::format("Train short, test long: {}", tasks.size() <= 3
                                                       ? fmt::format("{}", fmt::join(tasks, ", "))
                                                       : fmt::format("{} runs of {} tasks", runs, tasks.size()));
}

double best_baseline(const Line& line) {
  return mean_beyond(
      line, [](const Row& row) { return std::max({row["chance"], row["majority"], row["content_only"]}); });
}

json table(const std::vector<Group>& groups) {
  json rows = json::array(), columns = columns_of(groups.size() > 1 ? "task" : "");
  for (const Group& g : groups)
    for (const Line& line : g.lines) {
      json row = row_of(line, groups.size() > 1 ? &g : nullptr);
      append(row, {mean_of(line, [](const RunRecord& r) { return r.steps; }),
                   mean_of(line, [](auto& r) { return r.steps_per_second; }), line.trained(),
                   score_of(line), mean_of(line, [](auto& r) { return r.released_score; }),
                   mean_beyond(line, "chance"), mean_beyond(line, "majority"), mean_beyond(line, "content_only"),
                   best_baseline(line)});
      rows.push_back(std::move(row));
    }
  append(columns, {column("steps", 0), column("steps/s", 1)});
  append_columns(columns, "accuracy",
                 {column("trained lengths", "percent"), column("paper score", "percent", "score"),
                  column("released score", "percent")});
  append_columns(columns, "baselines",
                 {column("chance", "percent", "quiet"), column("majority", "percent", "quiet"),
                  column("content only", "percent", "quiet"), column("best of each length", "percent", "quiet")});
  json parts = json::array({page::table("Table of runs", columns, rows)});
  if (std::none_of(groups.begin(), groups.end(), [](const Group& g) { return g.has_seeds(); })) return parts;
  parts.push_back(single_runs(groups));
  parts.push_back(
      paragraph("A row with several seeds has their means; small below the paper score: the 95\u202f% "
                "interval of the mean, by the bootstrap.",
                "note"));
  return parts;
}

json paired_differences(const std::vector<Group>& groups) {
  json rows = json::array();
  const char* group = groups.size() == 1 ? "" : groups.front().has("set") ? "text" : "task";
  int fewest = 1 << 30;
  for (const Group& g : groups)
    for (const Difference& d : differences(g)) {
      if (d.paired.seeds < 2) continue;
      fewest = std::min(fewest, d.paired.seeds);
      json row = json::array({json::array({named(*d.better), named(*d.worse)})});
      if (*group) row.push_back(g.has("chance") ? headed(g.task) : g.task);
      const Interval& i = d.paired.interval;
      append(row, {{{"value", d.paired.mean}, {"strong", i.excludes(0)}},
                   {{"low", i.low}, {"high", i.high}},
                   d.paired.seeds});
      rows.push_back(std::move(row));
    }
  if (rows.empty()) return nullptr;
  json columns = columns_of(group);
  columns[0]["name"] = "runs";
  append(columns, {column("difference", "signed"), column("95\u202f% interval", "signed"), column("paired seeds", 0)});
  return section(
      "differences", "Paired differences",
      {"Accuracy at the unseen lengths that both were tested at, in points: the mean over pairs of runs with "
       "equal seeds. Bold: the interval excludes zero.",
       page::table("Paired differences", columns, rows), paragraph(about_intervals(fewest), "note")});
}

json document_of(const std::vector<Group>& groups, const std::string& out, const std::string& title, json lead,
                 std::string_view markdown, std::map<std::string, json> parts) {
  parts["about"] = about(groups);
  parts["differences"] = paired_differences(groups);
  parts["configuration"] = configuration(groups, out);
  return {{"command", "report"}, {"title", title}, {"lead", std::move(lead)}, {"sections", sections(markdown, parts)}};
}

}  // namespace poslab::report
