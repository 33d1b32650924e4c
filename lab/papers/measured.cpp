#include "lab/papers/measured.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/error.h"
#include "core/stop.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/json.h"
#include "lab/files/progress.h"
#include "lab/runs/run_folder.h"

namespace poslab::reproduce {
namespace {

using nlohmann::json;

// The numbers of a trial, and its "id", which older files lack.
json known_of(const std::string& path, const std::string& id) {
  json known = std::filesystem::exists(path) ? json(try_json(read_file(path))) : json::object();
  const json of = known.is_object() ? known.value("id", json(id)) : json();
  if (known.is_object()) known.erase("id");
  if (!known.is_object() || !std::all_of(known.begin(), known.end(), [](const json& x) { return x.is_number(); }))
    failure("{} is damaged; remove it, and the model is tested again", path);
  if (of != id) failure("{} belongs to the trial {}; remove it, and the model is tested again", path, in_short(of));
  known["id"] = id;
  return known;
}

template <class Of>
auto unless_stopped(const Of& of) {
  const char* stopped = "stopped while testing for a table; --draw continues with the trained models";
  try {
    auto found = of();
    if (const int signal = caught_signal()) throw Interrupted(signal, stopped);
    return found;
  } catch (const Stopped&) { throw Interrupted(caught_signal(), stopped); }
}

}  // namespace

Json record(const std::string& path, const std::function<Json()>& measure) {
  if (std::filesystem::exists(path)) {
    const Json known = try_json(read_file(path));
    if (!known.is_object()) failure("{} is damaged; remove it, and it is measured again", path);
    return known;
  }
  const Json found = unless_stopped(measure);
  write_file(path, found.dump() + "\n");
  return found;
}

Json by_seed(const BySeed& found) {
  Json all = Json::object();
  for (const auto& [seed, x] : found) all[fmt::format("{}", seed)] = x;
  return all;
}

std::vector<std::vector<BySeed>> measured(const std::string& file, const std::vector<Measuring>& all) {
  int64_t models = 0, done = 0;
  for (const Measuring& m : all) models += int64_t(m.models.size());
  Progress progress("testing", "models", 0, models);
  std::vector<std::vector<BySeed>> found;
  for (const Measuring& setting : all) {
    std::vector<BySeed>& of_setting = found.emplace_back(setting.measures.size());
    for (const Outcome* o : setting.models) {
      const std::string path = o->folder + "/" + file;
      const Choices& c = o->trial->config();
      json known = known_of(path, o->trial->id);
      std::optional<State> state;
      for (size_t n = 0; n < setting.measures.size(); ++n) {
        const Measure& m = setting.measures[n];
        if (!known.contains(m.name)) {
          if (!state) state = RunFolder::open(o->folder).load("cpu");
          progress.at(done, fmt::format("{} {} {}, {}", c["task"], c["encoding"], c["positions"], m.name));
          known[m.name] = unless_stopped([&] { return m.of(*state); });
          write_file(path, known.dump(1));
        }
        of_setting[n][c.count("seed")] = known[m.name];
      }
      progress.at(++done);
    }
  }
  return found;
}

Json counts(const Histogram& histogram) {
  Json all = Json::array();
  for (const auto& [value, count] : histogram) all.push_back({value, count});
  return all;
}

std::vector<int> steps_beyond(int from, int to, int n) {
  std::vector<int> all;
  for (int step = 1; step <= n; ++step)
    if (const int length = from + (to - from) * step / n; length > (all.empty() ? from : all.back()))
      all.push_back(length);
  return all;
}

}  // namespace poslab::reproduce
