#include "lab/hub/oniguruma.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "lab/files/printable.h"

namespace poslab {
namespace {

// Oniguruma's classes, written as the inside of a PCRE2 class. \s is White_Space; PCRE2's also has U+180E. \w has
// combining marks, circled letters and, outside a class, the fractions and raised digits of Latin-1; PCRE2's \w before
// 10.43 has all numbers and no marks.
constexpr const char* space = R"(\t-\r\x{85}\p{Z})";
constexpr const char* no_space =
    R"(\x{0}-\x{8}\x{e}-\x{1f}!-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e})"
    R"(\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";
constexpr const char* word =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";
constexpr const char* latin_numbers = R"(\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";

constexpr std::array categories = {"L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N",
                                   "Nd", "Nl", "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
                                   "S",  "Sm", "Sc", "Sk", "So", "Z",  "Zs", "Zl", "Zp", "Cc", "Cf"};

std::string literal(int code) { return fmt::format("\\x{{{:x}}}", code); }

class OnigurumaReader {
 public:
  OnigurumaReader(const std::string& pattern, const std::string& where)
      : pattern_(pattern), where_(where), rest_(pattern) {}

  std::string all() {
    std::string made;
    while (!rest_.empty()) made += next();
    return made;
  }

 private:
  // One item with its quantifier, or a part of a group.
  std::string next() {
    if (take("|")) return "|";
    if (take(")")) {
      if (!folds_.empty()) folds_.pop_back();
      return quantified(")");
    }
    for (const char* group : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"})
      if (take(group)) {
        folds_.push_back(folds() || std::string_view(group) == "(?i:");
        return group;
      }
    if (rest_.starts_with("(?")) refuse(3);
    if (take("(")) {
      folds_.push_back(folds());
      return "(?:";  // no back reference to it is possible
    }
    if (take(".")) return quantified("[^\\n]");
    if (rest_.starts_with("[")) return quantified(bracket());
    if (std::string("^$?*+{}]").find(rest_.front()) != std::string::npos) refuse(1);
    for (const char* spelled : {"\\w", "\\W"})
      if (!folds() && take(spelled))
        return quantified(fmt::format("[{}{}{}]", spelled[1] == 'w' ? "" : "^", word, latin_numbers));
    if (const auto of = class_of_escape()) return quantified("[" + *of + "]");
    return quantified(literal(letter(folds())));
  }

  bool folds() const { return !folds_.empty() && folds_.back(); }

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  [[noreturn]] void refuse(size_t bytes) const {
    bad_input("{}: the expression \"{}\" has \"{}\" at byte {}; poslab refuses it, as PCRE2 may read it differently",
              where_, pattern_, rest_.substr(0, bytes), pattern_.size() - rest_.size());
  }

  std::string quantified(const std::string& item) { return item + quantifier(); }

  // Two quantifiers in a row, as in {2}+, mean something else in PCRE2.
  std::string quantifier() {
    if (rest_.empty()) return "";
    std::string made;
    const bool counted = rest_.front() == '{';
    if (counted) {
      const size_t end = rest_.find('}');
      const std::string_view inside = rest_.substr(1, end == rest_.npos ? 0 : end - 1);
      const size_t comma = std::min(inside.find(','), inside.size());
      const auto number = [](std::string_view text) {
        return !text.empty() && text.size() < 5 &&
               std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
      };
      const std::string_view least = inside.substr(0, comma), most = inside.substr(std::min(comma + 1, inside.size()));
      if (!number(least) || !(most.empty() || number(most)) ||
          (!most.empty() && std::stoi(std::string(least)) > std::stoi(std::string(most))))
        refuse(inside.size() + 2);
      made = fmt::format("{{{}}}", inside);
      rest_.remove_prefix(end + 1);
    } else if (std::string("?*+").find(rest_.front()) != std::string::npos) {
      made = rest_.front();
      rest_.remove_prefix(1);
      if (!rest_.empty() && (rest_.front() == '?' || rest_.front() == '+')) {
        made += rest_.front();
        rest_.remove_prefix(1);
      }
    }
    if (!made.empty() && (folds() || (!rest_.empty() && std::string("?*+{").find(rest_.front()) != std::string::npos)))
      refuse(1);
    return made;
  }

  // The inside of a class for \s, \p{L} and the like; nothing for another escape or letter.
  std::optional<std::string> class_of_escape() {
    if (rest_.size() < 2 || rest_[0] != '\\') return {};
    const char c = rest_[1];
    if (std::string("sSdDwWpP").find(c) == std::string::npos) return {};
    if (folds() || c == 'W') refuse(2);  // [a\W] cannot be merged into a class
    if (c == 'p' || c == 'P') {
      const size_t end = std::min(rest_.find('}'), rest_.size());
      for (const char* name : categories)
        if (std::string spelled = fmt::format("\\{}{{{}}}", c, name); take(spelled)) return spelled;
      refuse(end + 1);
    }
    rest_.remove_prefix(2);
    if (c == 'd' || c == 'D') return c == 'd' ? "\\p{Nd}" : "\\P{Nd}";
    if (c == 'w') return word;
    return c == 's' ? space : no_space;
  }

  // One character, perhaps escaped. In (?i:...) Oniguruma reads some pairs as one letter, such as ss as U+00DF.
  int letter(bool folded) {
    const bool escape = rest_.front() == '\\';
    const std::string_view at = rest_;
    if (escape) rest_.remove_prefix(1);
    const auto back = [&](size_t bytes) { rest_ = at, refuse(bytes); };
    if (rest_.empty()) back(2);
    auto [code, n] = first_character(rest_);
    if (code < 0) back(2);
    static const std::map<int, int> control = {{'n', '\n'}, {'r', '\r'}, {'t', '\t'}};
    if (const auto known = control.find(code); escape && known != control.end())
      code = known->second;
    else if (escape && (code >= 128 || std::isalnum(code)))
      back(2);
    rest_.remove_prefix(n);
    if (folded) {
      if (code >= 128) back(n);
      for (const char* pair : {"ff", "fi", "fl", "ss", "st"})
        if (std::tolower(code) == pair[0] && !rest_.empty() && std::tolower(rest_[0]) == pair[1]) back(2);
    }
    return code;
  }

  std::string bracket() {
    std::string made = take("[^") ? "[^" : (take("["), "[");
    for (bool first = true;; first = false) {
      if (rest_.empty() || (first && rest_.starts_with("]"))) refuse(1);
      for (const char* other : {"[", "&&"})
        if (rest_.starts_with(other)) refuse(2);
      if (take("]")) return made + "]";
      if (const auto of = class_of_escape()) {
        made += *of;
        if (rest_.starts_with("-") && !rest_.starts_with("-]")) refuse(2);
        continue;
      }
      made += literal(letter(folds()));
      if (!rest_.starts_with("-") || rest_.starts_with("-]")) continue;
      take("-");
      if (rest_.empty() || rest_.starts_with("[") || class_of_escape()) refuse(2);
      made += "-" + literal(letter(folds()));
    }
  }

  const std::string& pattern_;
  const std::string& where_;
  std::string_view rest_;
  std::vector<bool> folds_;  // for each open group, whether it ignores case
};

}  // namespace

std::string to_pcre2(const std::string& oniguruma, const std::string& where) {
  return OnigurumaReader(oniguruma, where).all();
}

}  // namespace poslab
