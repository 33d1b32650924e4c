#include "lab/runs/config_toml.h"

#include <fmt/format.h>

#include <algorithm>

#include "encodings/compose.h"
#include "encodings/samplers.h"
#include "lab/runs/toml.h"
#include "tasks/task.h"

namespace poslab {

namespace {

// Whether the option names a class that this process lacks, such as one written in Python.
bool is_unknown_class(const std::string& option, const std::string& value) {
  if (composed_spelling(value)) return false;
  const auto lacks = [name = value.substr(0, value.find(':'))](const auto& list) {
    return std::ranges::none_of(list, [&](const auto& one) { return one.name == name; });
  };
  return (option == "encoding" && lacks(all_encodings())) || (option == "task" && lacks(all_tasks())) ||
         (option == "positions" && lacks(all_samplers()));
}

}  // namespace

Settings read_toml(const std::string& text, const std::string& source, const Kind& kind, SpelledFiles files) {
  OneSource all(kind.table().standard);
  for (auto& [key, node] : parse_toml(text, source))
    at_line(source, node, [&, &key = key, &node = node] {
      const std::string name(key.str());
      if (!kind.table().standard.has(name)) kept_option(kind, name);  // throws with a "did you mean"
      try {
        all.add(name, option_text(kind, name, node, files));
      } catch (const BadInput&) {
        const std::string stored = files == SpelledFiles::none ? node.value_or(std::string()) : "";
        if (stored.empty() || !is_unknown_class(name, stored)) throw;
        bad_input("{} \"{}\" is not known to this program; if it is a class written in Python, import it there and use "
                  "pl.load, pl.evaluate or pl.resume", name, stored);
      }
    });
  return all.settings;
}

namespace {

// The value as TOML; a whole floating-point number keeps its type, as 1.0.
std::string as_toml(const Option& o, const std::string& value) {
  using Kind = Option::Kind;
  if (o.kind == Kind::toggle) return value == "on" ? "true" : "false";
  if (o.kind == Kind::whole && !o.is_word(value)) return value;
  if (o.kind == Kind::number) return value.find_first_of(".e") == std::string::npos ? value + ".0" : value;
  return nlohmann::json(value).dump();
}

}  // namespace

std::string to_toml(const Choices& c) {
  std::string text, group;
  for (const ChoiceOption& o : kind_of(c).table().options) {
    if (!o.kept) continue;
    if (group != o.group) text += fmt::format("{}# {}\n", group.empty() ? "" : "\n", o.group);
    group = o.group;
    const std::string line = fmt::format("{} = {}", o.option.name, as_toml(o.option, c[o.option.name]));
    text += fmt::format("{:<31} # {}\n", line, o.option.help);
  }
  return text;
}

}  // namespace poslab
