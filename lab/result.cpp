#include "lab/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lab/config_json.h"
#include "lab/files.h"
#include "lab/version.h"

namespace poslab {
namespace {

using json = nlohmann::ordered_json;

json score_json(const std::optional<Mean>& m) { return m ? json(m->accuracy) : json(nullptr); }

// What training took and what it ran on.
json made(const State& state, std::optional<double> seconds) {
  json made;
  for (auto& [name, word] : about()) made[name] = word;
  made["threads"] = std::stoi(made["threads"].get<std::string>());
  made["seconds"] = seconds ? json(*seconds) : json(nullptr);  // in all processes that worked on the run
  made["steps_per_second"] = seconds ? json(double(state.adam.step) / *seconds) : json(nullptr);
  return made;
}

json made_before(const std::string& path, json made) {
  if (!std::filesystem::exists(path)) return made;
  const json old = json::parse(read_file(path), nullptr, false);
  for (auto& [name, value] : made.items())
    if (old.is_object() && old.contains(name)) value = old[name];
  return made;
}

std::string row(const std::string& what, const Mean& m) {
  return fmt::format("  {:<15}{:>4} .. {:<5}{:9.1f}{:9.1f}{:10.1f}{:14.1f}\n", what, m.from, m.to, 100 * m.accuracy,
                     100 * m.baselines.guess, 100 * m.baselines.majority, 100 * m.baselines.content_only);
}

}  // namespace

std::string to_csv(const std::vector<AtLength>& all) {
  std::string text = "length,accuracy,unmasked_accuracy,loss,samples,guess,majority,content_only\n";
  for (const AtLength& a : all)
    text += fmt::format("{},{:.6f},{:.6f},{:.6g},{},{:.6f},{:.6f},{:.6f}\n", a.length, a.accuracy, a.unmasked_accuracy,
                        a.loss, a.samples, a.baselines.guess, a.baselines.majority, a.baselines.content_only);
  return text;
}

void write_result(const RunFolder& run, const State& state, const std::vector<AtLength>& all,
                  std::optional<double> seconds) {
  const Config& c = state.config;
  const std::string path = run.file("result.json");
  json result;
  for (const char* name : {"task", "encoding", "positions"}) result[name] = get(c, option(name));
  result["parameters"] = state.params.count();
  result["steps"] = state.adam.step;
  const std::optional<Mean> paper = paper_score(c, all);
  result["paper_score"] = score_json(paper);
  result["released_score"] = score_json(released_score(c, all));
  if (paper)
    result["baselines"] = {{"guess", paper->baselines.guess},
                           {"majority", paper->baselines.majority},
                           {"content_only", paper->baselines.content_only}};
  const json how = seconds ? made(state, seconds) : made_before(path, made(state, seconds));
  for (auto& [name, value] : how.items()) result[name] = value;
  result["config"] = config_json(c);
  write_file(run.file("eval.csv"), to_csv(all));
  write_file(path, result.dump(2) + "\n");
}

std::string summary(const State& state, const std::vector<AtLength>& all, std::optional<double> seconds) {
  const Config& c = state.config;
  std::string text = fmt::format("{}, {}, positions {}: {} parameters, {} steps", c.task, c.encoding, c.positions,
                                 state.params.count(), state.adam.step);
  if (seconds) text += fmt::format(", {:.1f} steps/s", double(state.adam.step) / *seconds);
  text += fmt::format("\naccuracy in %, {} strings of each length, positions at test {}, dropout {}\n\n",
                      c.eval_samples, c.test_positions, c.test_dropout ? "on" : "off");
  text += fmt::format("  {:<15}{:<13}{:>8}{:>9}{:>10}{:>14}\n", "", "lengths", "accuracy", "guess", "majority",
                      "content only");
  const int each = (int(all.size()) + 9) / 10, last = all.back().length;
  for (int from = all.front().length, to; from <= last; from = to + 1) {
    const bool trained = from <= c.train_length;
    to = std::min(
        {from + each - 1, last, trained ? c.train_length : last});  // a row never mixes trained and new lengths
    const size_t first = size_t(from - all.front().length), past = size_t(to - all.front().length + 1);
    text += row(trained ? "as in training" : "longer",
                *mean_from({all.begin() + long(first), all.begin() + long(past)}, from));
  }
  text += '\n';
  if (const auto m = paper_score(c, all)) text += row("paper score", *m);
  if (const auto m = released_score(c, all)) text += row("released score", *m);
  return text;
}

}  // namespace poslab
