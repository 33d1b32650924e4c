// Does it help to train with the gaps of longer strings? Uniform sampling against three samplers that have small gaps
// too, on lengths beyond the trained ones.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "lab/files/shell.h"
#include "lab/papers/gap_shift/gap_shift.h"

namespace poslab::reproduce::gap_shift {
namespace {

constexpr int unseen_lengths = 8;

std::vector<int> unseen(const Choices& c) {
  std::vector<int> all;
  const int far = c.lengths("eval_lengths").to - c.whole("train_length");
  for (int n = 1; n <= unseen_lengths; ++n)
    if (const int length = c.whole("train_length") + far * n / unseen_lengths;
        length > (all.empty() ? c.whole("train_length") : all.back()))
      all.push_back(length);
  return all;
}

int few_strings(const Choices& c) { return std::max(1, strings(c) / 4); }

struct Rule {
  std::string name;
  std::string (*positions)(const Choices& run);
};
const std::vector<Rule>& rules() {
  static const std::vector<Rule> list = {{"as trained", [](const Choices&) { return std::string("same"); }},
                                         {"equal steps", even_positions},
                                         {"counted", [](const Choices&) { return std::string("contiguous"); }}};
  return list;
}

struct Tested {
  BySeed trained_length;       // as trained
  std::vector<BySeed> beyond;  // for each rule, the mean over the unseen lengths
};

Tested tested(Tests& tests, const Setting& setting, const Choices& c) {
  Tested t{{}, std::vector<BySeed>(rules().size())};
  if (setting.models.at_lr.empty()) return t;
  const std::vector<int> far = unseen(c);
  std::vector<Test> asked = {{c.whole("train_length"), "same"}};
  for (const Rule& rule : rules())
    for (const int length : far) asked.push_back({length, rule.positions(c)});
  const std::vector<BySeed> accuracy = tests(setting, asked, few_strings(c));
  t.trained_length = accuracy[0];
  auto from = accuracy.begin() + 1;
  for (BySeed& one : t.beyond) one = average({from, from + ptrdiff_t(far.size())}), from += ptrdiff_t(far.size());
  return t;
}

// An accuracy, and how far it is ahead of uniform sampling, which has no such comparison itself.
Value compared(const BySeed& ours, const BySeed& uniform, bool is_uniform, const Summary& models, const At& at) {
  const BySeed reference = is_uniform ? BySeed() : uniform;
  const Paired more = paired(ours, reference);
  Value v = accuracy(ours, &reference);
  for (const double x : {more.mean, more.interval.low, more.interval.high}) v.data.push_back(number(x));
  for (nlohmann::json& baseline : baseline_cells(models, at)) v.data.push_back(std::move(baseline));
  return v;
}

}  // namespace

Section matched(const Outcomes& outcomes, const Choices& defaults) {
  Section s;
  const std::vector<int> far = unseen(defaults);
  if (far.empty()) {
    s.readings = {"No length beyond the trained ones is tested; raise eval_lengths."};
    return s;
  }
  s.data = {
      {"task", "encoding", "trained", "test_positions", "lengths", "seeds", "accuracy", "interval_low", "interval_high",
       "minus_uniform", "difference_low", "difference_high", "chance", "majority", "content_only"},
      {}};
  const std::string range = fmt::format("{} to {}", far.front(), far.back());
  const At is_far = [&](int length) { return std::count(far.begin(), far.end(), length) > 0; };
  const std::vector<Setting> all = settings(outcomes, defaults);
  std::map<std::string, std::vector<std::vector<BySeed>>> ahead;  // of a sampler: for each rule, that of each setting
  Tests tests(all);
  Tested uniform;
  for (const Setting& setting : all) {
    Choices c = on_task(defaults, setting.task);
    c.set("positions", setting.training.positions);
    const Training first = trainings(defaults).front();
    const bool is_uniform = setting.training.positions == first.positions;
    if (s.grids.empty() || !s.grids.back().caption.starts_with(setting.task + ":")) {
      s.grids.push_back(
          {fmt::format("{}: accuracy in %, and minus that of uniform sampling in points with its interval",
                       setting.task),
           {"encoding, trained with", fmt::format("length {}, as trained", c.whole("train_length"))},
           {}});
      for (const Rule& rule : rules()) s.grids.back().head.push_back(fmt::format("{}, {}", range, rule.name));
    }
    const Tested here = tested(tests, setting, c);
    if (is_uniform) uniform = here;
    const Line line{{fmt::format("{}, {}", setting.encoding, setting.training.name), in_one(partly(setting.models))},
                    {setting.task, setting.encoding, setting.training.positions}};
    std::vector<Cell> row = {line.name};
    const auto add_value = [&](const Value& v, const std::string& positions, const std::string& lengths) {
      row.push_back(v.cell);
      add_data(s, line, {{}, {positions, lengths}}, v);
    };
    const int trained = c.whole("train_length");
    add_value(
        compared(here.trained_length, uniform.trained_length, is_uniform, setting.models, within({trained, trained})),
        "same", fmt::format("{}", c.whole("train_length")));
    auto& of_rules = ahead[setting.training.name];
    of_rules.resize(rules().size());
    for (size_t r = 0; r < rules().size(); ++r) {
      add_value(compared(here.beyond[r], uniform.beyond[r], is_uniform, setting.models, is_far),
                rules()[r].positions(c), range);
      if (const BySeed more = difference(here.beyond[r], uniform.beyond[r]); !is_uniform && !more.empty())
        of_rules[r].push_back(more);
    }
    s.grids.back().rows.push_back(std::move(row));
  }
  for (size_t r = 0; r < rules().size(); ++r) {
    std::vector<std::string> said;
    for (const auto& [name, of_rules] : ahead)
      if (!of_rules[r].empty())
        said.push_back(ahead_or_behind(fmt::format("{} ({})", name, counted(of_rules[r].size(), "setting")),
                                       average(of_rules[r])));
    if (!said.empty())
      s.readings.push_back(fmt::format("Lengths {}, {}, against uniform sampling tested alike: {}.", range,
                                       rules()[r].name, fmt::join(said, "; ")));
  }
  if (s.readings.empty()) s.readings.push_back("No comparison can be made of the runs that are done.");
  s.notes = {how_many(outcomes),
             fmt::format("Lengths {}: the mean over {}; {} strings of each.", range, fmt::join(far, ", "),
                         few_strings(defaults)),
             "As trained: the sampler of training. Equal steps: over the whole pool (`evenly_spread`), and for random "
             "floats their published rule (`float_midpoints`). Counted: gap 1 from a random start (`contiguous`).",
             about_intervals(outcomes) +
                 " Bold: the interval of the difference excludes zero. Means over settings are "
                 "taken for each seed first."};
  for (const std::string& task : outcomes.tasks())
    if (const Cell baselines = task_cell(outcomes, task, {is_far}); !baselines.below.empty())
      s.notes.push_back(fmt::format("{}, without reading the order of the symbols, at these lengths: {}.", task,
                                    in_one(baselines.below)));
  s.notes.push_back(
      "Uniform sampling: Ruoss et al. 2023. Random floats: Shimizu, Taniguchi and Matsuo 2026 (arXiv 2602.14050). "
      "Another way to meet longer ranges: Randomized YaRN, Mehta, Yin and Durrett 2026 (arXiv 2606.23687).");
  return s;
}

}  // namespace poslab::reproduce::gap_shift
