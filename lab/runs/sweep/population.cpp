#include "lab/runs/sweep/population.h"

#include <filesystem>
#include <mutex>
#include <thread>

#include "autograd/tape.h"
#include "core/debug.h"
#include "experiment/build.h"
#include "lab/files/exit_status.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/runs/whole_run.h"

namespace poslab::sweep {
namespace {

bool has_begun(const Trial& t, const SweepFolder& folder) { return std::filesystem::exists(folder.run(t)); }

// Joins all threads, even if an exception leaves the scope, like std::jthread, which libc++ 19 does not have.
struct Joined : std::vector<std::thread> {
  ~Joined() {
    for (std::thread& one : *this) one.join();
  }
};

// The trial's tensors are freed before its queue.
void train_one(const Trial& t, const SweepFolder& folder, const Training& how) {
  std::optional<OwnQueue> own;
  if (const Device d = device_of(t, how); d != Device::cpu) own.emplace(d);
  struct ForgetPass {
    ~ForgetPass() { clear_tape(); }              // an error leaves an incomplete tape
  } forget;
  const Settings settings = settings_of(t, folder, how);
  const std::string said = has_begun(t, folder) ? resume_run(folder.run(t), settings, how.force)
                                                : train_run(kind_of(t.run), settings, {}, how.force);
  tell(log_of_thread(), "{}\n", said);
}

// Runs one trial, like the program's main function.
int status_of(const Trial& t, const SweepFolder& folder, const Training& how) {
  std::optional<LogFile> log;
  return exit_status(
      [&] {
        log.emplace(folder.log(t));
        train_one(t, folder, how);
      },
      [](const std::string& text) { tell(log_of_thread(), "poslab: {}\n", text); });
}

}  // namespace

Device device_of(const Trial& t, const Training& how) {
  Choices c = t.config();
  if (!how.device.empty()) c.set("device", how.device);
  return device(c);
}

Settings settings_of(const Trial& t, const SweepFolder& folder, const Training& how) {
  Settings all = {{"threads", fmt::format("{}", how.threads)}};
  if (!how.device.empty()) all.emplace_back("device", how.device);
  if (has_begun(t, folder)) return all;
  all.emplace_back("out", folder.run(t));
  for (const Option& o : kept_options(kind_of(t.run)))
    if (const std::string value = t.run[o.name]; !value.empty() && (o.name != "device" || how.device.empty()))
      all.emplace_back(o.name, value);
  return all;
}

void train_population(const std::vector<const Trial*>& trials, const SweepFolder& folder, const Training& how,
                      const Ended& ended) {
  std::mutex telling;
  const auto train = [&](const Trial& t) {
    if (caught_signal()) return;
    const int status = status_of(t, folder, how);
    const std::lock_guard lock(telling);
    ended(t, status);
  };
  Joined threads;
  for (const Trial* t : trials)
    if (device_of(*t, how) != Device::cpu && debug_level() == 0) threads.emplace_back(train, std::cref(*t));
  for (const Trial* t : trials)
    if (device_of(*t, how) == Device::cpu || debug_level() > 0) train(*t);
}

}  // namespace poslab::sweep
