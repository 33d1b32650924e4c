// Trials of the artifacts that compare settings: the paper with its released code, and the size's pool of positions.
#include "lab/papers/ruoss2023/ruoss2023.h"

#include <algorithm>

#include "lab/papers/data.h"
#include "lab/runs/values.h"

namespace poslab::reproduce::ruoss2023 {
namespace {

struct Choice {
  std::string encoding, positions;
  Settings options;
  std::string base, other;  // in words
};

std::vector<Choice> all_choices(const Choices& defaults) {
  std::vector<Choice> all;
  for (const toml::node& one : *data("ruoss2023.code")["choices"].as_array()) {
    const Settings options = read_settings(text_in(one, "options"));
    if (!std::all_of(options.begin(), options.end(), [&](auto& o) { return defaults[o.first] == o.second; }))
      all.push_back(
          {text_in(one, "encoding"), text_in(one, "positions"), options, text_in(one, "base"), text_in(one, "other")});
  }
  return all;
}

}  // namespace

Trials of_code(const Choices& defaults) {
  Trials trials = trials_in("ruoss2023:code", defaults);
  for (const Choice& c : all_choices(defaults)) {
    ValueLists lists = {{"encoding", {c.encoding}}, {"positions", {c.positions}}};
    for (const auto& [name, value] : c.options) lists[name] = {value};
    trials.also.push_back(std::move(lists));
  }
  return trials;
}

Json usual(const Outcomes&, const Choices& defaults, const std::string&) {
  return {{"max_position", defaults.whole("max_position")}};
}

// `usual`: the size's values of all options that any of the choices sets, except its scheme's own.
Json choices(const Outcomes&, const Choices& defaults, const std::string&) {
  Json all = Json::array(), base;
  for (const Choice& c : all_choices(defaults)) {
    Json options;
    for (const auto& [name, value] : c.options) {
      options[name] = typed(option(name), value);
      if (name != "encoding") base[name] = typed(option(name), defaults[name]);
    }
    all.push_back({{"encoding", c.encoding},
                   {"positions", c.positions},
                   {"options", options},
                   {"base", c.base},
                   {"other", c.other}});
  }
  return {{"choices", all}, {"usual", base}};
}

}  // namespace poslab::reproduce::ruoss2023
