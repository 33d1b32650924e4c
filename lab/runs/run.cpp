#include "lab/runs/run.h"

#include <algorithm>
#include <filesystem>

#include "core/profile.h"
#include "core/stop.h"
#include "experiment/build.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/hub/hf_run.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/room.h"
#include "lab/runs/unreached.h"

namespace poslab {
namespace {

// config.toml is there to be read, and what a checkpoint says counts: who changed the one is told so. A run may move to
// another device.
void must_be_unchanged(const RunFolder& run, const Kind& kind, const Choices& c) {
  const std::string path = run.file("config.toml");
  Choices written = kind.configure(read_toml(read_file(path), path, kind));
  written.set("device", c["device"]);
  if (to_toml(written) != to_toml(c))
    bad_input("{} was changed after the run began; restore it, or train anew with another --out", path);
}

}  // namespace

std::string checkpoint_bytes(const Learner& l) {
  const Choices& c = l.config();
  return checkpoint_bytes({l.params(), l.adam(), c.count("seed"), to_toml(c), kind_of(c).format});
}

Run create_run(const RunSpec& c) {
  const Kind& kind = kind_of(c);
  kind.check(c);
  RunFolder::check_free(c["out"]);
  const NewText text = new_text(c);
  std::unique_ptr<Learner> learner = kind.make(c, text.source);
  stop_if_wanted();
  const RunFolder folder = RunFolder::create(c["out"], c, checkpoint_bytes(*learner), text.files);
  if (Progress::shown) tell(log_of_thread(), "{}\n", estimate(c));
  tell_unreached(c.scheme, sampler(c), kind.longest(c));
  if (!text.summary.empty()) tell(stderr, "{}{} parameters\n", text.summary, learner->params().count());
  return {folder, std::move(learner)};
}

Run open_run(const std::string& path, const std::string& device, const Kind* of,
             const std::function<void(const RunSpec&)>& before) {
  const RunFolder folder = RunFolder::open(path);
  const Kind& kind = of ? *of : kind_of_folder(folder.path());
  const Checkpoint saved(read_file(folder.checkpoint()), folder.checkpoint(), kind);
  RunSpec c = kind.configure(read_toml(saved.config(), folder.checkpoint(), kind));
  if (!device.empty()) c.move_to(device);
  must_be_unchanged(folder, kind, c);
  if (before) before(c);
  std::unique_ptr<Learner> learner = kind.make(c, text_again(folder, c));
  saved.read_into(learner->params(), learner->adam());
  return {folder, std::move(learner)};
}

void refuse_device_of_checkpoint(const std::string& device, const std::string& folder) {
  if (!device.empty() && device != "cpu")
    bad_input("--device {}: {} is a checkpoint of Hugging Face's form, and these are on the cpu", device, folder);
}

Opened open_model(const std::string& folder, const std::string& device, const std::optional<std::string>& text) {
  if (!is_hf_folder(folder)) {
    Run run = open_run(folder, device);
    return {std::move(run.learner), run.folder, text.value_or("")};
  }
  refuse_device_of_checkpoint(device, folder);
  constexpr int usual = 256;
  const bool path = text && !text->empty() && std::filesystem::exists(*text);
  const Settings asked = path ? Settings{{"text", *text}} : Settings{};
  const language::HfRun run = language::open_hf_run(folder, asked, text.has_value());
  return {language::learner_of(run), std::nullopt, path ? "" : text.value_or(""),
          std::min(usual, run.config.whole("train_length"))};
}

Taken taken_by(const std::vector<TestPart>& parts) {
  Taken all;
  for (const TestPart& part : parts) all.then(part.takes);
  return all;
}

Results evaluate(const std::vector<TestPart>& parts, const std::string& again, Device device) {
  double all = 0, done = 0;
  for (const TestPart& part : parts) all += part.tokens;
  Profile profile("testing", "part", device);
  Progress progress("testing", "tokens", 0, int64_t(all));
  Results rows;
  for (const TestPart& part : parts) {
    progress.at(int64_t(done), part.words);
    try {
      rows.push_back(part.row());
      stop_if_wanted();
    } catch (const Stopped&) {
      throw Interrupted(caught_signal(), fmt::format("stopped in the test; `{}` does it again", again));
    }
    profile.next();
    done += part.tokens;
    progress.at(int64_t(done), fmt::format("{}  accuracy {:5.1f} %", part.words, 100 * rows.back()["accuracy"]));
  }
  return rows;
}

}  // namespace poslab
