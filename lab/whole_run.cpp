#include "lab/whole_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/parallel.h"
#include "core/stop.h"
#include "lab/evaluate.h"
#include "lab/interrupt.h"
#include "lab/pictures.h"
#include "lab/progress.h"
#include "lab/result.h"
#include "lab/room.h"
#include "lab/shell.h"
#include "lab/train.h"

namespace poslab {
namespace {

void use_threads_of(const Config& c) {
  if (c.threads > 0) set_threads(c.threads);
}

// What the settings say of the device, or "".
std::string device_of(const Settings& settings) {
  const auto said = std::find_if(settings.rbegin(), settings.rend(), [](auto& s) { return s.first == "device"; });
  return said == settings.rend() ? "" : said->second;
}

std::string test_and_keep(const RunFolder& run, const State& state, std::optional<double> seconds,
                          const char* command) {
  try {
    const std::vector<AtLength> all = evaluate(state);
    write_pictures(run, state);
    write_result(run, state, all, seconds);  // last: a run with a result is complete
    return fmt::format("{}\nall of it is in {}; `poslab report {} -o report.html` draws it",
                       summary(state, all, seconds), run.path(), shell_word(run.path()));
  } catch (const Interrupted& i) {
    throw Interrupted(i.signal,
                      fmt::format("{}; go on with `poslab {} {}`", i.what(), command, shell_word(run.path())));
  }
}

}  // namespace

std::string train_run(const Settings& settings, bool force, Trace* trace) {
  const Config c = configure(of_new_run(settings));
  use_threads_of(c);
  check(c);
  RunFolder::check_free(c.out);
  if (!force) check_room(c);
  if (Progress::shown) fmt::print(log_of_thread(), "{}\n", estimate(c));
  State state(c);
  stop_if_wanted();
  const RunFolder run = RunFolder::create(c.out, state);
  return test_and_keep(run, state, train(run, state, trace), "resume");
}

std::string resume_run(const std::string& path, const Settings& settings, Trace* trace) {
  use_threads_of(configure(settings));
  const RunFolder run = RunFolder::open(path);
  State state = run.load(device_of(settings));
  if (state.adam.step == state.config.steps && std::filesystem::exists(run.file("result.json")))
    return fmt::format("{} is complete: {} steps; `poslab eval {}` tests it again", path, state.adam.step,
                       shell_word(path));
  return test_and_keep(run, state, train(run, state, trace), "resume");
}

std::string test_run(const std::string& path, const Settings& settings) {
  const RunFolder run = RunFolder::open(path);
  State state = run.load(device_of(settings));
  for (auto& [name, text] : settings) set(state.config, option(name), text);
  check(state.config);
  use_threads_of(state.config);
  return test_and_keep(run, state, {}, "eval");
}

}  // namespace poslab
