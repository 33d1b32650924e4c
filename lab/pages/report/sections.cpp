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

// A figure's values, from the runs that have it.
template <class X>
std::vector<double> figures_of(const Line& line, std::optional<X> RunRecord::*figure) {
  std::vector<double> all;
  for (const TestedRun* run : line.runs)
    if (const auto& x = run->record.*figure) all.push_back(double(*x));
  return all;
}
template <class X>
Field mean_field(json column, std::optional<X> RunRecord::*figure) {
  return {std::move(column), [figure](const Line& line) -> json { return mean(figures_of(line, figure)); }};
}

json score_of(const Line& line) {
  const std::vector<double> all = figures_of(line, &RunRecord::paper_score);
  const Interval i = bootstrap(all);
  return {{"value", mean(all)}, {"low", i.low}, {"high", i.high}};
}

// The runs behind lines of several seeds, folded.
json single_runs(const std::vector<Group>& groups) {
  json rows = json::array(), columns = columns_of(groups);
  for (const Group& g : groups)
    for (const Line& line : g.lines)
      for (const TestedRun* run : line.runs) {
        if (line.runs.size() == 1) continue;
        rows.push_back(row_of(line, g, groups));
        rows.back()[0].erase("below");
        append(rows.back(), {run->seed, run->record.paper_score.value_or(std::nan("")), run->place()});
      }
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

json row_of(const Line& line, const Group& g, const std::vector<Group>& groups) {
  json row = json::array({named(line, line.runs.size() > 1 ? line.seeds() : line.first().place())});
  if (groups.size() > 1) row.push_back(g.has("chance") ? words(g.task) : g.task);
  return row;
}

json columns_of(const std::vector<Group>& groups) {
  json columns = json::array({column("run", nullptr, "text")});
  if (groups.size() > 1) columns.push_back(column(groups[0].has("bits_per_byte") ? "text" : "task", nullptr, "text"));
  return columns;
}

json table_of_lines(const std::vector<Group>& groups, const std::vector<Field>& fields) {
  json rows = json::array(), columns = columns_of(groups);
  for (const Field& field : fields) columns.push_back(field.column);
  for (const Group& g : groups)
    for (const Line& line : g.lines) {
      rows.push_back(row_of(line, g, groups));
      for (const Field& field : fields) rows.back().push_back(field.cell(line));
    }
  return page::table("Table of runs", columns, rows);
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
  return mean_beyond(line, [](const Row& row) {
    return std::max({row["chance"], row["majority"], row["content_only"]});
  });
}

json table(const std::vector<Group>& groups) {
  const auto share = [](const char* name, const char* kind, const char* group) {
    return column(name, "percent", kind, group);
  };
  const auto baseline = [&](const char* name, const char* column) -> Field {
    return {share(name, "quiet", "baselines"), [column](const Line& l) -> json { return mean_beyond(l, column); }};
  };
  json parts = json::array({table_of_lines(
      groups, {mean_field(column("steps", 0), &RunRecord::steps),
               mean_field(column("steps/s", 1), &RunRecord::steps_per_second),
               {share("trained lengths", "", "accuracy"), [](const Line& line) -> json { return line.trained(); }},
               {share("paper score", "score", "accuracy"), score_of},
               mean_field(share("released score", "", "accuracy"), &RunRecord::released_score),
               baseline("chance", "chance"),
               baseline("majority", "majority"),
               baseline("content only", "content_only"),
               {share("best of each length", "quiet", "baselines"), best_baseline}})});
  if (std::none_of(groups.begin(), groups.end(), [](const Group& g) { return g.has_seeds(); })) return parts;
  parts.push_back(single_runs(groups));
  parts.push_back(
      paragraph("A row with several seeds shows their means; small, below the paper score: the 95\u202f% "
                "interval of the mean, by the bootstrap.",
                "note"));
  return parts;
}

json paired_differences(const std::vector<Group>& groups) {
  json rows = json::array(), columns = columns_of(groups);
  int fewest = 1 << 30;
  for (const Group& g : groups)
    for (const Difference& d : differences(g)) {
      if (d.paired.seeds < 2) continue;
      fewest = std::min(fewest, d.paired.seeds);
      const Interval& i = d.paired.interval;
      rows.push_back(row_of(*d.better, g, groups));
      rows.back()[0] = json::array({named(*d.better), named(*d.worse)});
      append(
          rows.back(),
          {{{"value", d.paired.mean}, {"strong", i.excludes(0)}}, {{"low", i.low}, {"high", i.high}}, d.paired.seeds});
    }
  if (rows.empty()) return nullptr;
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
