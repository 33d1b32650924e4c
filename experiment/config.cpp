#include "experiment/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/names.h"

namespace poslab {
namespace {

template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

template <class Number>
Number number(const Option& o, std::string_view text) {
  Number n{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size())
    bad_input("{} = \"{}\" is not {}; it takes {}", o.name, text,
              std::is_integral_v<Number> ? "a whole number" : "a number", takes(o));
  if (!(double(n) >= o.least && double(n) <= o.most))
    bad_input("{} = {} is out of range; it takes {}", o.name, text, takes(o));
  return n;
}

bool on(const Option& o, const std::string& text) {
  for (auto yes : {"on", "true", "yes", "1"})
    if (text == yes) return true;
  for (auto no : {"off", "false", "no", "0"})
    if (text == no) return false;
  bad_input("{} = \"{}\" is neither on nor off", o.name, text);
}

Lengths lengths(const Option& o, const std::string& text) {
  const size_t colon = text.find(':');
  const std::string_view all = text;
  Lengths l;
  l.from = number<int>(o, all.substr(0, colon));
  l.to = colon == std::string::npos ? l.from : number<int>(o, all.substr(colon + 1));
  if (l.to < l.from) bad_input("{} = {} is empty: {} is less than {}", o.name, text, l.to, l.from);
  return l;
}

}  // namespace

const Option& option(const std::string& name) {
  std::vector<std::string> names;
  for (const Option& o : all_options()) {
    if (o.name == name) return o;
    names.push_back(o.name);
  }
  throw BadInput(unknown("option", name, names));
}

std::string dashed(const std::string& name) {
  std::string dashes = "--" + name;
  std::replace(dashes.begin(), dashes.end(), '_', '-');
  return dashes;
}

std::string takes(const Option& o) {
  if (o.names) return fmt::format("{}", fmt::join(o.names(), " | "));
  return std::visit(
      Cases{
          [](std::string Config::*) { return std::string("PATH"); },
          [](bool Config::*) { return std::string("on | off"); },
          [&](Lengths Config::*) { return fmt::format("FROM:TO, both {:.15g} .. {:.15g}", o.least, o.most); },
          [&](auto) { return fmt::format("{:.15g} .. {:.15g}", o.least, o.most); },
      },
      o.field);
}

std::string get(const Config& c, const Option& o) {
  return std::visit(Cases{
                        [&](bool Config::*field) { return std::string(c.*field ? "on" : "off"); },
                        [&](Lengths Config::*field) { return fmt::format("{}:{}", (c.*field).from, (c.*field).to); },
                        [&](auto field) { return fmt::format("{}", c.*field); },
                    },
                    o.field);
}

void set(Config& c, const Option& o, const std::string& text) {
  std::visit(Cases{
                 [&](std::string Config::*field) {
                   if (o.names) {
                     const std::vector<std::string> names = o.names();
                     if (std::find(names.begin(), names.end(), text) == names.end())
                       throw BadInput(unknown(o.name, text, names));
                   }
                   c.*field = text;
                 },
                 [&](bool Config::*field) { c.*field = on(o, text); },
                 [&](Lengths Config::*field) { c.*field = lengths(o, text); },
                 [&](int Config::*field) { c.*field = number<int>(o, text); },
                 [&](int64_t Config::*field) { c.*field = number<int64_t>(o, text); },
                 [&](double Config::*field) { c.*field = number<double>(o, text); },
             },
             o.field);
}

Config configure(const Settings& settings) {
  Config c;
  for (auto& [name, text] : settings)
    if (name == "preset") set(c, option(name), text);
  for (const Preset& p : all_presets())
    if (p.name == c.preset)
      for (auto& [name, text] : p.settings) set(c, option(name), text);
  for (auto& [name, text] : settings) set(c, option(name), text);
  return c;
}

}  // namespace poslab
