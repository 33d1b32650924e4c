// Numbers as they are typed after an option: 40,150.
#pragma once
#include <charconv>
#include <string>
#include <vector>

#include "core/error.h"

namespace poslab {

// Empty of an empty text. BadInput: not whole numbers with commas between them. what: "lengths"; example: "40,150"
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
