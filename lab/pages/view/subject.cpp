#include "lab/pages/view/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/pages/report/run_about.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/naming.h"
#include "lab/runs/own_files.h"
#include "lab/runs/run.h"

namespace poslab::view {
namespace {

// Throws BadInput if a file of checkpoints/ is of another run, or of another step than in its name.
void check_kept(const Checkpoint& kept, const std::string& path, int64_t step, const Choices& own) {
  const Kind& kind = kind_of(own);
  const std::string remedy = "restore the file from a copy, or remove it";
  const Choices its = kind.configure(read_toml(kept.config(), path, kind));
  if (const std::string option = difference(own, its); !option.empty())
    bad_input("{} is of another run: it has {} = {}, and this run {}; {}", path, option, its[option], own[option],
              remedy);
  if (kept.step() != step)
    bad_input("{} is of step {} and should be of {} by its name; {}", path, kept.step(), step, remedy);
}

// The kept checkpoints of a run and the newest one, which the learner has, and functions that load them. Other
// processes may continue the run meanwhile.
void find_checkpoints(Subject& s, const RunFolder& run, const std::shared_ptr<Learner>& learner) {
  std::map<int64_t, std::string> paths = {{learner->adam().step, run.checkpoint()}};
  for (const int64_t step : run.kept_steps()) paths[step] = run.kept_checkpoint(step);
  for (const auto& [step, path] : paths) s.steps.push_back(step);
  s.load = [paths, learner](int64_t step) {
    if (learner->adam().step == step) return;
    const std::string& path = paths.at(step);
    const Checkpoint kept(read_file(path), path, kind_of(learner->config()));
    check_kept(kept, path, step, learner->config());
    kept.read_into(learner->params(), learner->adam());
  };
}

}  // namespace

Subject open(const std::string& folder, const Options& options) {
  const Opened model = open_model(folder, "cpu", options.text);
  const std::shared_ptr<Learner> learner = model.learner;
  const int length = options.length || !model.text.empty() ? options.length : model.usual_length;
  if (const int samples = learner->config().whole("eval_samples"); model.run && options.sample > samples)
    bad_input("--sample {}: the test has {} at each length", options.sample, samples);
  Subject s{learner->sample({length, options.sample, model.text}), folder, "",
            setting_of(values_of(learner->config()))};
  s.heading = s.of.empty() ? heading_of(folder, learner->config()) : s.of;
  if (model.run)
    find_checkpoints(s, *model.run, learner);
  else
    s.steps = {0}, s.load = [learner](int64_t) {}, s.trained_elsewhere = true;
  const auto check = [&](const char* option, const std::vector<int>& asked, int most) {
    for (const int n : asked)
      if (n < 1 || n > most) bad_input("{} {}: {} has 1 to {}", option, n, folder, most);
  };
  check("--layers", options.layers, s.layers);
  check("--heads", options.heads, s.heads);
  for (const int64_t step : options.steps)
    if (!std::count(s.steps.begin(), s.steps.end(), step))
      bad_input("--steps {}: {} has checkpoints of steps {}; a training with --keep-checkpoints keeps all", step,
                folder, fmt::join(s.steps, ", "));
  if (!options.steps.empty()) s.steps = options.steps;
  return s;
}

}  // namespace poslab::view
