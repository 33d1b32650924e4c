#include "lab/runs/config_toml.h"

#include <fmt/format.h>

#include "lab/runs/toml.h"

namespace poslab {

Settings read_toml(const std::string& text, const std::string& source, const Kind& kind, SpelledFiles files) {
  Settings settings;
  for (auto& [key, node] : parse_toml(text, source))
    at_line(source, node, [&, &key = key, &node = node] {
      const std::string name = current_name(std::string(key.str()));
      if (!kind.table().standard.has(name)) kept_option(kind, name);  // throws: did you mean
      settings.emplace_back(name, option_text(kind, name, node, files));
    });
  return settings;
}

namespace {

// As TOML: a number keeps its type if it is whole, as 1.0.
std::string as_toml(const Option& o, const std::string& value) {
  using Kind = Option::Kind;
  if (o.kind == Kind::toggle) return value == "on" ? "true" : "false";
  if (o.kind == Kind::whole) return value;
  if (o.kind == Kind::number) return value.find_first_of(".e") == std::string::npos ? value + ".0" : value;
  return nlohmann::json(value).dump();
}

}  // namespace

std::string to_toml(const Choices& c) {
  std::string text, group;
  for (const ChoiceOption& o : kind_of(c).table().options) {
    if (!written(o, c)) continue;
    if (group != o.group) text += fmt::format("{}# {}\n", group.empty() ? "" : "\n", o.group);
    group = o.group;
    const std::string line = fmt::format("{} = {}", o.option.name, as_toml(o.option, c[o.option.name]));
    text += fmt::format("{:<31} # {}\n", line, o.option.help);
  }
  return text;
}

}  // namespace poslab
