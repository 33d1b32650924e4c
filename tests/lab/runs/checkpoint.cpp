// A checkpoint holds the whole state, detects every wrong bit, and never damages the previous one.
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "autograd/ops.h"
#include "experiment/step.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/run_folder.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

void step(State& s) { finish_step(s.config, start_step(s, draw_step(s.config, s.adam.step))); }

State after_steps(int steps) {
  State s(tiny_config());
  for (int i = 0; i < steps; ++i) step(s);
  return s;
}

std::string with_replaced(std::string text, const std::string& old, const std::string& now) {
  const size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), now);
}

}  // namespace

TEST_CASE("checkpoint: a run whose loops grow with the length continues bit for bit") {
  const RunSpec c(configure(overlaid(all_choices(), {{"task", "parity_check"}, {"encoding", "rope"}, {"layers", "1"}},
                                     {{"heads", "2"}, {"d_model", "16"}, {"batch", "4"}, {"train_length", "6"},
                                      {"loops", "length"}, {"steps", "20"}})));
  State s(c);
  for (int64_t n = 0; n < 3; ++n) finish_step(c, start_step(s, draw_step(c, n)));
  State resumed = checkpoint_state(checkpoint_bytes(s), "checkpoint");
  CHECK(resumed.config["loops"] == "length");
  for (State* one : {&s, &resumed}) finish_step(c, start_step(*one, draw_step(c, 3)));
  CHECK(checkpoint_bytes(resumed) == checkpoint_bytes(s));
}

TEST_CASE("a checkpoint gives back the state, and the next step is the same") {
  State s = after_steps(3);
  const std::string bytes = checkpoint_bytes(s);
  State t = checkpoint_state(bytes, "x");
  CHECK(t.adam.step == 3);
  CHECK(to_toml(t.config) == to_toml(s.config));
  CHECK(checkpoint_bytes(t) == bytes);
  step(s), step(t);
  CHECK(checkpoint_bytes(t) == checkpoint_bytes(s));
  CHECK(checkpoint_bytes(t) != bytes);
}

TEST_CASE("a checkpoint is a safetensors file: aligned, without gaps, described by its header") {
  const State s = after_steps(1);
  const std::string bytes = checkpoint_bytes(s);
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  CHECK(length % 8 == 0);
  const auto header = nlohmann::ordered_json::parse(bytes.substr(8, length));
  int64_t at = 0, weights = 0;
  for (auto& [name, about] : header.items()) {
    if (name == "__metadata__") {
      for (auto& [key, value] : about.items()) CHECK(value.is_string());
      continue;
    }
    int64_t size = sizeof(real);
    for (int64_t n : about["shape"]) size *= n;
    CHECK(about["data_offsets"][0].get<int64_t>() == at);
    CHECK(about["data_offsets"][1].get<int64_t>() == at + size);
    at += size;
    if (name.rfind("adam.", 0) != 0) weights += size;
  }
  CHECK(8 + length + uint64_t(at) == bytes.size());
  CHECK(weights == s.params.count() * int64_t(sizeof(real)));
  CHECK(at == 3 * weights);
}

TEST_CASE("a checkpoint with a byte missing or a bit wrong is refused") {
  const std::string bytes = checkpoint_bytes(after_steps(1));
  const auto read = [](const std::string& b) { return refusal([&] { checkpoint_state(b, "run/checkpoint"); }); };
  CHECK(read(bytes) == "");
  int accepted = 0, silent = 0;
  const auto count = [&](const std::string& b) {
    const std::string said = read(b);
    if (said.empty())
      ++accepted;
    else if (!holds(said, "1: run/checkpoint is damaged; restore it from a copy"))
      ++silent;
  };
  for (size_t n = 0; n < bytes.size(); n += n < 200 ? 1 : 131) count(bytes.substr(0, n));
  count(bytes + '\0');
  std::string flipped = bytes;
  for (size_t bit = 0; bit < 8 * bytes.size(); bit += bit < 8 * 120 ? 1 : 331) {
    flipped[bit / 8] ^= char(1 << bit % 8);
    count(flipped);
    flipped[bit / 8] ^= char(1 << bit % 8);
  }
  CHECK(accepted == 0);
  CHECK(silent == 0);
}

