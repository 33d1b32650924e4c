// Options in TOML files: what config.toml and the plan of a sweep have in common.
#pragma once
#include <toml++/toml.h>

#include "core/error.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/values.h"

namespace poslab {

toml::table parse_toml(const std::string& text, const std::string& source);  // throws BadInput with file and line
// The value in the form that configure() accepts. Throws BadInput for a type that no option has, or a value that this
// option refuses.
std::string option_text(const Kind&, const std::string& option, const toml::node&, SpelledFiles);

// Calls the function, and adds the node's file and line to its errors.
template <class Action>
void at_line(const std::string& source, const toml::node& node, const Action& action) {
  try {
    action();
  } catch (const BadInput& e) { bad_input("{}, line {}: {}", source, node.source().begin.line, e.what()); }
}

}  // namespace poslab
