#include "lab/runs/toml.h"

namespace poslab {

toml::table parse_toml(const std::string& text, const std::string& source) {
  try {
    return toml::parse(text, source);
  } catch (const toml::parse_error& e) {
    bad_input("{}, line {}: {}; a TOML file has lines such as steps = 2000 or task = \"even_pairs\"", source,
              e.source().begin.line, e.description());
  }
}

std::string option_text(const Kind& kind, const std::string& name, const toml::node& node, SpelledFiles files) {
  std::string text;
  if (auto s = node.value_exact<std::string>())
    text = *s;
  else if (auto b = node.value_exact<bool>())
    text = *b ? "on" : "off";
  else if (auto i = node.value_exact<int64_t>())
    text = fmt::format("{}", *i);
  else if (auto d = node.value_exact<double>())
    text = fmt::format("{}", *d);
  else if (node.is_array())
    bad_input("{} is a list of values, but a run needs one value; `poslab sweep plan` accepts lists", name);
  else
    bad_input("{} is neither a string, a number nor true or false", name);
  const bool read = files == SpelledFiles::read;
  if (read && (name == "temperature" || name == "test_temperature")) text = with_spelled_file(name, text);
  kind.configure({{name, text}});
  return read ? with_spelled_file(name, text) : text;
}

}  // namespace poslab
