// Options that take a number: read as all numbers are (core/choices.h), within the range that the help shows.
#pragma once
#include <CLI/CLI.hpp>
#include <concepts>
#include <optional>
#include <string>

#include "core/choices.h"

namespace poslab {

template <class T>
T number_of(const T&);
template <class T>
T number_of(const std::optional<T>&);

// name: "samples". to: receives the typed number. standard: the default in the help's parentheses, if any.
template <class To>
CLI::Option* add_number(CLI::App* c, const std::string& name, To& to, const std::string& help, Range range,
                        const std::string& standard = "") {
  using Number = decltype(number_of(to));
  const std::string takes = to_string(range), option = "--" + name;
  const auto read = [=, &to](const std::string& text) {
    if constexpr (std::integral<Number>) to = Number(read_whole(option, text, range, takes));
    else to = Number(read_number(option, text, range, takes));
  };
  return c->add_option_function<std::string>(option, read, help)
      ->type_name(takes + (standard.empty() ? "" : "  (" + standard + ")"));
}

}  // namespace poslab
