#include "lab/pages/report/sections.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lab/pages/page/page.h"

namespace poslab {
extern const std::string_view report_html, training_html;
}

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

// Mean over the runs of a figure that some may not have; NaN if none has it.
template <class Value>
double mean_of(const Line& line, const Value& value) {
  std::vector<double> all;
  for (const TestedRun* run : line.runs)
    if (const auto x = value(run->record)) all.push_back(double(*x));
  return mean(all);
}

std::vector<double> scores(const Line& line) {
  std::vector<double> all;
  for (const TestedRun* run : line.runs)
    if (run->record.paper_score) all.push_back(*run->record.paper_score);
  return all;
}

std::string interval_text(const Interval& i, bool sign) {
  if (std::isnan(i.low)) return "";
  return sign ? fmt::format("{} to {}", signed_points(i.low), signed_points(i.high))
              : fmt::format("{} to {}", points(i.low), points(i.high));
}

std::string with_below(const std::string& text, const std::string& below) {
  return below.empty() ? text : fmt::format("<span>{}<small>{}</small></span>", text, below);
}

std::string row(const Line& line, const std::string& task) {
  const std::vector<double> all = scores(line);
  const bool many = line.runs.size() > 1;
  std::string text = fmt::format("<tr><th scope=\"row\">{}{}<small>{}</small></th>", mark(line), escape(line.name),
                                 escape(many ? line.seeds() : line.first().place()));
  if (!task.empty()) text += cell("task", "text", words(task));
  const double steps = mean_of(line, [](const RunRecord& r) { return r.steps; });
  return text + cell("steps", "", std::isnan(steps) ? "–" : fmt::format("{:.0f}", steps)) +
         cell("steps/s", "", fmt::format("{:.1f}", mean_of(line, [](auto& r) { return r.steps_per_second; }))) +
         cell("trained lengths", "", percent(line.accuracy(1, line.train_length()))) +
         cell("paper score", "score", with_below(percent(mean(all)), interval_text(bootstrap(all), false))) +
         cell("released score", "", percent(mean_of(line, [](auto& r) { return r.released_score; }))) +
         cell("chance", "quiet", percent(mean_beyond(line, "chance"))) +
         cell("majority", "quiet", percent(mean_beyond(line, "majority"))) +
         cell("content only", "quiet", percent(mean_beyond(line, "content_only"))) +
         cell("best of each length", "quiet", percent(best_baseline(line))) + "</tr>\n";
}

// The runs behind lines of several seeds, folded away.
std::string single_runs(const std::vector<Group>& groups) {
  std::string rows;
  for (const Group& g : groups)
    for (const Line& line : g.lines)
      if (line.runs.size() > 1)
        for (const TestedRun* run : line.runs)
          rows += fmt::format("<tr><th scope=\"row\">{}{}</th>", mark(line), escape(line.name)) +
                  (groups.size() > 1 ? cell("task", "text", words(g.task)) : "") +
                  cell("seed", "", fmt::format("{}", run->seed)) +
                  cell("paper score", "", percent(run->record.paper_score.value_or(std::nan("")))) +
                  cell("folder", "text", escape(run->place())) + "</tr>\n";
  if (rows.empty()) return "";
  return fmt::format(
      "<details><summary>Single runs</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Single runs\"><table class=\"runs\"><thead><tr><th scope=\"col\" class=\"text\">run</th>{}<th "
      "scope=\"col\">seed</th><th scope=\"col\">paper score</th><th scope=\"col\" class=\"text\">folder</th></tr>"
      "</thead><tbody>\n{}</tbody></table></div></details>\n",
      groups.size() > 1 ? "<th scope=\"col\" class=\"text\">task</th>" : "", rows);
}

}  // namespace

std::string Figures::show(const Chart& chart) {
  data["charts"].push_back(chart_json(chart));
  return figure(chart);
}

std::string Figures::captioned(const Chart& chart, const std::string& words) {
  return fmt::format("<figure>{}<figcaption><b>{}.</b> {}</figcaption></figure>\n", show(chart), escape(chart.title),
                     words);
}

std::string Figures::losses(const Group& g, const std::string& suffix, const std::string& caption) {
  const std::string even = show(loss_chart(g, "loss" + suffix, false)), log = show(loss_chart(g, "log" + suffix, true));
  return fmt::format(
      "<figure><div class=\"even\">{}</div><div class=\"log\">{}</div><figcaption>{}</figcaption></figure>\n", even,
      log, caption);
}

