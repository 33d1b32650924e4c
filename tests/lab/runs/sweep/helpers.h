// For tests of lab/runs/sweep/: a plan of short trials, and the files of a sweep without clock times.
#pragma once
#include <nlohmann/json.hpp>
#include <set>

#include "lab/runs/sweep/state.h"
#include "tests/lab/helpers.h"

namespace poslab::test {

using namespace sweep;

inline const std::string tiny_sweep = R"(task = "reverse_string"
encoding = "relative"
layers = 1
d_model = 16
batch = 8
train_length = 6
checkpoint_every = 20
log_every = 5
eval_lengths = "1:9"
eval_samples = 8
)";

struct Sweep {
  Sweep(const TemporaryFolder& folder, const std::string& more)
      : file(folder / "plan.jsonl"), plan(make_plan(tiny_sweep + more, "sweep.toml")) {
    write_file(file, plan_lines(plan));
  }
  std::string run(const std::string& out, const std::string& more = "") const {
    return fmt::format("sweep run {} --out {} --threads 1 {}", file, out, more);
  }
  std::string file;
  Plan plan;
};

// All files of a run except clock.jsonl, one after the other, with their names.
inline std::string contents(const std::string& run) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(run)) names.insert(entry.path().filename());
  std::string all;
  names.erase("clock.jsonl");
  for (const std::string& name : names) {
    std::string text = read_file(run + "/" + name);
    if (name == "result.json") {
      nlohmann::ordered_json result = nlohmann::ordered_json::parse(text);
      for (const char* clock : {"seconds", "steps_per_second"}) result.erase(clock);
      text = result.dump();
    }
    all += name + "\n" + text;
  }
  return all;
}

}  // namespace poslab::test
