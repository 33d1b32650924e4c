#include "lab/papers/data.h"

#include <algorithm>

#include "lab/runs/toml.h"

namespace poslab {
extern const std::string_view artifacts_toml;
}

namespace poslab::reproduce {

const toml::table& data() {
  static const toml::table all = parse_toml(std::string(artifacts_toml), "artifacts.toml");
  return all;
}

const toml::table& data(const std::string& section) { return *data().at_path(section).as_table(); }

std::string text_in(const toml::node& table, const char* key) {
  return (*table.as_table())[key].value_or(std::string());
}

std::vector<std::string> words_in(const toml::node& list) {
  if (!list.is_array()) return {list.value<std::string>().value()};
  std::vector<std::string> all;
  for (const toml::node& one : *list.as_array()) all.push_back(one.value<std::string>().value());
  return all;
}

std::string filled(std::string text, const ValueOf& value_of) {
  for (size_t open; (open = text.find('{')) != text.npos;) {
    const size_t close = text.find('}', open);
    const std::string inside = text.substr(open + 1, close - open - 1);
    size_t at = inside.find_first_of("*/");
    std::string value = value_of(inside.substr(0, at));
    while (at != inside.npos) {
      const int64_t x = std::stoll(value), by = std::stoll(inside.substr(at + 1));
      value = fmt::format("{}", std::max<int64_t>(1, inside[at] == '*' ? x * by : x / by));
      at = inside.find_first_of("*/", at + 1);
    }
    text.replace(open, close + 1 - open, value);
  }
  return text;
}

ValueOf value_in(const Choices& c) {
  return [c](const std::string& name) {
    return name == "longest" ? fmt::format("{}", c.lengths("eval_lengths").to) : c[name];
  };
}

ValueLists lists_in(const toml::node& table, const ValueOf& value_of) {
  ValueLists all;
  for (const auto& [name, list] : *table.as_table())
    for (const std::string& word : words_in(list)) {
      std::vector<std::string>& values = all[std::string(name.str())];
      if (word == "{tasks}")
        values = fifteen();
      else
        values.push_back(filled(word, value_of));
    }
  return all;
}

Trials trials_in(const std::string& artifact, const Choices& defaults) {
  const size_t colon = artifact.find(':');
  const toml::node& trials = *data(artifact.substr(0, colon) + "." + artifact.substr(colon + 1)).get("trials");
  if (const auto same_as = trials.value<std::string>())
    return trials_in(artifact.substr(0, colon + 1) + *same_as, defaults);
  Trials all;
  for (const toml::node& product : *trials.as_array()) all.also.push_back(lists_in(product, value_in(defaults)));
  all.lists = all.also.front();
  all.also.erase(all.also.begin());
  return all;
}

}  // namespace poslab::reproduce
