#include "experiment/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/engine.h"
#include "core/error.h"
#include "core/names.h"
#include "core/overload.h"

namespace poslab {
namespace {

Lengths lengths(const RunOption& o, const std::string& text) {
  const size_t colon = text.find(':');
  if (text.empty() || text.find_first_not_of("0123456789:") != std::string::npos || text.back() == ':' || colon == 0 ||
      text.rfind(':') != colon)
    bad_input("{} = \"{}\" is no range of lengths; it takes {}, as in 1:100", o.name, text, takes(o));
  const auto read = [&](const std::string& part) { return int(read_whole(o.name, part, {o.min, o.max}, takes(o))); };
  Lengths l;
  l.from = read(text.substr(0, colon));
  l.to = colon == std::string::npos ? l.from : read(text.substr(colon + 1));
  if (l.to < l.from)
    bad_input("{} = {} is empty, as {} is less than {}; say the shorter one first", o.name, text, l.to, l.from);
  return l;
}

}  // namespace

const RunOption& option(const std::string& name) {
  for (const RunOption& o : all_options())
    if (o.name == name) return o;
  raise<BadInput>(unknown("option", name, names_of(all_options())) + " `poslab train --help` lists all");
}

bool RunOption::toggle() const {
  const Option* owned = std::get_if<Option>(&field);
  return owned ? owned->kind == Option::Kind::toggle : std::holds_alternative<bool Config::*>(field);
}

std::string dashed(const std::string& name) {
  std::string dashes = "--" + name;
  std::replace(dashes.begin(), dashes.end(), '_', '-');
  return dashes;
}

std::string takes(const RunOption& o) {
  if (o.names) return fmt::format("{}", fmt::join(o.names(), " | "));
  return std::visit(
      Overload{
          [](std::string Config::*) { return std::string("PATH"); },
          [](bool Config::*) { return std::string("on | off"); },
          [](const Option& owned) { return owned.takes(); },
          [&](Lengths Config::*) { return fmt::format("FROM:TO, both {:.15g} .. {:.15g}", o.min, o.max); },
          [&](auto) { return to_string(Range{o.min, o.max}); },
      },
      o.field);
}

std::string get(const Config& c, const RunOption& o) {
  return std::visit(Overload{
                        [&](bool Config::*field) { return std::string(c.*field ? "on" : "off"); },
                        [&](Lengths Config::*field) { return fmt::format("{}:{}", (c.*field).from, (c.*field).to); },
                        [&](const Option& owned) {
                          const auto said = c.owned.find(owned.name);
                          return said == c.owned.end() ? owned.standard : said->second;
                        },
                        [&](auto field) { return fmt::format("{}", c.*field); },
                    },
                    o.field);
}

bool written(const Config& c, const RunOption& o) {
  return o.kept && !(o.newer && get(c, o) == get(Config(), o));
}

void set(Config& c, const RunOption& o, const std::string& text) {
  const Range range{o.min, o.max};
  std::visit(Overload{
                 [&](std::string Config::*field) {
                   if (o.spell) return o.spell(c, text);
                   if (o.names) {
                     const std::vector<std::string> names = o.names();
                     if (std::find(names.begin(), names.end(), text) == names.end())
                       raise<BadInput>(unknown(o.name, text, names));
                   }
                   c.*field = text;
                 },
                 [&](bool Config::*field) { c.*field = read_toggle(o.name, text); },
                 [&](Lengths Config::*field) { c.*field = lengths(o, text); },
                 [&](int Config::*field) { c.*field = int(read_whole(o.name, text, range, takes(o))); },
                 [&](int64_t Config::*field) { c.*field = int64_t(read_whole(o.name, text, range, takes(o))); },
                 [&](double Config::*field) { c.*field = read_number(o.name, text, range, takes(o)); },
                 [&](const Option& owned) {
                   if (const std::string value = owned.value(text); value != owned.standard)
                     c.owned[owned.name] = value;
                   else
                     c.owned.erase(owned.name);
                 },
             },
             o.field);
}

Config configure(const Settings& settings) {
  Config c;
  for (auto& [name, text] : settings)
    if (name == "preset") set(c, option(name), text);
  Settings all = find("preset", all_presets(), c.preset).settings;
  all.insert(all.end(), settings.begin(), settings.end());
  for (auto now = all.begin(); now != all.end(); ++now) {
    const RunOption& o = option(now->first);
    // A later word for the same thing takes back what this one's own options say.
    const bool last = std::none_of(now + 1, all.end(), [&](auto& later) { return later.first == now->first; });
    Config unread;
    set(o.spell && !last ? unread : c, o, now->second);
  }
  return c;
}

Settings of_new_run(Settings settings) {
  settings.insert(settings.begin(), {"products", engine_names[int(usual_engine())]});   // what is said later counts
  return settings;
}

RunValues run_values(const Config& c) {
  RunValues values = c.owned;
  values["max_position"] = fmt::format("{}", c.max_position),
  values["first_position"] = fmt::format("{}", c.first_position);
  return values;
}

}  // namespace poslab
