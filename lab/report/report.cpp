#include "lab/report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/files.h"
#include "lab/page/page.h"
#include "lab/report/sections.h"

namespace poslab {
extern const std::string_view report_html, report_js;
}

namespace poslab::report {
namespace {

using namespace page;
constexpr int palette = 8;  // colors in page.css

std::vector<Group> by_task(const std::vector<Run>& runs) {
  std::vector<Group> groups;
  for (const Run& run : runs) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.task == run.task; });
    if (group == groups.end()) group = groups.insert(group, {run.task, {}});
    group->members.push_back({&run, int(&run - runs.data()) % palette});
  }
  return groups;
}

}  // namespace

void write(const std::vector<std::string>& folders, const std::string& out) {
  const std::vector<Run> runs = read_runs(folders);
  const std::vector<Group> groups = by_task(runs);
  std::string readings, accuracy, loss;
  nlohmann::json data = {{"charts", nlohmann::json::array()}, {"runs", nlohmann::json::array()}};
  const auto show = [&](const Chart& chart) {
    data["charts"].push_back(chart_json(chart));
    return figure(chart);
  };
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& g = groups[i];
    readings += fmt::format("<p class=\"reading\">{}</p>\n", reading(g));
    accuracy += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n",
                            show(accuracy_chart(g, fmt::format("accuracy{}", i))), accuracy_caption(g));
    loss += fmt::format(
        "<figure><div class=\"even\">{}</div><div class=\"log\">{}</div><figcaption><b>{}.</b> Mean cross-entropy of a "
        "training batch. "
        "Faint: single batches, whose lengths vary. Strong: the mean over the nearest 4&#8239;% of the "
        "run.</figcaption></figure>\n",
        show(loss_chart(g, fmt::format("loss{}", i), false)), show(loss_chart(g, fmt::format("log{}", i), true)),
        headed(g.task));
    for (const Member& m : g.members)
      data["runs"].push_back({{"name", m.run->name},
                              {"task", m.run->task},
                              {"color", m.color},
                              {"folder", m.run->folder},
                              {"pictures", m.run->pictures}});
  }
  write_file(out, document(report_html,
                       {{"title", title(groups)},
                        {"readings", readings},
                        {"rows", table(groups)},
                        {"about", about(groups)},
                        {"accuracy", accuracy},
                        {"loss", loss},
                        {"configuration", configuration(groups, out)},
                        {"data", script_safe(data)}},
                       report_js));
}

}  // namespace poslab::report
