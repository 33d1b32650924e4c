#include "lab/runs/choice_training.h"

#include <filesystem>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/run_record.h"

namespace poslab {

std::string checkpoint_bytes(const Choices& c, const Params& params, const Adam& adam) {
  return checkpoint_bytes({params, adam, c.whole("seed"), to_toml(c), kind_of(c).format});
}

Choices read_config(const Kind& kind, const RunFolder& run, const Checkpoint& checkpoint) {
  const std::string toml = checkpoint.config();
  if (read_file(run.file("config.toml")) != toml)
    bad_input("{} was changed after the run began; restore it, or train anew with another --out",
              run.file("config.toml"));
  const Choices c = kind.configure(read_toml(toml, run.checkpoint(), kind));
  checkpoint.must_hold(c);
  return c;
}

namespace {

void write_record(const RunFolder& run, const Choices& c, const Params& params, const Adam& adam,
                  std::optional<double> seconds) {
  RunRecord r;
  r.encoding = c["encoding"], r.positions = c["positions"];
  r.parameters = params.count(), r.steps = adam.step;
  add_origin(r, products(c));
  if (seconds) add_clock(r, *seconds);
  write_file(run.file("result.json"), to_json(r, c));
}

}  // namespace

void train(const Kind& kind, const RunFolder& run, const Choices& c, const Params& params, const Adam& adam,
           Trainee& trainee) {
  const int64_t first = adam.step;
  const std::optional<double> seconds = train(
      run,
      {c.whole("steps"), c.whole("checkpoint_every"), c.whole("log_every"), Device::cpu, kind.command("resume").c_str(),
       c.on("keep_checkpoints")},
      trainee);
  // Who only finds it trained has nothing to add, unless the process that trained it ended before it wrote this.
  const bool recorded = std::filesystem::exists(run.file("result.json"));
  if (adam.step > first || !recorded) write_record(run, c, params, adam, seconds);
}

}  // namespace poslab
