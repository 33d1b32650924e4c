// Reads the lists of a sweep from its TOML file.
#include "lab/runs/spelled_file.h"
#include "lab/runs/sweep/named.h"
#include "lab/runs/toml.h"

namespace poslab::sweep {
namespace {

std::vector<std::string> values(const Kind& kind, const std::string& option, const toml::node& node) {
  std::vector<std::string> all;
  const auto text = [&](const toml::node& one) {
    if (one.is_array()) bad_input("{} has a list in its list of values; write them as in [1, 2]", option);
    return option_text(kind, option, one, SpelledFiles::read);
  };
  if (const toml::array* list = node.as_array())
    for (const toml::node& one : *list) all.push_back(text(one));
  else
    all.push_back(text(node));
  if (all.empty()) bad_input("{} = [] leaves no trial; give it a value or leave it out", option);
  return all;
}

enum class Where { top, also, alone };  // the top of a sweep's file, one of its [[also]], or a file of lists

ValueLists lists_of(const toml::table& table, const std::string& source, Where where,
                    const Kind& kind = strings_kind()) {
  if (table.contains("seeds") && table.contains("seed"))
    bad_input("{}: one table has both seeds and seed; give one of the two", source);
  ValueLists lists;
  for (auto& [key, node] : table)
    at_line(source, node, [&, &key = key, &node = node] {
      const std::string name(key.str());
      if (name == "seeds") {
        lists["seed"] = seeds(node.value_exact<int64_t>().value_or(0));
        return;
      }
      const bool of_all = name == "name" || name == "command";  // keys for all trials; read_lists() refuses them
      if (of_all && where == Where::also) bad_input("{} belongs once at the top of a sweep's file", name);
      if (of_all && where == Where::top) return;
      lists[name] = values(kind, kept_option(kind, name).name, node);
    });
  return lists;
}

}  // namespace

ValueLists read_lists(const std::string& text, const std::string& source) {
  return lists_of(parse_toml(text, source), source, Where::alone);
}

Plan make_plan(const std::string& text, const std::string& source) {
  toml::table table = parse_toml(text, source);
  const Kind* kind = &strings_kind();
  if (const toml::node* node = table.get("command"))
    at_line(source, *node, [&] {
      const auto word = node->value_exact<std::string>();
      if (!word) bad_input("command is \"train\", \"lm train\" or \"t5 train\"");
      kind = &kind_of_command(*word);
    });
  std::vector<ValueLists> also;
  if (toml::node* node = table.get("also")) {
    at_line(source, *node, [&] {
      if (!node->is_array_of_tables()) bad_input("also is a table of its own, written [[also]]");
    });
    for (const toml::node& more : *node->as_array())
      also.push_back(lists_of(*more.as_table(), source, Where::also, *kind));
    table.erase("also");
  }
  Plan plan = make_plan(lists_of(table, source, Where::top, *kind), also, source, *kind);
  if (const toml::node* node = table.get("name"))
    at_line(source, *node, [&] {
      const auto text = node->value_exact<std::string>();
      if (!text) bad_input("name is a text such as \"{{task}}-{{encoding}}-{{seed}}\"");
      name_trials(plan, *text);
    });
  return plan;
}

}  // namespace poslab::sweep
