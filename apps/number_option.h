// Options with a number: parsed as in core/choices.h, within the range that the help shows.
#pragma once
#include <CLI/CLI.hpp>
#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "core/choices.h"
#include "core/error.h"

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

// The numbers of "40,150"; none for an empty text. Throws BadInput unless `text` is whole numbers with commas between.
// what: "lengths".
template <class Number>
std::vector<Number> number_list(const char* option, const std::string& text, const char* what, const char* example) {
  std::vector<Number> numbers;
  for (const char *at = text.data(), *end = at + text.size(); at < end; ++at) {
    const auto [rest, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc() || (rest < end && (*rest != ',' || rest + 1 == end)))
      bad_input("{} {} is not a list of {}; write them as {}", option, text, what, example);
    at = rest;
  }
  return numbers;
}

}  // namespace poslab
