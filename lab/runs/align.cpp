#include "lab/runs/align.h"

#include <fmt/format.h>

#include <climits>
#include <cmath>
#include <filesystem>

#include "core/ascii.h"
#include "core/stop.h"
#include "experiment/build.h"
#include "experiment/config.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/json.h"
#include "lab/files/progress.h"
#include "lab/hub/stored_tensors.h"
#include "lab/runs/output.h"
#include "lab/runs/room.h"
#include "lab/runs/run.h"
#include "lab/runs/t5/questions.h"
#include "lab/runs/unreached.h"

namespace poslab {
namespace {

const char* alignment_format = "poslab alignment 1";

// Four significant digits: a few strings determine no more.
Json number(double x) { return std::isfinite(x) ? Json(ascii::number(fmt::format("{:.4g}", x))) : Json(); }

Json json_of(const Dispersion& d) {
  Json all;
  const auto add = [&](const char* name, double RowMeans::*x) {
    all[name].push_back(number(d.of_model().*x));
    for (int layer = 0; layer < d.layers; ++layer) all[name].push_back(number(d.of_layer(layer).*x));
  };
  add("largest_weight", &RowMeans::largest_weight), add("entropy", &RowMeans::entropy);
  add("largest_logit", &RowMeans::largest_logit), add("variance", &RowMeans::variance);
  return all;
}

std::string to_json(const AlignRequest& r, const Alignment& a) {
  const AlignedTemperatures& t = a.temperatures;
  Json all = {{"format", alignment_format},
              {"mode", align_modes()[size_t(r.how.mode)]},
              {"per", align_groups()[size_t(r.how.per)]},
              {r.hf.empty() ? "run" : "hf", r.hf.empty() ? r.run : r.hf},
              {"model", {{"layers", t.layers}, {"heads", t.heads}, {"weights", t.weights}}},
              {"short", {{"length", r.how.shortest}, {"keys", int64_t(t.shortest)}, {"measured", json_of(a.target)}}}};
  if (!r.hf.empty()) all["task"] = r.task;
  for (const AlignedAt& l : a.lengths) {
    Json taus = Json::array();
    for (const double tau : l.found.tau) taus.push_back(ascii::number(fmt::format("{:.6g}", tau)));
    all["long"].push_back({{"length", l.length},
                           {"keys", int64_t(l.found.keys)},
                           {"temperature", taus},
                           {"unreachable", l.unreachable},
                           {"before", json_of(l.before)},
                           {"after", json_of(l.after)}});
  }
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";  // a path may not be valid UTF-8
}

void check_plain(const std::string& run, const std::string& temperature) {
  if (temperature != "none")
    bad_input(
        "align: {} was trained with temperature = {}, which alignment would replace; align a run that was "
        "trained with none",
        run, temperature);
}

std::vector<int> all_lengths(const Aligning& how) {
  std::vector<int> all = {how.shortest};
  all.insert(all.end(), how.longer.begin(), how.longer.end());
  return all;
}

// use: how the model is used, with `takes` still to be filled in.
Alignment with_bar(const Probed& model, const Aligning& how, Use use, bool force) {
  check(model, how);
  use.takes = alignment_takes(model, how), use.with = fmt::format("--long to {}", how.longer.back());
  begin(use, force);
  std::optional<Progress> progress;
  try {
    return align(model, how, [&](int done, int total, int length) {
      if (!progress) progress.emplace("aligning", "passes", done, total);
      progress->at(done, fmt::format("length {}", length));
      stop_if_requested();
    });
  } catch (const Stopped&) { throw Interrupted(caught_signal(), "stopped while aligning; no file was written"); }
}

Alignment of_run(const AlignRequest& r) {
  const Run run = open_run(r.run, r.device);
  const Learner& l = *run.learner;
  RunSpec test = l.config();
  check_plain(r.run, test["temperature"]);
  if (!r.tasks.empty() && !test.has("tasks")) bad_input("--tasks {}: only a T5 has tasks to choose from", r.tasks);
  if (!r.tasks.empty()) test.set("tasks", r.tasks);
  Alignment made =
      with_bar(l.probed(test, all_lengths(r.how), r.samples, "align"), r.how, use_of(l, "aligning"), r.force);
  made.temperatures.weights = weights_checksum(l.params());
  tell_untrained(test, r.how.shortest, "--short");
  return made;
}

// Alignment of an external checkpoint, on questions like those of `poslab t5 eval --hf`.
Alignment of_checkpoint(const AlignRequest& r) {
  t5::English e = t5::english(r.task, r.questions);
  e.sizes = all_lengths(r.how), e.samples = r.samples;
  e.seed = align_seed;  // a file's questions are the same, but their documents have another order
  t5::check(e);
  const Device there = r.device.empty() ? Device::cpu : device(configure({{"device", r.device}}));
  const t5::HfModel model = t5::open_hf_model(r.hf, there);
  const std::string weights = weights_checksum(map_weights(r.hf));
  Alignment made = with_bar(t5::probed(model, e), r.how, {.what = "aligning", .device = there}, r.force);
  made.temperatures.weights = weights;
  return made;
}

void check_source(const AlignRequest& r) {
  if (r.run.empty() == r.hf.empty())
    bad_input("poslab align takes a run, as in `poslab align runs/first`, or a checkpoint, --hf FOLDER{}",
              r.run.empty() ? "" : "; not both");
  for (const auto& [option, value] : {std::pair{"--task", &r.task}, {"--questions", &r.questions}})
    if (r.hf.empty() && !value->empty())
      bad_input("{} {} goes with --hf; the run {} has its own", option, *value, r.run);
  if (!r.hf.empty() && !r.tasks.empty())
    bad_input("--tasks {} goes with a run; for a checkpoint, give a task in English: --task", r.tasks);
}

}  // namespace

Alignment write_alignment(const AlignRequest& r, const std::string& out) {
  if (std::filesystem::is_directory(out)) bad_input("cannot write {}: it is a folder; choose another path", out);
  check_output("-o", out, {{"", "JSON", "{", alignment_format}});
  check_source(r);
  const Alignment made = r.hf.empty() ? of_run(r) : of_checkpoint(r);
  write_file(out, to_json(r, made));
  return made;
}

namespace {

int count(const Json& in, const char* key) {
  const Json& value = in.at(key);
  const auto n = whole_number(value, INT_MAX);
  if (!n) bad_input("its \"{}\" is {}, not a count", key, in_short(value));
  return int(*n);
}

}  // namespace

AlignedTemperatures read_alignment(const std::string& path) {
  const std::string text = read_input(path);
  try {
    const Json all = parse_json(text, "it");
    if (all.at("format") != alignment_format) throw std::runtime_error("it has another format");
    const Json &model = all.at("model"), &shortest = all.at("short");
    AlignedTemperatures a{count(model, "layers"), count(model, "heads"), model.at("weights"), shortest.at("keys"), {}};
    for (const Json& l : all.at("long")) a.lengths.push_back({l.at("keys"), l.at("temperature")});
    return read_aligned(text_of(a));
  } catch (const Json::exception&) {
    bad_input("{} is not a file of temperatures, or is cut off; `poslab align` writes such files", path);
  } catch (const std::exception& e) {
    bad_input("{} is not a file of temperatures: {}; `poslab align` writes such files", path, e.what());
  }
}

}  // namespace poslab
