#include "tasks/retrieval/symbols.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "core/error.h"

namespace poslab {

// The first `count` numbers of a shuffle.
std::vector<int> different(int count, int below, Rng& rng) {
  std::vector<int> all(static_cast<size_t>(below));
  std::iota(all.begin(), all.end(), 0);
  for (int i = 0; i < count; ++i) std::swap(all[size_t(i)], all[size_t(i) + rng.below(uint32_t(below - i))]);
  all.resize(size_t(count));
  return all;
}

namespace symbols {

std::string written(const Tokens& tokens) {
  static const char* const signs[] = {"pad", "end", "ask", "record", "line", "topic", "document", "passkey"};
  std::string text;
  for (const int t : tokens) {
    if (t < 0 || t >= vocabulary)
      bad_input("{} is not a symbol of a retrieval task: they are 0 .. {}", t, vocabulary - 1);
    if (!text.empty()) text += ' ';
    text += t < filler  ? signs[t]
            : t < digit ? "."
            : t < name  ? fmt::format("{}{}", "abcd"[(t - digit) / base], (t - digit) % base)
                        : name_of(t - name);
  }
  return text;
}

Tokens read(const std::string& text) {
  std::vector<std::string> words;
  for (int t = 0; t < vocabulary; ++t) words.push_back(written({t}));
  std::istringstream all(text);
  Tokens tokens;
  for (std::string word; all >> word;) {
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end())
      bad_input(
          "\"{}\" is not a symbol of the retrieval tasks; they are {}, {}, {}, {}, {}, {}, numbers as a0 .. d{}, "
          "names as {}, and \".\" for filler",
          word, words[ask], words[record], words[line], words[topic], words[document], words[passkey], base - 1,
          words[name]);
    tokens.push_back(int(found - words.begin()));
  }
  return tokens;
}

Tokens number(int count, Rng& rng) {
  Tokens all;
  for (int i = 0; i < count; ++i) all.push_back(digit + base * i + int(rng.below(base)));
  return all;
}

void add(Tokens& all, const Tokens& more) { all.insert(all.end(), more.begin(), more.end()); }
void add_filler(Tokens& all, int count, Rng& rng) {
  for (int i = 0; i < count; ++i) all.push_back(filler + int(rng.below(fillers)));
}
void add_cycle(Tokens& all, int count) {
  for (int i = 0; i < count; ++i) all.push_back(filler + i % fillers);
}

int answer_index(int n, Place place, Rng& rng) {
  return place ? int(std::lround(*place * (n - 1))) : int(rng.below(uint32_t(n)));
}
double place_of(int chosen, int n) { return n > 1 ? double(chosen) / (n - 1) : 0; }

}  // namespace symbols
}  // namespace poslab
