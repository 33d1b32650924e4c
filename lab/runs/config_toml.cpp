#include "lab/runs/config_toml.h"

#include <fmt/format.h>

#include "core/overload.h"
#include "lab/runs/toml.h"

namespace poslab {

Settings read_toml(const std::string& text, const std::string& source, RunKind kind) {
  Settings settings;
  for (auto& [key, node] : parse_toml(text, source))
    at_line(source, node, [&, &key = key, &node = node] {
      const std::string name(key.str());
      if (kind == RunKind::task) option(name);  // did you mean
      settings.emplace_back(name, option_text(kind, name, node));
    });
  return settings;
}

namespace {

// A line for each option, below the heading of its group.
class TomlLines {
 public:
  std::string text;
  void add(const std::string& group, const std::string& name, const std::string& written, const std::string& help) {
    if (group_ != group) text += fmt::format("{}# {}\n", group_.empty() ? "" : "\n", group);
    group_ = group;
    text += fmt::format("{:<31} # {}\n", fmt::format("{} = {}", name, written), help);
  }

 private:
  std::string group_;
};

std::string as_number(const std::string& value) {
  return value.find_first_of(".e") == std::string::npos ? value + ".0" : value;
}
std::string as_toggle(const std::string& value) { return value == "on" ? "true" : "false"; }

}  // namespace

std::string to_toml(const Config& c) {
  TomlLines lines;
  for (const RunOption& o : all_options()) {
    if (!written(c, o)) continue;
    const std::string value = get(c, o);
    const std::string written =
        std::visit(Overload{
                       [&](std::string Config::*) { return '"' + value + '"'; },
                       [&](Lengths Config::*) { return '"' + value + '"'; },
                       [&](bool Config::*field) { return as_toggle(c.*field ? "on" : "off"); },
                       [&](const Option&) { return o.toggle() ? as_toggle(value) : '"' + value + '"'; },
                       [&](double Config::*) { return as_number(value); },
                       [&](auto) { return value; },
                   },
                   o.field);
    lines.add(o.group, o.name, written, o.help);
  }
  return lines.text;
}

std::string to_toml(const ChoiceTable& table, const Choices& c) {
  using Kind = Option::Kind;
  TomlLines lines;
  for (const ChoiceOption& o : table.options) {
    if (!written(o, c)) continue;
    const std::string& value = c[o.option.name];
    const Kind kind = o.option.kind;
    const std::string written = kind == Kind::toggle   ? as_toggle(value)
                                : kind == Kind::whole  ? value
                                : kind == Kind::number ? as_number(value)
                                                       : nlohmann::json(value).dump();
    lines.add(o.group, o.option.name, written, o.option.help);
  }
  return lines.text;
}

}  // namespace poslab
