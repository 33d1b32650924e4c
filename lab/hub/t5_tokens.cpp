#include "lab/hub/t5_tokens.h"

#include <algorithm>

#include "core/error.h"
#include "lab/hub/keys.h"

namespace poslab::t5 {

Tokens::Tokens(const std::string& bytes, const std::string& path, int extra, int vocabulary)
    : pieces_(bytes, path, false) {
  constexpr int usual = 100;
  if (extra < 0) extra = pieces_.size() + usual <= vocabulary ? usual : 0;
  for (int n = extra - 1; n >= 0; --n) {
    special_[fmt::format("<extra_id_{}>", n)] = size();
    sentinels_.push_back(fmt::format("<extra_id_{}>", n));
  }
  for (int token = 0; token < pieces_.size(); ++token)
    if (pieces_.text(token) == "</s>" || pieces_.text(token) == "<pad>") special_[pieces_.text(token)] = token;
}

const std::string& Tokens::text(int token) const {
  const int behind = token - pieces_.size();
  return behind >= 0 && behind < int(sentinels_.size()) ? sentinels_[size_t(behind)] : pieces_.text(token);
}

std::vector<int> Tokens::encode(std::string_view text, size_t most) const {
  std::vector<int> all;
  const auto add = [&](std::string_view part) {
    const std::vector<int> tokens = pieces_.encode(part);
    all.insert(all.end(), tokens.begin(), tokens.end());
  };
  for (size_t at = 0; at <= text.size() && all.size() < most;) {
    const size_t sign = std::min(text.find('<', at), text.size()), end = text.find('>', sign);
    const auto found = end == text.npos ? special_.end() : special_.find(text.substr(sign, end + 1 - sign));
    if (found == special_.end() && sign < text.size()) {
      at = sign + 1;
      continue;
    }
    add(text.substr(0, sign));
    if (found == special_.end()) break;
    all.push_back(found->second);
    text.remove_prefix(end + 1), at = 0;
  }
  if (all.size() > most) all.resize(most);
  return all;
}

int extra_ids(const std::string& text, const std::string& path) {
  Keys config = keys_of(text, path);
  return config.get("extra_ids").is_null() ? -1 : config.whole("extra_ids");
}

}  // namespace poslab::t5
