#include "lab/runs/sweep/plan.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/shell.h"
#include "lab/runs/sweep/named.h"
#include "lab/runs/unreached.h"

namespace poslab::sweep {
namespace {

using nlohmann::ordered_json;
constexpr const char* default_command = "train";  // for plans that name none

Trial read_trial(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == line.npos) bad_input("it is empty; remove it");
  ordered_json all = try_json(line);
  if (!all.is_object() || !all.contains("id"))
    bad_input("this is not a trial; `poslab sweep plan SWEEP.toml > plan.jsonl` writes a plan");
  Trial t;
  t.id = all["id"].dump();
  t.id = t.id.substr(1, t.id.size() - 2);
  for (const auto& [key, field] : {std::pair{"impossible", &t.impossible}, {"name", &t.name}})
    if (all.contains(key)) *field = all[key].is_string() ? all[key].get<std::string>() : all[key].dump();
  if (all.contains("name") && !names_a_file(t.name))
    bad_input("\"{}\" cannot be the name of a link; plan again with `poslab sweep plan`", t.name);
  const auto command = all.value("command", ordered_json(default_command));
  for (const char* key : {"id", "command", "name", "impossible"}) all.erase(key);
  t.run = config_of(kind_of_command(command.is_string() ? command.get<std::string>() : command.dump()), all);
  if (const std::string is = trial_id(t.run); is != t.id)
    bad_input(
        "the id of this configuration is {}, not {}: it was changed, or another version of poslab planned it; "
        "plan again with `poslab sweep plan`",
        is, t.id);
  return t;
}

int whole(std::string_view text) {
  int n = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end == text.data() + text.size() ? n : -1;
}

}  // namespace

const Kind& kind_of(const Plan& plan) { return plan.empty() ? strings_kind() : kind_of(plan.front().run); }

std::string trial_id(const Choices& c) {
  std::string text = kind_of(c).format;
  for (const Option& o : kept_options(kind_of(c)))
    if (c[o.name] != o.standard) text += fmt::format("\n{} = {}", o.name, c[o.name]);
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a of 64 bits
  for (const char byte : text) hash = (hash ^ uint8_t(byte)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

std::vector<std::string> unreached(const Plan& plan) {
  std::vector<std::string> all;
  for (const Trial& t : plan) {
    if (!t.impossible.empty()) continue;
    for (std::string& line : unreached(RunSpec(t.config())))
      if (std::find(all.begin(), all.end(), line) == all.end()) all.push_back(std::move(line));
  }
  return all;
}

std::string plan_lines(const Plan& plan) {
  std::string text;
  for (const Trial& t : plan) {
    ordered_json line = {{"id", t.id}};
    if (const std::string command = kind_of(t.run).command("train"); command != default_command)
      line["command"] = command;
    if (!t.name.empty()) line["name"] = t.name;
    const ordered_json config = config_json(t.run);
    for (auto& [name, value] : config.items()) line[name] = value;
    if (!t.impossible.empty()) line["impossible"] = t.impossible;
    text += line.dump() + "\n";
  }
  return text;
}

Plan read_plan(const std::string& path) { return plan_of(read_input(path), path); }

Plan plan_of(const std::string& all, const std::string& source) {
  if (source.ends_with(".toml"))
    bad_input("{0} describes a sweep and is not a plan; make one with `poslab sweep plan {0} > plan.jsonl`",
              shell_path(source));
  Plan plan;
  std::map<std::string, size_t> lines;
  std::istringstream text(all);
  size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    try {
      plan.push_back(read_trial(line));
      if (const auto [old, fresh] = lines.emplace(plan.back().id, number); !fresh)
        bad_input("line {} is the same trial; remove one of the two", old->second);
      if (const Kind& kind = kind_of(plan.back().run); kind != kind_of(plan))
        bad_input("this is a trial of `poslab {}`, but those before it are of `poslab {}`; a plan has one kind",
                  kind.command("train"), kind_of(plan).command("train"));
    } catch (const BadInput& e) { bad_input("{}, line {}: {}", source, number, e.what()); }
  }
  if (plan.empty()) bad_input("{} holds no trial; `poslab sweep plan` writes a plan", source);
  return plan;
}

// Only the differences between trials are kept: a plan may have a million.
Naming naming(const Plan& plan, const std::set<std::string>& without) {
  std::vector<Values> trials(plan.size());
  if (plan.empty()) return Naming(trials);
  for (const Option& o : kept_options(kind_of(plan))) {
    if (without.count(o.name)) continue;
    const auto value = [&](const Trial& t) { return t.run[o.name]; };
    if (o.name != "preset" && std::all_of(plan.begin(), plan.end(), [&, first = value(plan.front())](const Trial& t) {
          return value(t) == first;
        }))
      continue;
    for (size_t i = 0; i < plan.size(); ++i) trials[i][o.name] = value(plan[i]);
  }
  return Naming(trials, kind_of(plan));
}

Shard read_shard(const std::string& text) {
  const size_t slash = std::min(text.find('/'), text.size() - 1);
  const Shard s{whole(std::string_view(text).substr(0, slash)), whole(std::string_view(text).substr(slash + 1))};
  if (s.of < 1 || s.index < 0 || s.index >= s.of)
    bad_input("--shard {} is not a shard; it takes I/N with I in 0 .. N - 1, as 0/3, 1/3 and 2/3", text);
  return s;
}

std::vector<const Trial*> trials_of(const Plan& plan, Shard shard) {
  std::vector<const Trial*> trials;
  for (size_t line = size_t(shard.index); line < plan.size(); line += size_t(shard.of))
    if (plan[line].impossible.empty()) trials.push_back(&plan[line]);
  return trials;
}

}  // namespace poslab::sweep
