// The defaults of a task: independent uniform symbols, with all orders equally likely.
#include "tasks/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "core/error.h"

namespace poslab {

Tokens uniform(Rng& rng, int length, int symbols) {
  Tokens x(size_t(length), 0);
  for (int& symbol : x) symbol = rng.between(0, symbols - 1);
  return x;
}

Task completed(Task t) {
  if (!t.output_length || !t.answer) bad_input("task {}: it has no answer; give output_length and answer", t.name);
  if (!t.scored_slots) t.scored_slots = [](const Tokens& answer) { return int(answer.size()); };
  if (!t.input) t.input = [symbols = t.symbols_in](Rng& rng, int length) { return uniform(rng, length, symbols); };
  if (!t.shuffled)
    t.shuffled = [](Tokens x, Rng& rng) {
      shuffle(x, rng);
      return x;
    };
  if (t.alphabet.empty())
    for (int symbol = 0; symbol < t.symbols_in; ++symbol) t.alphabet.push_back(std::to_string(symbol));
  if (int(t.alphabet.size()) != t.symbols_in)
    bad_input("task {}: an alphabet of {} texts for {} symbols; give one for each", t.name, t.alphabet.size(),
              t.symbols_in);
  if (t.form.empty()) t.form = fmt::format("any strings of {}", fmt::join(t.alphabet, " "));
  if (!t.fits) t.fits = [](const Tokens&) { return true; };
  return t;
}

std::string written_input(const Task& task, const Tokens& x) {
  const std::vector<std::string> words = task.alphabet;
  const bool long_words = std::any_of(words.begin(), words.end(), [](auto& word) { return word.size() > 1; });
  std::string text;
  for (const int symbol : x)
    text += (long_words && !text.empty() ? " " : "") + words.at(size_t(symbol));
  return text;
}

std::string written_answer(const Tokens& y) { return fmt::format("{}", fmt::join(y, "")); }

namespace {

struct Read {
  size_t symbol, bytes;
};

// The symbol whose word is at `at` in `text`, the longest if there are several; words.size(): none.
Read symbol_at(const std::string& text, size_t at, const std::vector<std::string>& words) {
  size_t found = words.size();
  for (size_t n = 0; n < words.size(); ++n) {
    const std::string& word = words[n];
    const bool same = at + word.size() <= text.size() &&
                      std::equal(word.begin(), word.end(), text.begin() + std::ptrdiff_t(at),
                                 [](char a, char b) { return ascii::upper(a) == ascii::upper(b); });
    if (same && (found == words.size() || word.size() > words[found].size())) found = n;
  }
  // Where 0 and 1 are the only digits, the other symbols may be typed as numbers, the way papers print them.
  const bool binary = std::find(words.begin(), words.end(), "2") == words.end();
  if (const size_t number = size_t(text[at] - '0'); found == words.size() && binary && number < found)
    return {number, 1};
  return {found, found < words.size() ? words[found].size() : 0};
}

// The character at `at`: one byte or, in UTF-8, several.
std::string character(const std::string& text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
  return text.substr(at, end - at);
}

// `text` as a message quotes it: its beginning, if it is long.
std::string quoted(const std::string& text) {
  return text.size() <= 40 ? "\"" + text + "\"" : "\"" + text.substr(0, 40) + "...\"";
}

}  // namespace

Tokens read_input(const Task& task, const std::string& text) {
  const std::vector<std::string> words = task.alphabet;
  Tokens x;
  for (size_t at = 0; at < text.size();) {
    if (ascii::is_space(text[at])) {
      ++at;
      continue;
    }
    const auto [symbol, bytes] = symbol_at(text, at, words);
    if (symbol == words.size())
      bad_input("{} in {} is not a symbol of {}; its symbols are {}", quoted(character(text, at)), quoted(text),
                task.name, fmt::join(words, " "));
    x.push_back(int(symbol));
    at += bytes;
  }
  if (x.size() > max_symbols) bad_input("{} has {} symbols; ask about {} at most", quoted(text), x.size(), max_symbols);
  if (x.empty()) bad_input("an empty string is not an input of {}; inputs are {}", task.name, task.form);
  if (!task.fits(x)) bad_input("{} is not an input of {}; inputs are {}", quoted(text), task.name, task.form);
  return x;
}

TaskExample example(const Task& task, int length) {
  Rng rng(stream(0, Purpose::tokens, 0));
  const Tokens x = task.input(rng, length);
  return {x, task.answer(x)};
}

// From the last place down, each place takes one of the symbols not yet placed (Fisher and Yates).
void shuffle(Tokens& x, Rng& rng) {
  for (size_t left = x.size(); left > 1; --left) std::swap(x[left - 1], x[rng.below(uint32_t(left))]);
}

}  // namespace poslab
