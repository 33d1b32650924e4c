// Answers to the page, as JSON. This only writes JSON; the calls of the page are words (web/calls.h).
#pragma once
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace poslab::web {

class Json {
 public:
  Json(const std::string& text);                 // in quotes
  Json(const char* text) : Json(std::string(text)) {}
  Json(double);                                  // null unless it is finite
  Json(int number) : Json(double(number)) {}
  Json(bool);
  using Members = std::initializer_list<std::pair<const char*, Json>>;
  static Json object(Members);
  static Json list(const std::vector<Json>&);
  // a list with of(element) for each element
  template <class List, class Of>
  static Json list(const List& elements, const Of& of) {
    std::vector<Json> all;
    for (const auto& one : elements) all.push_back(of(one));
    return list(all);
  }
  template <class Value>
  static Json list(const std::vector<Value>& values) {
    return list(values, [](const Value& v) { return Json(v); });
  }
  const std::string& text() const { return text_; }

 private:
  Json() = default;
  std::string text_;
};

}  // namespace poslab::web
