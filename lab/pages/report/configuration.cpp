// The settings of the runs, and the commands that make them again.
#include "lab/pages/report/sections.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "lab/files/shell.h"

namespace poslab::report {
namespace {

using namespace page;

std::string shown(const std::optional<std::string>& word) { return word ? escape(*word) : "–"; }
std::string shown(const std::optional<int64_t>& number) { return number ? fmt::format("{}", *number) : "–"; }
std::string shown(const std::optional<double>& number) { return number ? fmt::format("{:.1f}", *number) : "–"; }

// A run is tested by its training, and then under other options.
std::string command_for(const TestedRun& run) {
  if (!run.again.empty()) return escape(run.again + "\n");
  const std::string again = run.folder + "-again";
  if (!run.test.empty()) return escape(test_command(*run.kind, again, {run.test, run.retested}) + "\n");
  return escape(fmt::format("poslab {} --config {} --out {}\n", run.kind->command("train"),
                            shell_path(run.folder + "/config.toml"), shell_path(again)));
}

}  // namespace

std::string configuration(const std::vector<Group>& groups, const std::string& out) {
  std::vector<const Line*> all;
  std::set<std::string> keys, named;
  for (const Group& g : groups)
    for (const Line& line : g.lines) all.push_back(&line);
  for (const Line* line : all)
    for (const TestedRun* run : line->runs)
      for (const auto& [key, value] : run->config) keys.insert(key);
  std::string head, rows, made, folders, trainings, tests;
  // The common value of a line's runs, or all their values.
  const auto row = [&](const std::string& key, auto&& value) {
    std::set<std::string> kinds;
    std::string cells;
    for (const Line* line : all) {
      std::vector<std::string> values;
      for (const TestedRun* run : line->runs)
        if (const std::string one = value(*run); std::find(values.begin(), values.end(), one) == values.end())
          values.push_back(one);
      const std::string text = fmt::format("{}", fmt::join(values, ", "));
      kinds.insert(text), cells += fmt::format("<td class=\"text\">{}</td>", text);
    }
    return fmt::format("<tr{}><th scope=\"row\">{}</th>{}</tr>\n", kinds.size() > 1 ? " class=\"differs\"" : "", key,
                       cells);
  };
  for (const Line* line : all) {
    head += fmt::format("<th scope=\"col\" class=\"text\">{}{}</th>", mark(*line), escape(line->name));
    for (const TestedRun* run : line->runs) {
      if (!named.insert(run->place()).second) continue;  // a T5 has a line for each of its tasks
      (run->test.empty() ? trainings : tests) += command_for(*run);
      const bool checkpoint = !run->again.empty();  // which stays where it is; without a name its page is the command's
      if (run->test.empty() != checkpoint && named.insert("report " + run->folder).second)
        folders += " " + escape(shell_path(checkpoint ? run->folder : run->folder + "-again"));
    }
  }
  for (const std::string& key : keys)
    rows += row(escape(key), [&](const TestedRun& run) {
      const auto it = run.config.find(key);
      return it == run.config.end() ? std::string("–") : escape(it->second);
    });
  made = row("version of poslab", [](const TestedRun& run) { return shown(run.record.version); }) +
         row("commit", [](const TestedRun& run) { return shown(run.record.commit); }) +
         row("threads used", [](const TestedRun& run) { return shown(run.record.threads); }) +
         row("instruction set", [](const TestedRun& run) { return shown(run.record.isa); }) +
         row("seconds of training", [](const TestedRun& run) { return shown(run.record.seconds); });
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Configuration\"><table "
      "class=\"settings\"><thead><tr><th scope=\"col\">made by</th>{0}</tr></thead><tbody>{1}</tbody>"
      "<thead><tr><th scope=\"col\">configuration</th>{0}</tr></thead><tbody>{2}</tbody></table></div>\n"
      "<details{5}><summary>To make the runs and this page again</summary><pre>{3}{4}</pre></details>",
      head, made, rows, trainings + tests,
      folders.empty() ? "" : fmt::format("poslab report{} -o {}", folders, escape(shell_path(out))),
      all.size() <= 2 ? " open" : "");
}

}  // namespace poslab::report
