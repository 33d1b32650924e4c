#include "lab/runs/whole_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/parallel.h"
#include "core/stop.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/runs/evaluate.h"
#include "lab/runs/pictures.h"
#include "lab/runs/result.h"
#include "lab/runs/room.h"
#include "lab/runs/train.h"
#include "lab/runs/unreached.h"

namespace poslab {
namespace {

void use_threads_of(const Choices& c) {
  if (c.whole("threads") > 0) set_threads(c.whole("threads"));
}

// What the settings say of the device, or "".
std::string device_of(const Settings& settings) {
  const auto said = std::find_if(settings.rbegin(), settings.rend(), [](auto& s) { return s.first == "device"; });
  return said == settings.rend() ? "" : said->second;
}

// again: the command to be typed after an interruption
std::string test_and_keep(const RunFolder& run, const State& state, std::optional<double> seconds,
                          const std::string& again, const OtherTest& other = {}) {
  try {
    const std::vector<AtLength> all = evaluate(state);
    if (other.name.empty()) write_pictures(run, state);
    write_result(run, state, all, seconds, other);  // last: a run with a result is complete
    const std::string where = other.name.empty() ? run.path() : run.file(csv_of_test(other.name));
    return fmt::format("{}\nall of it is in {}; `poslab report {} -o report.html` draws it",
                       summary(state, all, seconds), where, shell_word(run.path()));
  } catch (const Interrupted& i) {
    throw Interrupted(i.signal, fmt::format("{}; go on with `{}`", i.what(), again));
  }
}

std::string to_resume(const RunFolder& run) { return "poslab resume " + shell_word(run.path()); }

}  // namespace

std::string train_run(const Settings& settings, bool force, Trace* trace) {
  const Choices c = configure(of_new_run(settings));
  use_threads_of(c);
  check(c);
  RunFolder::check_free(c["out"]);
  if (!force) check_memory(c);
  if (Progress::shown) fmt::print(log_of_thread(), "{}\n", estimate(c));
  tell_unreached(scheme(c), sampler(c), longest(c));
  State state(c);
  stop_if_wanted();
  const RunFolder run = RunFolder::create(c["out"], state);
  return test_and_keep(run, state, train(run, state, trace), to_resume(run));
}

std::string resume_run(const std::string& path, const Settings& settings, Trace* trace) {
  use_threads_of(configure(settings));
  const RunFolder run = RunFolder::open(path);
  State state = run.load(device_of(settings));
  if (state.adam.step == state.config.count("steps") && std::filesystem::exists(run.file("result.json")))
    return fmt::format("{} is complete: {} steps; `poslab eval {}` tests it again", path, state.adam.step,
                       shell_word(path));
  return test_and_keep(run, state, train(run, state, trace), to_resume(run));
}

Tested test_run(const std::string& path, const Settings& settings, const std::string& called) {
  const RunFolder run = RunFolder::open(path);
  State state = run.load(device_of(settings));
  const Choices own = state.config;
  for (auto& [name, text] : settings) state.config.set(name, text);
  check(state.config);
  use_threads_of(state.config);
  tell_unreached(scheme(state.config), test_sampler(state.config),
                 slots(state.config, state.config.lengths("eval_lengths").to));
  OtherTest other{called, differing(own, state.config)};
  find_name(run, other);
  return {test_and_keep(run, state, {}, test_command(strings_kind(), path, other), other), other.name};
}

}  // namespace poslab
