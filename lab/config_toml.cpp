#include "lab/config_toml.h"

#include <fmt/format.h>

#include "core/overload.h"
#include "lab/toml.h"

namespace poslab {
Settings read_toml(const std::string& text, const std::string& source) {
  Settings settings;
  for (auto& [key, node] : parse_toml(text, source))
    at_line(source, node, [&, &key = key, &node = node] {
      const RunOption& o = option(std::string(key.str()));
      settings.emplace_back(o.name, option_text(RunKind::task, o.name, node));
    });
  return settings;
}

std::string to_toml(const Config& c) {
  std::string text;
  const std::string* group = nullptr;
  for (const RunOption& o : all_options()) {
    if (!written(c, o)) continue;
    if (!group || *group != o.group) text += fmt::format("{}# {}\n", group ? "\n" : "", o.group);
    group = &o.group;
    const std::string value = get(c, o);
    const std::string written = std::visit(
        Overload{
            [&](std::string Config::*) { return '"' + value + '"'; },
            [&](Lengths Config::*) { return '"' + value + '"'; },
            [&](bool Config::*field) { return std::string(c.*field ? "true" : "false"); },
            [&](const Option&) {
              return o.toggle() ? std::string(value == "on" ? "true" : "false") : '"' + value + '"';
            },
            [&](double Config::*) { return value.find_first_of(".e") == std::string::npos ? value + ".0" : value; },
            [&](auto) { return value; },
        },
        o.field);
    text += fmt::format("{:<32}# {}\n", fmt::format("{} = {}", o.name, written), o.help);
  }
  return text;
}

}  // namespace poslab
