#include "lab/run_config.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/names.h"
#include "core/overload.h"
#include "experiment/language/options.h"
#include "lab/files.h"

namespace poslab {
namespace {

constexpr RunKind all_kinds[] = {RunKind::task, RunKind::language};

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
  return {o.name, written_as(o), owned ? owned->words : std::vector<std::string>()};
}
KeptOption kept(const language::RunOption& o) { return {o.option.name, o.option.kind, o.option.words}; }

const std::string& name_of(const RunOption& o) { return o.name; }
const std::string& name_of(const language::RunOption& o) { return o.option.name; }

struct Table {
  std::vector<KeptOption> kept;
  std::vector<std::string> others;  // that are not kept
};
template <class List>
Table table_of(const List& list) {
  Table t;
  for (const auto& o : list)
    if (o.kept)
      t.kept.push_back(kept(o));
    else
      t.others.push_back(name_of(o));
  return t;
}
const Table& table(RunKind kind) {
  static const Table of_tasks = table_of(all_options()), of_language = table_of(language::all_options());
  return kind == RunKind::task ? of_tasks : of_language;
}

const KeptOption* found(RunKind kind, const std::string& name) {
  for (const KeptOption& o : table(kind).kept)
    if (o.name == name) return &o;
  return nullptr;
}

}  // namespace

RunKind kind_of(const RunConfig& c) { return RunKind(c.index()); }

RunKind kind_of_folder(const std::string& path) {
  const std::string file = path + "/config.toml";
  if (!std::filesystem::exists(file)) return RunKind::task;
  return ("\n" + read_file(file)).find("\ntext = ") == std::string::npos ? RunKind::task : RunKind::language;
}

RunKind one_kind(const std::vector<std::string>& folders, const char* command) {
  const RunKind first = kind_of_folder(folders.front());
  for (const std::string& folder : folders)
    if (const RunKind kind = kind_of_folder(folder); kind != first)
      bad_input("{}: {} is of `poslab {}`, and {} of `poslab {}`; a page compares runs of one kind", command,
                folders.front(), train_command(first), folder, train_command(kind));
  return first;
}

const char* train_command(RunKind kind) { return kind == RunKind::task ? "train" : "lm train"; }
const char* resume_command(RunKind kind) { return kind == RunKind::task ? "resume" : "lm resume"; }
const char* last_file(RunKind kind) { return kind == RunKind::task ? "result.json" : "eval.csv"; }

RunKind kind_of_command(const std::string& train) {
  for (const RunKind kind : all_kinds)
    if (train == train_command(kind)) return kind;
  throw BadInput(unknown("command", train, {train_command(RunKind::task), train_command(RunKind::language)}));
}

const std::vector<KeptOption>& kept_options(RunKind kind) { return table(kind).kept; }

const KeptOption& kept_option(RunKind kind, const std::string& name) {
  if (const KeptOption* o = found(kind, name)) return *o;
  const std::vector<std::string>& others = table(kind).others;
  if (std::find(others.begin(), others.end(), name) != others.end())
    bad_input("{} belongs to `poslab sweep run`, not to a trial", name);
  for (const RunKind other : all_kinds)
    if (found(other, name))
      bad_input(
          "{} is an option of `poslab {}`, and these are trials of `poslab {}`; leave it out, or plan a sweep "
          "with command = \"{}\"",
          name, train_command(other), train_command(kind), train_command(other));
  throw BadInput(unknown("option", name, names_of(table(kind).kept)) +
                 fmt::format(" `poslab {} --help` lists all", train_command(kind)));
}

RunConfig configure(RunKind kind, const Settings& settings) {
  if (kind == RunKind::task) return configure(settings);
  return language::configure(settings);
}

void check(const RunConfig& c) {
  std::visit(Overload{[](const Config& of_task) { check(of_task); },
                      [](const Choices& of_language) { language::check(of_language); }},
             c);
}

std::string value_of(const RunConfig& c, const std::string& name) {
  return std::visit(Overload{[&](const Config& of_task) { return get(of_task, option(name)); },
                             [&](const Choices& of_language) { return of_language[name]; }},
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
  const Config* of_task = std::get_if<Config>(&c);
  for (const KeptOption& o : kept_options(kind_of(c)))
    if (!of_task || written(*of_task, option(o.name))) json[o.name] = typed(o, value_of(c, o.name));
  return json;
}

RunConfig config_of(RunKind kind, const nlohmann::ordered_json& json) {
  if (!json.is_object()) bad_input("a configuration is a JSON object, not {}", json.dump());
  Settings settings;
  for (auto& [name, value] : json.items())
    settings.emplace_back(kept_option(kind, name).name, value.is_string() ? value.get<std::string>()
                                                        : value.is_boolean()
                                                            ? std::string(value.get<bool>() ? "on" : "off")
                                                            : value.dump());
  return configure(kind, settings);
}

}  // namespace poslab