std::string mark(const Line& line) {
  return fmt::format("<i class=\"mark {}\" aria-hidden=\"true\"></i>", color_class(line.color));
}

std::string heading(const Group& g) { return g.has("chance") ? headed(g.task) : escape(g.task); }

std::string cell(const char* name, const char* kind, const std::string& text) {
  return fmt::format("<td class=\"{}\" data-name=\"{}\">{}</td>", kind, name, text);
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

std::string table(const std::vector<Group>& groups) {
  const bool tasks = groups.size() > 1;
  std::string rows;
  for (const Group& g : groups)
    for (const Line& line : g.lines) rows += row(line, tasks ? g.task : "");
  const bool seeds = std::any_of(groups.begin(), groups.end(), [](const Group& g) { return g.has_seeds(); });
  return fmt::format(
      R"(<div class="scroll" tabindex="0" role="region" aria-label="Table of runs">
<table class="runs">
<thead>
<tr><td colspan="{}"></td><th colspan="3" scope="colgroup"><span>accuracy</span></th><th colspan="4"
scope="colgroup"><span>baselines</span></th></tr>
<tr><th scope="col" class="text">run</th>{}<th scope="col">steps</th><th scope="col">steps/s</th><th
scope="col">trained lengths</th><th scope="col">paper score</th><th scope="col">released score</th>
<th scope="col">chance</th><th scope="col">majority</th><th scope="col">content only</th><th
scope="col">best of each length</th></tr>
</thead>
<tbody>
{}</tbody>
</table>
</div>
{}{})",
      tasks ? 4 : 3, tasks ? "<th scope=\"col\" class=\"text\">task</th>" : "", rows, single_runs(groups),
      seeds ? "<p class=\"note\">A row with several seeds has their means; small below the paper score: the 95&#8239;% "
              "interval of the mean, by the bootstrap.</p>\n"
            : "");
}

std::string paired_differences(const std::vector<Group>& groups) {
  std::string rows;
  const char* of_what = groups.front().has("set") ? "text" : "task";
  const auto named = [](const auto& line) { return mark(line) + escape(line.name); };
  int fewest = 1 << 30;
  for (const Group& g : groups)
    for (const Difference& d : differences(g)) {
      if (d.paired.seeds < 2) continue;
      fewest = std::min(fewest, d.paired.seeds);
      rows +=
          fmt::format("<tr><th scope=\"row\">{} − {}</th>{}{}{}{}</tr>\n", named(*d.better), named(*d.worse),
                      groups.size() > 1 ? cell(of_what, "text", heading(g)) : "",
                      cell("difference", d.paired.interval.excludes(0) ? "score" : "", signed_points(d.paired.mean)),
                      cell("95 % interval", "", interval_text(d.paired.interval, true)),
                      cell("paired seeds", "", fmt::format("{}", d.paired.seeds)));
    }
  if (rows.empty()) return "";
  return fmt::format(
      R"(<section aria-labelledby="differences">
<h2 id="differences">Paired differences</h2>
<p>Accuracy at the unseen lengths that both were tested at, in points: the mean over pairs of runs with equal seeds.
Bold: the interval excludes zero.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Paired differences">
<table class="runs"><thead><tr><th scope="col" class="text">runs</th>{}<th scope="col">difference</th><th
scope="col">95&#8239;% interval</th><th scope="col">paired seeds</th></tr></thead><tbody>
{}</tbody></table></div>
<p class="note">{}</p>
</section>
)",
      groups.size() > 1 ? fmt::format("<th scope=\"col\" class=\"text\">{}</th>", of_what) : "", rows,
      about_intervals(fewest));
}

std::string training(const char* heading, const std::string& figures) {
  return filled(training_html, {{"heading", heading}, {"figures", figures}});
}

std::string report_page(const std::vector<Group>& groups, const std::string& out, std::string_view html,
                        std::map<std::string, std::string> parts, std::string_view script) {
  parts["differences"] = paired_differences(groups);
  parts["configuration"] = configuration(groups, out);
  parts["sections"] = filled(html, parts);
  return document(report_html, parts, script);
}

}  // namespace poslab::report
