// Passkey retrieval (Mohtashami, Jaggi 2023): a number within sentences that say nothing.
//   . . . . passkey a4 b11 . . . . ask passkey -> a4 b11
#include "core/error.h"
#include "tasks/retrieval/entries.h"
#include "tasks/retrieval/scoring.h"
#include "tasks/retrieval/symbols.h"
#include "tasks/retrieval/words.h"

namespace poslab {
namespace {

// How many of `count` things come before `place`, and that place after rounding.
struct Before {
  int count;
  double place;
};
Before before(int count, Place place, Rng& rng) {
  const int n = symbols::answer_index(count + 1, place, rng);
  return {n, symbols::place_of(n, count + 1)};
}

SymbolQuestion passkey_as_symbols(const Choices& c, int length, Place place, Rng& rng) {
  using namespace symbols;
  const Tokens key = number(c.whole("digits"), rng);
  const int all = length - int(key.size()) - 3;
  const Before first = before(all, place, rng);
  Tokens tokens;
  add_cycle(tokens, first.count);
  tokens.push_back(passkey), add(tokens, key);
  add_cycle(tokens, all - first.count);
  add(tokens, {ask, passkey});
  return {tokens, key, first.place};
}

// `count` characters of filler, from its beginning.
std::string sentences(int count) {
  static const std::string cycle =
      "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again. ";
  std::string text;
  while (int(text.size()) < count) text += cycle;
  text.resize(size_t(count));
  return text;
}

TextQuestion passkey_as_text(const Choices&, int characters, uint64_t seed, Place place) {
  Rng rng = rng_of_text(seed);
  const std::string key = std::to_string(rng.between(1, 50000));
  const Before first = before(characters, place, rng);
  const std::string prompt = fmt::format(
      "Somewhere in a long text that does not matter stands one piece of information that does. Find it and keep it "
      "in mind, for you will be asked about it.\n{}\nThe pass key is {}. Remember it. {} is the pass key.\n{}\nWhat is "
      "the pass key? The pass key is",
      sentences(first.count), key, key, sentences(characters - first.count));
  return {prompt, {key}, first.place};
}

}  // namespace

Retrieval passkey_retrieval() {
  return {.name = "passkey",
          .summary = "a number within filler  . . passkey a4 b11 . . ask passkey -> a4 b11",
          .about = R"(The context is filler, the same sentences over and over, and says a number once. The question asks
for it. Nothing else in the context looks like the answer, so that its content alone identifies
it: the easiest of these tasks.)",
          .source = "Mohtashami, Jaggi 2023; spec C.2",
          .options = {{"digits", 2, {1, 4}, "symbols of the number"}},
          .draw = passkey_as_symbols,
          .size = "characters of filler",
          .write = passkey_as_text,
          .right = [](const std::string& said, const std::vector<std::string>& answers) {
            return first_integer(said) == answers.at(0);
          }};
}

}  // namespace poslab
