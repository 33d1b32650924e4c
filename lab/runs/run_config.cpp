#include "lab/runs/run_config.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/names.h"
#include "core/overload.h"
#include "experiment/language/options.h"
#include "experiment/t5/options.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/runs/checkpoint.h"

namespace poslab {
namespace {

Option::Kind written_as(const RunOption& o) {
  using Kind = Option::Kind;
  if (o.toggle()) return Kind::toggle;
  return std::visit(Overload{
                        [](int Config::*) { return Kind::whole; },
                        [](int64_t Config::*) { return Kind::whole; },
                        [](double Config::*) { return Kind::number; },
                        [](const auto&) { return Kind::word; },
                    },
                    o.field);
}

KeptOption kept(const RunOption& o) {
  const Option* owned = std::get_if<Option>(&o.field);
  return {o.name, written_as(o), owned ? owned->words : std::vector<std::string>(), o.newer ? get(Config(), o) : ""};
}
KeptOption kept(const ChoiceOption& o) {
  return {o.option.name, o.option.kind, o.option.words, o.newer ? o.option.standard : ""};
}

const std::string& name_of(const RunOption& o) { return o.name; }
const std::string& name_of(const ChoiceOption& o) { return o.option.name; }

struct Options {
  std::vector<KeptOption> kept;
  std::vector<std::string> others;  // that are not kept
};
template <class List>
Options options_of(const List& list) {
  Options all;
  for (const auto& o : list)
    if (o.kept)
      all.kept.push_back(kept(o));
    else
      all.others.push_back(name_of(o));
  return all;
}

// All that the program knows of a kind of runs.
struct Kind {
  const char *train, *resume, *eval, *last_file, *studied, *format;
  std::vector<std::string> tested;  // options
  Options options;
  RunConfig (*configure)(const Settings&);
  void (*check)(const RunConfig&);
};
const std::vector<Kind>& kinds() {  // in the order of RunKind
  static const std::vector<Kind> all = {
      {"train", "resume", "eval", "result.json", "task", checkpoint_format,
       {"eval_lengths", "eval_samples", "test_positions", "test_temperature", "test_dropout"},
       options_of(all_options()),
       [](const Settings& s) -> RunConfig { return configure(s); },
       [](const RunConfig& c) { check(std::get<Config>(c)); }},
      {"lm train", "lm resume", "lm eval", "eval.csv", "text", language_checkpoint_format,
       {"encoding", "temperature", "eval_times", "eval_samples"},
       options_of(language::all_choices().options),
       [](const Settings& s) -> RunConfig { return language::configure(s); },
       [](const RunConfig& c) { language::check(std::get<Choices>(c)); }},
      {"t5 train", "t5 resume", "t5 eval", "eval.csv", "tasks", t5_checkpoint_format,
       {"tasks", "encoding", "temperature", "eval_lengths", "eval_samples"},
       options_of(t5::all_choices().options),
       [](const Settings& s) -> RunConfig { return t5::configure(s); },
       [](const RunConfig& c) { t5::check(std::get<Choices>(c)); }},
  };
  return all;
}
const Kind& of(RunKind kind) { return kinds()[size_t(kind)]; }

const KeptOption* found(RunKind kind, const std::string& name) {
  for (const KeptOption& o : of(kind).options.kept)
    if (o.name == name) return &o;
  return nullptr;
}

}  // namespace

RunKind kind_of(const RunConfig& c) {
  const Choices* choices = std::get_if<Choices>(&c);
  return !choices ? RunKind::task : choices->has(studied(RunKind::t5)) ? RunKind::t5 : RunKind::language;
}

RunKind kind_of_folder(const std::string& path) {
  const std::string file = path + "/config.toml";
  if (!std::filesystem::exists(file)) return RunKind::task;
  const std::string text = "\n" + read_file(file);
  for (const RunKind kind : {RunKind::t5, RunKind::language})
    if (text.find(fmt::format("\n{} = ", studied(kind))) != std::string::npos) return kind;
  return RunKind::task;
}

RunKind one_kind(const std::vector<std::string>& folders, const char* command) {
  const RunKind first = kind_of_folder(folders.front());
  for (const std::string& folder : folders)
    if (const RunKind kind = kind_of_folder(folder); kind != first)
      bad_input("{}: {} is of `poslab {}`, and {} of `poslab {}`; a page compares runs of one kind", command,
                folders.front(), train_command(first), folder, train_command(kind));
  return first;
}

const char* train_command(RunKind kind) { return of(kind).train; }
const char* resume_command(RunKind kind) { return of(kind).resume; }
const char* eval_command(RunKind kind) { return of(kind).eval; }
const char* last_file(RunKind kind) { return of(kind).last_file; }
const char* studied(RunKind kind) { return of(kind).studied; }
const char* format_of_checkpoints(RunKind kind) { return of(kind).format; }
const std::vector<std::string>& test_options(RunKind kind) { return of(kind).tested; }

RunKind kind_of_command(const std::string& train) {
  std::vector<std::string> known;
  for (const Kind& kind : kinds()) {
    if (train == kind.train) return RunKind(&kind - kinds().data());
    known.push_back(kind.train);
  }
  throw BadInput(unknown("command", train, known));
}

const std::vector<KeptOption>& kept_options(RunKind kind) { return of(kind).options.kept; }

const KeptOption& kept_option(RunKind kind, const std::string& name) {
  if (const KeptOption* o = found(kind, name)) return *o;
  const std::vector<std::string>& others = of(kind).options.others;
  if (std::find(others.begin(), others.end(), name) != others.end())
    bad_input("{} belongs to `poslab sweep run`, not to a trial", name);
  for (const Kind& other : kinds())
    if (found(RunKind(&other - kinds().data()), name))
      bad_input(
          "{} is an option of `poslab {}`, and these are trials of `poslab {}`; leave it out, or plan a sweep "
          "with command = \"{}\"",
          name, other.train, train_command(kind), other.train);
  throw BadInput(unknown("option", name, names_of(kept_options(kind))) +
                 fmt::format(" `poslab {} --help` lists all", train_command(kind)));
}

RunConfig configure(RunKind kind, const Settings& settings) { return of(kind).configure(settings); }
void check(const RunConfig& c) { of(kind_of(c)).check(c); }

std::string value_of(const RunConfig& c, const std::string& name) {
  return std::visit(Overload{[&](const Config& of_task) { return get(of_task, option(name)); },
                             [&](const Choices& choices) { return choices[name]; }},
                    c);
}

Values values_of(const RunConfig& c) {
  Values values;
  for (const KeptOption& o : kept_options(kind_of(c))) values[o.name] = value_of(c, o.name);
  return values;
}

nlohmann::ordered_json typed(const KeptOption& o, const std::string& value) {
  if (o.kind == Option::Kind::toggle) return value == "on";
  if (o.kind == Option::Kind::whole) return std::stoll(value);
  if (o.kind == Option::Kind::number) return std::stod(value);
  return value;
}

nlohmann::ordered_json config_json(const RunConfig& c) {
  nlohmann::ordered_json json;
  for (const KeptOption& o : kept_options(kind_of(c)))
    if (const std::string value = value_of(c, o.name); o.unwritten.empty() || value != o.unwritten)
      json[o.name] = typed(o, value);
  return json;
}

RunConfig config_of(RunKind kind, const nlohmann::ordered_json& json) {
  if (!json.is_object()) bad_input("a configuration is a JSON object, not {}", in_short(json));
  Settings settings;
  for (auto& [name, value] : json.items())
    settings.emplace_back(kept_option(kind, name).name, value.is_string() ? value.get<std::string>()
                                                        : value.is_boolean()
                                                            ? std::string(value.get<bool>() ? "on" : "off")
                                                            : value.dump());
  return configure(kind, settings);
}

}  // namespace poslab