TEST_CASE("a checkpoint of another version is refused by name") {
  std::string bytes = with_replaced(checkpoint_bytes(after_steps(0)), "poslab checkpoint 1", "poslab checkpoint 7");
  const size_t at = bytes.find("\"crc32\":\"") + 9;
  bytes.replace(at, 8, "00000000");
  bytes.replace(at, 8, fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size())));
  CHECK(refusal([&] { checkpoint_state(bytes, "old"); }) ==
        "2: old was written by another version of poslab (\"poslab checkpoint 7\"); this one reads \"poslab checkpoint "
        "1\"");
}

TEST_CASE("training that diverges names the step and the learning rate") {
  State s = after_steps(2);
  s.params.at("head.b").data()[0] = real(std::nan(""));
  CHECK(holds(refusal([&] { step(s); }), "1: the loss is nan at step 3 (length "));
  CHECK(holds(refusal([&] { step(s); }), "training has diverged; lower lr (now 0.001)"));
}

TEST_CASE("training whose loss is finite and whose gradient is not stops at that step") {
  State s = after_steps(2);
  const Tensor bias = s.params.at("head.b");
  std::fill(bias.data(), bias.data() + bias.size(), real(0));
  const StepInputs inputs = draw_step(s.config, s.adam.step);
  StepPlan steep = plan(s, inputs);
  const auto logits = steep.parts[0].logits;
  constexpr double most = std::numeric_limits<real>::max();
  steep.parts[0].logits = [&](Trace* trace) { return logits(trace) + bias * most * most; };
  StartedStep started = start_step(s.params, s.adam, steep, s.config);
  const std::string said = refusal([&] { started.finish(s.config, inputs.length); });
  CHECK_MESSAGE(holds(said, "1: the gradient's norm is inf at step 3 (length "), said);
}

TEST_CASE("a run folder is complete, locked, and of this version") {
  const TemporaryFolder folder;
  const std::string path = folder / "runs/deep/r1";
  const State s = after_steps(0);
  {
    const RunFolder run = RunFolder::create(path, s);
    CHECK(checkpoint_bytes(run.load()) == checkpoint_bytes(s));
    CHECK(!std::filesystem::exists(path + ".partial"));
    CHECK(holds(refusal([&] { RunFolder::open(path); }),
                "1: " + path + " is in use by another poslab; wait"));
    CHECK(holds(refusal([&] { RunFolder::create(path, s); }),
                "2: " + path + " exists already; choose another --out, or go on with `poslab resume"));
  }
  CHECK(holds(refusal([&] { RunFolder::open(folder / "none"); }), "2: there is no run folder"));
  CHECK(holds(refusal([&] { RunFolder::open(folder.path); }), "config.toml is missing"));
  CHECK(holds(refusal([&] { RunFolder::create("/proc/poslab", s); }), "2: cannot make the folder /proc/poslab"));
  CHECK(holds(refusal([&] { RunFolder::create("", s); }), "2: which folder"));

  std::optional<RunFolder> open = RunFolder::open(path);
  const RunFolder& run = *open;
  const std::string config = read_file(run.file("config.toml"));
  write_file(run.file("config.toml"), with_replaced(config, "batch = 16", "batch = 17"));
  CHECK(holds(refusal([&] { run.load(); }), "config.toml was changed after the run began"));
  write_file(run.file("config.toml"), config);
  CHECK(refusal([&] { run.load(); }) == "");
  std::filesystem::remove(run.file("metrics.jsonl"));
  open.reset();
  CHECK(holds(refusal([&] { RunFolder::open(path); }), "2: " + path + " is not a run folder, or an incomplete one"));
}

TEST_CASE("metrics continue at the step of the checkpoint") {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder / "r", after_steps(0));
  {
    StepLog m(run, "metrics.jsonl", 0);
    for (int step = 1; step <= 5; ++step) m.line(fmt::format("{{\"step\":{}}}", step));
    m.sync();
  }
  write_file(run.file("metrics.jsonl"),
             read_file(run.file("metrics.jsonl")) + "{\"step\":6,\"lo");  // cut off by a kill
  StepLog m(run, "metrics.jsonl", 3);
  m.line("{\"step\":4,\"again\":1}");
  m.sync();
  CHECK(read_file(run.file("metrics.jsonl")) == "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n{\"step\":4,\"again\":1}\n");
}
