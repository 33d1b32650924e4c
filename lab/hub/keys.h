// A JSON object in which every key must be understood: each is read by name, and the unread ones can be listed.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace poslab {

class Keys {
 public:
  using json = nlohmann::ordered_json;
  // where: "DIR/config.json", for errors. Throws BadInput if it is not an object.
  Keys(json object, std::string where);
  const std::string& where() const { return where_; }
  bool has(const std::string& key) const { return all_.contains(key); }  // also if its value is null
  // The value of a key; null if it is absent or null.
  json get(const std::string& key);
  // These throw BadInput for a value of another type and, if there is no default, for an absent or null value.
  int whole(const std::string& key, std::optional<int> standard = {});
  int size(const std::string& key, int most, std::optional<int> standard = {});  // at least 1
  double number(const std::string& key, std::optional<double> standard = {});
  bool on(const std::string& key, bool standard);
  std::string word(const std::string& key, const std::string& standard);
  std::vector<double> numbers(const std::string& key);
  std::vector<std::string> words(const std::string& key);
  // The unread keys that are not null, in order; left_over() is the first of them, or "".
  std::vector<std::string> all_left_over() const;
  std::string left_over() const;
  [[noreturn]] void refuse(const std::string& key, const std::string& wanted) const;

 private:
  template <class T>
  T as(const std::string& key, const char* wanted, bool (json::*is)() const noexcept);
  template <class T>
  std::vector<T> list(const std::string& key, const char* wanted, bool (json::*is)() const noexcept);
  json all_;
  std::string where_;
  std::set<std::string> read_;
};

// Limits on sizes of external models: larger than any in use, and small enough that the product of two is an int and
// little memory is allocated before the tensors are checked.
constexpr int most_layers = 4096, most_heads = 4096, most_channels = 1 << 18, most_tokens = 1 << 24;

// The object in a file's text. Throws BadInput with the file's name if it is not an object.
Keys keys_of(const std::string& text, const std::string& path);

}  // namespace poslab
