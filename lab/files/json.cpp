#include "lab/files/json.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/stop.h"

namespace poslab {
namespace {

constexpr size_t deepest = 64;  // levels of nesting; ten are usual, and copying a value is recursive

// Builds the value from the parser's events. Keys are appended, and compared only at the end of their object: comparing
// each key with all earlier ones would take quadratic time, 46 s for a header of 100,000 tensors.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Json value;
  std::string wrong{};  // "" without an error

  bool null() override { return put({}); }
  bool boolean(bool x) override { return put(x); }
  bool number_integer(number_integer_t x) override { return put(x); }
  bool number_unsigned(number_unsigned_t x) override { return put(x); }
  bool number_float(number_float_t x, const string_t&) override { return put(x); }
  bool string(string_t& x) override { return put(std::move(x)); }
  bool binary(binary_t&) override { return false; }  // JSON has no binary values
  bool start_object(size_t) override { return begin(Json::object()); }
  bool start_array(size_t) override { return begin(Json::array()); }
  bool end_array() override { return open_.pop_back(), true; }
  bool key(string_t& name) override {
    auto& object = static_cast<Json::object_t::Container&>(open_.back()->get_ref<Json::object_t&>());
    next_ = &object.emplace_back(std::move(name), nullptr).second;
    return true;
  }
  bool end_object() override {
    keys_.clear();
    for (const auto& [name, ignored] : open_.back()->get_ref<Json::object_t&>()) keys_.push_back(name);
    open_.pop_back();
    std::sort(keys_.begin(), keys_.end());
    const auto twice = std::adjacent_find(keys_.begin(), keys_.end());
    if (twice != keys_.end()) wrong = fmt::format("it has \"{}\" twice in one object", twice->substr(0, 80));
    return wrong.empty();
  }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) override {
    wrong = fmt::format("it has an error at byte {}", at);
    return false;
  }

 private:
  Json& place() {
    if (open_.empty()) return value;
    return open_.back()->is_object() ? *next_ : open_.back()->emplace_back();
  }
  bool put(Json x) {
    if (++values_ % 65536 == 0) stop_if_requested();
    place() = std::move(x);
    return true;
  }
  bool begin(Json empty) {
    if (open_.size() == deepest) wrong = fmt::format("it is nested more than {} levels deep", deepest);
    if (!wrong.empty()) return false;
    Json& inner = place() = std::move(empty);
    open_.push_back(&inner);
    return true;
  }

  std::vector<Json*> open_;             // open objects and lists, the outermost first
  Json* next_ = nullptr;                // the value after the last key
  std::vector<std::string_view> keys_;  // keys of the object that ends here
  size_t values_ = 0;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& what) {
  Builder all;
  if (!Json::sax_parse(text, &all))
    bad_input("{} is not valid JSON: {}; save or fetch it again", what, all.wrong);
  return std::move(all.value);
}

Json try_json(std::string_view text) {
  Builder all;
  return Json::sax_parse(text, &all) ? std::move(all.value) : Json(Json::value_t::discarded);
}

std::string in_short(const Json& value) {
  constexpr size_t most = 120;
  const std::string text = value.dump();
  size_t end = most;
  while (end < text.size() && (text[end] & 0xC0) == 0x80) --end;  // cuts no character in two
  return text.size() <= most ? text : text.substr(0, end) + "...";
}

std::optional<uint64_t> whole_number(const Json& value, uint64_t most) {
  const bool whole = value.is_number_unsigned() || (value.is_number_integer() && value.get<int64_t>() >= 0);
  if (!whole || value.get<uint64_t>() > most) return {};
  return value.get<uint64_t>();
}

}  // namespace poslab
