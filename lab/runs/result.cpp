#include "lab/runs/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "experiment/build.h"
#include "lab/files/files.h"
#include "lab/runs/eval_csv.h"
#include "lab/runs/run_record.h"

namespace poslab {
namespace {

std::optional<double> accuracy(const std::optional<Mean>& m) { return m ? std::optional(m->accuracy) : std::nullopt; }

std::string row(const std::string& what, const Mean& m) {
  return fmt::format("  {:<15}{:>4} .. {:<5}{:9.1f}{:9.1f}{:10.1f}{:14.1f}\n", what, m.from, m.to, 100 * m.accuracy,
                     100 * m.baselines.chance, 100 * m.baselines.majority, 100 * m.baselines.content_only);
}

}  // namespace

void write_result(const RunFolder& run, const State& state, const std::vector<AtLength>& all,
                  std::optional<double> seconds, const OtherTest& test) {
  const Choices& c = state.config;
  const std::string path = run.file("result.json");
  const std::optional<Mean> paper = paper_score(c, all);
  RunRecord r;
  r.task = c["task"], r.encoding = c["encoding"], r.positions = c["positions"];
  r.parameters = state.params.count(), r.steps = state.adam.step;
  r.paper_score = accuracy(paper), r.released_score = accuracy(released_score(c, all));
  if (paper) r.baselines = paper->baselines;
  add_origin(r, products(c));
  if (!test.name.empty()) return write_other_test(run, test, to_csv(all), r, c);
  if (seconds)
    add_clock(r, *seconds);
  else
    keep_origin(r, record_before(path));
  write_file(run.file("eval.csv"), to_csv(all));
  write_file(path, to_json(r, c));
}

std::string summary(const State& state, const std::vector<AtLength>& all, std::optional<double> seconds) {
  const Choices& c = state.config;
  std::string text = fmt::format("{}, {}, positions {}: {} parameters, {} steps", c["task"], scheme(c).spelled(),
                                 c["positions"], state.params.count(), state.adam.step);
  if (seconds) text += fmt::format(", {:.1f} steps/s", double(state.adam.step) / *seconds);
  text += fmt::format("\naccuracy in %, {} strings of each length, positions at test {}, dropout {}\n\n",
                      c.whole("eval_samples"), c["test_positions"], c.on("test_dropout") ? "on" : "off");
  text += fmt::format("  {:<15}{:<13}{:>8}{:>9}{:>10}{:>14}\n", "", "lengths", "accuracy", "guess", "majority",
                      "content only");
  const int each = (int(all.size()) + 9) / 10, last = all.back().length;
  for (int from = all.front().length, to; from <= last; from = to + 1) {
    const bool trained = from <= c.whole("train_length");
    to = std::min({from + each - 1, last, trained ? c.whole("train_length") : last});  // no row mixes trained and new
    const size_t first = size_t(from - all.front().length), past = size_t(to - all.front().length + 1);
    text += row(trained ? "as in training" : "longer",
                *mean_from({all.begin() + long(first), all.begin() + long(past)}, from));
  }
  text += '\n';
  if (const auto m = paper_score(c, all)) text += row("paper score", *m);
  if (const auto m = released_score(c, all)) text += row("released score", *m);
  if (paper_score(c, all))
    text +=
        "\npaper score: the mean over all lengths beyond the trained ones; released score: without the first of "
        "them\n";
  text += "content only: the same answer in every slot, from how many of each symbol there are\n";
  return text;
}

}  // namespace poslab
