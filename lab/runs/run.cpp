#include "lab/runs/run.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/profile.h"
#include "core/stop.h"
#include "experiment/build.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_run.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/room.h"
#include "lab/runs/unreached.h"

namespace poslab {

std::string checkpoint_bytes(const Learner& l) {
  const Choices& c = l.config();
  return checkpoint_bytes({l.params(), l.adam(), c.count("seed"), to_toml(c), kind_of(c).format});
}

Run create_run(const RunSpec& c, std::optional<Origin> origin) {
  const Kind& kind = kind_of(c);
  kind.check(c);
  RunFolder::check_free(c["out"]);
  if (const std::string& from = c["from"]; !origin && !from.empty()) origin = open_origin(kind, from);
  NewText text = new_text(c, c["from"]);
  std::unique_ptr<Learner> learner = kind.make(c, text.source);
  if (origin) text.files.emplace_back("origin.json", give_weights(*origin, *learner));
  stop_if_requested();
  const RunFolder folder = RunFolder::create(c["out"], c, checkpoint_bytes(*learner), text.files,
                                             learner->adam().step);
  if (Progress::shown) tell(log_of_thread(), "{}\n", estimate(c));
  tell_unreached(c, origin ? origin->settings : Settings{});
  tell_example(c.scheme, sampler(c));
  if (!text.summary.empty()) tell(stderr, "{}{} parameters\n", text.summary, learner->params().count());
  return {folder, std::move(learner)};
}

namespace {

// Notes that an earlier checkpoint has replaced the last one, so that the shown weights are not the tested ones.
void tell_earlier(const RunFolder& run, const Choices& own, int64_t step) {
  const std::optional<int64_t> tested = record_before(run.path(), own).steps;
  if (tested && *tested != step)
    tell(log_of_thread(),
         "{} is of step {}, but the run was tested at step {}: `poslab resume {}` continues from the checkpoint\n",
         run.checkpoint(), step, *tested, shell_path(run.path()));
}

}  // namespace

Run open_run(const std::string& path, const std::string& device, const Kind* of,
             const std::function<void(const RunSpec&)>& before) {
  const RunFolder folder = RunFolder::open(path);
  const Kind& kind = of ? *of : kind_of_folder(folder.path());
  const Checkpoint saved(read_file(folder.checkpoint()), folder.checkpoint(), kind);
  RunSpec c = folder.config(saved, kind);
  if (!device.empty()) c.move_to(device);
  if (before) before(c);
  std::unique_ptr<Learner> learner = kind.make(c, text_again(folder, c));
  saved.read_into(learner->params(), learner->adam());
  tell_earlier(folder, learner->config(), learner->adam().step);
  return {folder, std::move(learner)};
}

Opened open_model(const std::string& folder, const std::string& device, const std::optional<std::string>& text) {
  if (!is_hf_folder(folder)) {
    Run run = open_run(folder, device);
    return {std::move(run.learner), run.folder, text.value_or("")};
  }
  constexpr int usual = 256;
  const bool path = text && !text->empty() && std::filesystem::exists(*text);
  Settings asked;
  if (path) asked.emplace_back("text", *text);
  if (!device.empty()) asked.emplace_back("device", device);
  const language::HfRun run = language::open_hf_run(folder, asked, text.has_value());
  return {language::learner_of(run), std::nullopt, path ? "" : text.value_or(""),
          std::min(usual, run.config.whole("train_length"))};
}

Taken taken_by(const std::vector<TestPart>& parts) {
  Taken all;
  for (const TestPart& part : parts) all.then(part.takes);
  return all;
}

int longest_of(const std::vector<TestPart>& parts, const Choices& c) {
  double most = 0;
  for (const TestPart& part : parts) most = std::max(most, part.tokens);
  return int(most / c.whole("eval_samples"));
}

Values repeats(const std::vector<TestPart>& parts) {
  Values all;
  for (const TestPart& part : parts)
    if (!part.repeats.empty()) all.emplace(part.words, part.repeats);
  return all;
}

void tell_repeats(const std::string& part, const std::string& what, const char* remedy) {
  tell(log_of_thread(), "{}: {}, so some repeat, and more samples say nothing new; take fewer, or {}\n", part,
       what, remedy);
}

Results evaluate(const std::vector<TestPart>& parts, const std::string& again, Device device) {
  if (Progress::shown)
    for (const auto& [part, what] : repeats(parts))
      tell_repeats(part, what, "a longer text");
  double all = 0, done = 0;
  for (const TestPart& part : parts) all += part.tokens;
  Profile profile("testing", "part", device);
  Progress progress("testing", "tokens", 0, int64_t(all));
  Results rows;
  for (const TestPart& part : parts) {
    progress.at(int64_t(done), part.words);
    try {
      rows.push_back(part.row());
      stop_if_requested();
    } catch (const Stopped&) {
      throw Interrupted(caught_signal(), fmt::format("stopped in the test; `{}` repeats it", again));
    }
    profile.next();
    done += part.tokens;
    progress.at(int64_t(done), fmt::format("{}  accuracy {:5.1f} %", part.words, 100 * rows.back()["accuracy"]));
  }
  return rows;
}

}  // namespace poslab
