#include "lab/pages/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/error.h"
#include "experiment/config.h"
#include "experiment/strings.h"
#include "lab/files/files.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/pages/report/report.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/whole_run.h"

namespace poslab {
namespace {

namespace fs = std::filesystem;

// The settings of both runs, which differ only in their positions. Steps, batch and learning rate come from the preset
// tiny. Fewer and larger batches would take as long, and leave some seed below the majority baseline.
const Settings both = {{"task", "bucket_sort"},   {"encoding", "rope"},    {"layers", "3"},  {"train_length", "20"},
                       {"steps", "3000"},         {"batch", "32"},         {"lr", "0.0003"}, {"seed", "1"},
                       {"eval_lengths", "1:100"}, {"eval_samples", "128"}};

void say(const std::string& line) {
  if (Progress::shown) tell(log_of_thread(), "{}\n", line);
}

// The options of the run with these positions. Throws BadInput if its folder has a run with other options.
Settings planned(const std::string& folder, const std::string& positions, const Settings& more) {
  Settings standard = both;
  if (positions == "randomized") standard.emplace_back("max_position", "400");   // sequential ones have no pool
  const Settings all =
      overlaid(all_choices(), standard, overlaid(all_choices(), more, {{"positions", positions}, {"out", folder}}));
  const std::string config = folder + "/config.toml";
  if (fs::exists(config) && read_file(config) != to_toml(configure(all)))
    bad_input("{0} is a run with other options, or of another version; use --out with another folder, or rm -r {0}",
              shell_path(folder));
  return all;
}

// The test of the run with these options, which is trained first unless it is complete.
std::vector<AtLength> trained(const Settings& all) {
  const Choices c = configure(all);
  const std::string& folder = c["out"];
  if (fs::exists(folder + "/result.json"))
    say(fmt::format("{0} is complete already; rm -r {0} to train it again", shell_path(folder)));
  else if (fs::exists(folder + "/config.toml"))
    resume_run(folder, {{"threads", c["threads"]}});
  else {
    say(fmt::format("{}: {} with {} positions, trained to length {}", folder, c["task"], c["positions"],
                    c["train_length"]));
    train_run(strings_kind(), all, {}, false);
  }
  return at_lengths(read_test(folder).rows);
}

// A sentence on the means over lengths that training has not seen; "" if there are none.
std::string beyond(const std::vector<AtLength>& plain, const std::vector<AtLength>& randomized, int trained) {
  double sums[3] = {}, lengths = 0;
  for (size_t n = 0; n < std::min(plain.size(), randomized.size()); ++n) {
    if (plain[n].length <= trained) continue;
    const Baselines& b = plain[n].baselines;
    sums[0] += plain[n].accuracy, sums[1] += randomized[n].accuracy, ++lengths;
    sums[2] += std::max({b.chance, b.majority, b.content_only});
  }
  if (lengths == 0) return "";
  for (double& sum : sums) sum *= 100 / lengths;
  return fmt::format(
      "\nOn lengths {} to {}, longer than in training, {:.1f} % of the symbols are right with "
      "plain positions,\nand {:.1f} % with randomized ones. The best baseline of each length gets "
      "{:.1f} %.\n",
      trained + 1, plain.back().length, sums[0], sums[1], sums[2]);
}

}  // namespace

const ChoiceTable& demo_choices() {
  static const ChoiceTable table = [] {
    ChoiceTable made = all_choices();
    std::erase_if(made.options, [](const ChoiceOption& o) {
      return std::set<std::string>{"preset", "positions", "out"}.count(o.option.name);
    });
    for (ChoiceOption& o : made.options)
      for (const auto& [name, value] : both)
        if (o.option.name == name) o.option.standard = value;
    return made;
  }();
  return table;
}

std::string demo(const std::string& folder, const Settings& more) {
  for (const auto& [name, value] : more)
    if (name == "positions")
      bad_input("positions = {}: the two runs of the demo differ in their positions; leave it out", value);
  const std::vector<std::string> runs = {folder + "/demo-plain", folder + "/demo-randomized"};
  const Settings plans[] = {planned(runs[0], "sequential", more), planned(runs[1], "randomized", more)};
  make_folder(folder);
  const std::vector<AtLength> plain = trained(plans[0]), randomized = trained(plans[1]);
  const std::string page = folder + "/demo.html";
  for (const char* ending : {".html", ".csv"}) report::write(runs, folder + "/demo" + ending);
  std::string table =
      "accuracy in %                        baselines:\n"
      "length     plain  randomized    chance  majority  content only\n";
  for (size_t n = 0; n < std::min(plain.size(), randomized.size()); ++n)
    if (const AtLength& row = plain[n]; row.length % 10 == 0 || plain.size() < 10)
      table += fmt::format("{:6} {:9.1f} {:11.1f} {:9.1f} {:9.1f} {:13.1f}\n", row.length, 100 * row.accuracy,
                           100 * randomized[n].accuracy, 100 * row.baselines.chance, 100 * row.baselines.majority,
                           100 * row.baselines.content_only);
  return fmt::format(
      "{}{}\nThe page, with curves, position matrices and attention maps: {}\n"
      "The numbers of its first figure: demo.csv beside it",
      table, beyond(plain, randomized, configure(plans[0]).whole("train_length")),
      fs::absolute(page).lexically_normal().string());
}

}  // namespace poslab
