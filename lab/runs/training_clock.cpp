#include "lab/runs/training_clock.h"

#include "lab/files/json.h"

namespace poslab {

TrainingClock::TrainingClock(const RunFolder& run, int64_t step) : lines_(run, "clock.jsonl", step) {
  if (step == 0) before_ = 0;
  if (lines_.before().empty()) return;
  const Json last = try_json(lines_.before());
  if (last["step"] == step && last.contains("seconds") && last["seconds"].is_number()) before_ = last["seconds"];
}

std::optional<double> TrainingClock::seconds() const {
  if (!before_ || paused_) return before_;
  return *before_ + std::chrono::duration<double>(Clock::now() - start_).count();
}

void TrainingClock::pause() { before_ = seconds(), paused_ = true; }
void TrainingClock::resume() { start_ = Clock::now(), paused_ = false; }

void TrainingClock::save(int64_t step) {
  const std::optional<double> now = seconds();
  lines_.line(
      nlohmann::ordered_json{{"step", step}, {"seconds", now ? nlohmann::json(*now) : nlohmann::json()}}.dump());
  lines_.sync();
}

}  // namespace poslab
