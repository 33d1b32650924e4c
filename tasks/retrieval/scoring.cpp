#include "tasks/retrieval/scoring.h"

#include <algorithm>
#include <sstream>

#include "core/ascii.h"

namespace poslab {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 128; }

// The run of digits at [from, to).
std::string integer(std::string::const_iterator from, std::string::const_iterator to) {
  while (to - from > 1 && *from == '0') ++from;
  return {from, to};
}

}  // namespace

std::optional<std::string> first_integer(const std::string& text) {
  const auto from = std::find_if(text.begin(), text.end(), is_decimal);
  if (from == text.end()) return {};
  return integer(from, std::find_if_not(from, text.end(), is_decimal));
}

std::optional<std::string> last_integer(const std::string& text) {
  const auto to = std::find_if(text.rbegin(), text.rend(), is_decimal);
  if (to == text.rend()) return {};
  return integer(std::find_if_not(to, text.rend(), is_decimal).base(), to.base());
}

std::string normalized(const std::string& text) {
  std::string kept;
  for (const char c : text)
    if (!is_ascii(c))
      kept += c;
    else if (!ascii::is_punct(c))
      kept += ascii::lower(c);
  std::istringstream words(kept);
  std::string all;
  for (std::string word; words >> word;)
    if (word != "a" && word != "an" && word != "the") all += (all.empty() ? "" : " ") + word;
  return all;
}

bool contains_answer(const std::string& said, const std::vector<std::string>& answers) {
  const std::string whole = normalized(said);
  return std::any_of(answers.begin(), answers.end(), [&](const std::string& answer) {
    const std::string part = normalized(answer);
    return !part.empty() && whole.find(part) != whole.npos;
  });
}

}  // namespace poslab
