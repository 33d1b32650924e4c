#include "lab/hub/keys.h"

#include "core/error.h"
#include "lab/files/json.h"

namespace poslab {

Keys::Keys(json object, std::string where) : all_(std::move(object)), where_(std::move(where)) {
  if (!all_.is_object()) bad_input("{} is not a JSON object", where_);
}

Keys keys_of(const std::string& text, const std::string& path) { return {parse_json(text, path), path}; }

Keys::json Keys::get(const std::string& key) {
  read_.insert(key);
  return all_.value(key, json());
}

void Keys::refuse(const std::string& key, const std::string& wanted) const {
  const json value = all_.value(key, json());
  if (value.is_null()) bad_input("{}: \"{}\" is missing; it must be {}", where_, key, wanted);
  bad_input("{}: \"{}\" is {}; it must be {}", where_, key, in_short(value), wanted);
}

template <class T>
T Keys::as(const std::string& key, const char* wanted, bool (json::*is)() const noexcept) {
  const json value = get(key);
  if (!(value.*is)()) refuse(key, wanted);
  return value.get<T>();
}

template <class T>
std::vector<T> Keys::list(const std::string& key, const char* wanted, bool (json::*is)() const noexcept) {
  std::vector<T> all;
  for (const json& x : as<json>(key, wanted, &json::is_array)) {
    if (!(x.*is)()) refuse(key, wanted);
    all.push_back(x);
  }
  return all;
}

int Keys::whole(const std::string& key, std::optional<int> standard) {
  const json value = get(key);
  if (standard && value.is_null()) return *standard;
  if (!value.is_number_integer()) refuse(key, "a whole number");
  const auto n = whole_number(value, 1 << 30);
  if (!n) refuse(key, "a whole number from 0 to 2^30");
  return int(*n);
}
int Keys::size(const std::string& key, int most, std::optional<int> standard) {
  if (standard && get(key).is_null()) return *standard;
  const int n = whole(key);
  if (n < 1 || n > most) refuse(key, fmt::format("a size from 1 to {}", most));
  return n;
}
double Keys::number(const std::string& key, std::optional<double> standard) {
  return standard && get(key).is_null() ? *standard : as<double>(key, "a number", &json::is_number);
}
bool Keys::on(const std::string& key, bool standard) {
  return get(key).is_null() ? standard : as<bool>(key, "true or false", &json::is_boolean);
}
std::string Keys::word(const std::string& key, const std::string& standard) {
  return get(key).is_null() ? standard : as<std::string>(key, "a string", &json::is_string);
}
std::vector<double> Keys::numbers(const std::string& key) {
  return list<double>(key, "a list of numbers", &json::is_number);
}
std::vector<std::string> Keys::words(const std::string& key) {
  return list<std::string>(key, "a list of strings", &json::is_string);
}

std::vector<std::string> Keys::all_left_over() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : all_.items())
    if (!value.is_null() && !read_.count(key)) keys.push_back(key);
  return keys;
}
std::string Keys::left_over() const {
  const std::vector<std::string> keys = all_left_over();
  return keys.empty() ? "" : keys[0];
}

}  // namespace poslab
