#include "lab/runs/origin.h"

#include <algorithm>
#include <regex>

#include "encodings/compose.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/progress.h"
#include "lab/hub/hf_run.h"
#include "lab/hub/stored_tensors.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/own_files.h"

namespace poslab {
namespace {

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether the parameter belongs to the encoding or the temperature, which may differ from the origin's.
bool of_positions(const std::string& parameter) {
  const std::string path = "." + parameter;
  return path.find(".encoding.") != path.npos || path.find(".temperature.") != path.npos;
}

Tensor part(const Tensor& flat, int64_t from, const Shape& shape) {
  return Tensor::from(shape, std::vector<real>(flat.data() + from, flat.data() + from + size_of(shape)));
}

Origin of_run(const Kind& kind, const std::string& path) {
  const RunFolder folder = RunFolder::open(path);
  const std::string bytes = read_file(folder.checkpoint());
  const Checkpoint saved(bytes, folder.checkpoint(), kind);
  Origin o{.path = path, .checksum = checksum_of_bytes(bytes), .step = saved.step()};
  o.config = folder.config(saved, kind);
  std::vector<NamedTensor> all = saved.tensors();  // Adam's moments come last, each as long as all weights together
  const Tensor v = all.back().values, m = all[all.size() - 2].values;
  all.resize(all.size() - 2);
  int64_t at = 0;
  for (const auto& [name, value] : all) {
    o.parameters[name] = {value, part(m, at, value.shape()), part(v, at, value.shape())};
    at += value.size();
  }
  const RunValues spelled = {{"encoding", o.config.scheme.spelled()}, {"temperature", o.config.temperature.spelled()}};
  for (const auto& [name, value] : kept(kind.table(), o.config))
    if (!is_one_of(name, {"preset", "from", "optimizer"}))
      o.settings.emplace_back(name, spelled.contains(name) ? spelled.at(name) : value);
  RunValues model = run_values(o.config);
  const Chosen<Scheme>& scheme = o.config.scheme;
  for (const Chosen<Scheme>& one : scheme->parts ? *scheme->parts : std::vector{scheme})
    for (const char* option : {"base", "pairing"})
      if (one.choices.has(option)) model.emplace(option, one.choices[option]);
  o.complete = [model](const std::string& encoding) {
    RunValues values = model;
    if (encoding == "abf" || encoding.starts_with("abf:")) values.erase("base");        // ABF itself changes the base
    return choose_encoding(encoding, values).spelled();
  };
  return o;
}

Origin of_checkpoint(const Kind& kind, const std::string& path) {
  if (!kind.table().standard.has("text"))
    bad_input("from = {}: a checkpoint of Hugging Face's form, but `poslab {}` begins only with its own runs; name "
              "one", path, kind.command("train"));
  const HfModel model = open_hf_model(path);
  require_trainable(model.config, path);
  Origin o{.path = path, .checksum = weights_checksum(map_weights(path))};
  o.settings = language::settings_of(model.config);
  o.config = RunSpec(kind.configure(o.settings));
  for (const auto& [name, matrix] : model.matrices) o.parameters[name] = {parameter_of(name, matrix)};
  o.complete = [rope = model.config.rope, length = model.config.trained_length](const std::string& encoding) {
    return for_hf_model(encoding, rope, length);
  };
  return o;
}

// Names the option to blame for a missing parameter or another shape: the first of the model or the task that differs.
[[noreturn]] void refuse(const Origin& o, const RunSpec& c, const std::string& parameter, const std::string& shapes) {
  const Kind& kind = kind_of(c);
  for (const char* group : {"Model", "What is studied"})
    for (const ChoiceOption& option : kind.table().options) {
      const std::string& name = option.option.name;
      if (option.group != group || c[name] == o.config[name] ||
          is_one_of(name, {"preset", "from", "encoding", "positions", "temperature", "text", "dropout", "causal"}))
        continue;
      bad_input("{} = {}: {} has {}, and so {} {}; leave {} out, or begin with another model", name, c[name], o.path,
                o.config[name], parameter, shapes, name);
    }
  bad_input("from = {}: its parameter {} {}; begin with another model", o.path, parameter, shapes);
}

using Fates = std::vector<std::pair<std::string, Shape>>;   // of parameters: name and shape
bool has(const Fates& all, const std::string& name) {
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
}

// "block3.attention.query" and the same parameter of other blocks share a line.
std::string rows(const char* fate, const Fates& all) {
  static const std::regex number("block[0-9]+");
  std::vector<std::string> lines;
  for (const auto& [name, shape] : all)
    lines.push_back(fmt::format("{} {}", std::regex_replace(name, number, "block*"), to_string(shape)));
  std::string text;
  while (!lines.empty()) {
    const std::string line = lines[0];
    const size_t times = std::erase(lines, line);
    text += fmt::format("  {:<8} {}{}\n", fate, line, times > 1 ? fmt::format(", {} times", times) : "");
  }
  return text.empty() ? fmt::format("  {:<8} none\n", fate) : text;
}

Json names(const Fates& all) {
  Json list = Json::array();
  for (const auto& [name, shape] : all) list.push_back(name);
  return list;
}

// Takes over the moments of kept parameters, and the step; moments of new parameters begin at 0.
void keep_optimizer(const Origin& o, Learner& learner, const Fates& kept) {
  const Params& params = learner.params();
  Adam& adam = learner.adam();
  std::vector<real> m(size_t(params.count()), 0), v = m;
  for (const auto& [name, x, offset] : params.entries()) {
    if (!has(kept, name)) continue;
    const Origin::Parameter& its = o.parameters.at(name);
    std::copy_n(its.m.data(), its.m.size(), m.begin() + offset);
    std::copy_n(its.v.data(), its.v.size(), v.begin() + offset);
  }
  adam.m.set(m.data()), adam.v.set(v.data());
  adam.step = o.step;
}

}  // namespace

Origin open_origin(const Kind& kind, const std::string& path) {
  return is_hf_folder(path) ? of_checkpoint(kind, path) : of_run(kind, path);
}

Settings settings_from(const Origin& o, const Kind& kind, const Settings& own) {
  Settings above = own;
  // A trial's plan has already filled in all options. Filling them in again would replace a scheme's own default by the
  // origin's.
  const bool completed =
      std::any_of(own.begin(), own.end(), [](auto& s) { return s.first == "preset" && s.second == "none"; });
  for (auto& [name, value] : above) {
    if (name == "encoding" && !completed) value = prefix_errors("from = " + o.path, [&] { return o.complete(value); });
    if (name == "preset" && value != "none")
      bad_input("preset = {} with from = {}: the run takes that model's options; leave out the preset, also in a "
                "file of options, and set only the options that differ", value, o.path);
    if (is_one_of(name, {"merges", "heads"}) && value != o.config[name])   // no shape shows the number of heads
      bad_input("{} = {}: {} has {}, and the new run keeps its {}; leave it out", name, value, o.path, o.config[name],
                name == "merges" ? "tokens" : name);
  }
  return overlaid(kind.table(), o.settings, above);
}

std::string give_weights(const Origin& o, Learner& learner) {
  const RunSpec& c = learner.config();
  const bool keep = c["optimizer"] == "keep";
  if (keep && !o.parameters.begin()->second.m)
    bad_input("optimizer = keep: {} is a checkpoint of Hugging Face's form without an optimizer; leave it out", o.path);
  if (keep && o.step >= c.count("steps"))
    bad_input("steps = {}: with optimizer = keep, training goes on after step {} of {}; give more", c["steps"], o.step,
              o.path);
  Fates kept, made, dropped;
  for (const auto& [name, x, offset] : learner.params().entries()) {
    const auto its = o.parameters.find(name);
    if (its != o.parameters.end() && its->second.value.shape() == x.shape()) {
      x.set(its->second.value.data());
      kept.push_back({name, x.shape()});
      continue;
    }
    const std::string there =
        its == o.parameters.end() ? "is missing there" : "is " + to_string(its->second.value.shape());
    if (!of_positions(name)) refuse(o, c, name, fmt::format("{}, and {} here", there, to_string(x.shape())));
    made.push_back({name, x.shape()});
  }
  for (const auto& [name, its] : o.parameters) {
    if (has(kept, name)) continue;
    if (!of_positions(name)) refuse(o, c, name, fmt::format("is {}, and missing here", to_string(its.value.shape())));
    dropped.push_back({name, its.value.shape()});
  }
  if (keep) keep_optimizer(o, learner, kept);
  tell(log_of_thread(), "begins with {}, step {}, encoding {}; the optimizer {}\n{}{}{}", o.path, o.step,
       o.config.scheme.spelled(), keep ? "goes on" : "is fresh", rows("kept", kept), rows("new", made),
       rows("dropped", dropped));
  return Json{{"from", o.path},           {"step", o.step},    {"checksum", o.checksum}, {"optimizer", c["optimizer"]},
              {"kept", names(kept)},      {"new", names(made)}, {"dropped", names(dropped)}}
             .dump() +
         "\n";
}

std::string origin_of(const std::string& folder) {
  const std::string path = folder + "/origin.json";
  const Json all = try_json(read_file(path));
  if (!all.is_object() || !all.value("checksum", Json()).is_string())
    failure("{} is damaged; restore it from a copy, or train again", path);
  return all["checksum"];
}

}  // namespace poslab
