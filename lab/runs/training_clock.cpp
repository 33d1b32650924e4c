#include "lab/runs/training_clock.h"

#include "core/error.h"
#include "lab/files/json.h"

namespace poslab {

TrainingClock::TrainingClock(const RunFolder& run, int64_t step) : lines_(run, "clock.jsonl", step) {
  if (step == 0) before_ = 0;
  if (lines_.before().empty()) return;
  const Json last = try_json(lines_.before());
  if (last["step"] != step) return;
  if (last.contains("seconds") && last["seconds"].is_number()) before_ = last["seconds"];
  if (const Json logs = last.value("logs", Json()); logs.is_object())
    for (const auto& [name, sum] : logs.items())
      if (sum.is_string()) logs_[name] = sum;
}

std::optional<double> TrainingClock::seconds() const {
  if (!before_ || paused_) return before_;
  return *before_ + std::chrono::duration<double>(Clock::now() - start_).count();
}

void TrainingClock::pause() { before_ = seconds(), paused_ = true; }
void TrainingClock::resume() { start_ = Clock::now(), paused_ = false; }

void TrainingClock::check(const RunFolder& run, const Values& logs) const {
  for (const auto& [name, sum] : logs)
    if (const auto then = logs_.find(name); then != logs_.end() && then->second != sum && sum != Checksum().digits())
      failure("{} was changed or belongs to another run: up to the checkpoint its checksum is {}, but {} has {}; "
              "restore it from a copy, or empty it to do without",
              run.file(name), sum, run.file("clock.jsonl"), then->second);
}

void TrainingClock::save(int64_t step, const Values& logs) {
  const std::optional<double> now = seconds();
  lines_.line(
      nlohmann::ordered_json{{"step", step}, {"seconds", now ? nlohmann::json(*now) : nlohmann::json()}, {"logs", logs}}
          .dump());
  lines_.sync();
}

}  // namespace poslab
