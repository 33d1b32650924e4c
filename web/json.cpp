#include "web/json.h"

#include <fmt/format.h>

#include <cmath>

namespace poslab::web {
namespace {

// The values with commas between them, in brackets.
template <class List, class Text>
std::string enclosed(char open, char close, const List& list, const Text& text) {
  std::string all(1, open);
  for (const auto& one : list) {
    if (all.size() > 1) all += ',';
    text(all, one);
  }
  return all + close;
}

}  // namespace

Json::Json(const std::string& text) {
  text_ = '"';
  for (const char c : text)
    if (c == '"' || c == '\\') text_ += '\\', text_ += c;
    else if (static_cast<unsigned char>(c) < 0x20) text_ += fmt::format("\\u{:04x}", int(c));
    else text_ += c;
  text_ += '"';
}
Json::Json(double number) : text_(std::isfinite(number) ? fmt::format("{}", number) : "null") {}
Json::Json(bool on) : text_(on ? "true" : "false") {}

Json Json::object(Members members) {
  Json made;
  made.text_ = enclosed('{', '}', members, [](std::string& to, const auto& m) {
    to += Json(m.first).text_ + ':' + m.second.text_;
  });
  return made;
}
Json Json::list(const std::vector<Json>& values) {
  Json made;
  made.text_ = enclosed('[', ']', values, [](std::string& to, const Json& value) { to += value.text_; });
  return made;
}

}  // namespace poslab::web
