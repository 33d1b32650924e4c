// --width of commands that write figures for papers.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace poslab {

inline void add_width(CLI::App* command, std::string& width) {
  command->add_option("--width", width, "how wide a picture is in print")
      ->type_name("column | page | MILLIMETRES  (column)");
}

}  // namespace poslab
