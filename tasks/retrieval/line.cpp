// Line retrieval (Li et al. 2023, LongEval): many lines, each a name and a number; the question asks for the number of
// one name.
//   line brave-harbor a4 b11   line calm-spoon a7 b2   ...   ask line calm-spoon -> a7 b2
#include <algorithm>

#include "core/error.h"
#include "tasks/retrieval/entries.h"
#include "tasks/retrieval/scoring.h"
#include "tasks/retrieval/symbols.h"
#include "tasks/retrieval/words.h"

namespace poslab {
namespace {

// Names are different, so there are no more lines than names.
void check_lines(int lines, const std::string& size) {
  if (lines < 1 || lines > names)
    bad_input("line: {} has {} lines; take 1 to {}: each needs a name of its own", size, lines, names);
}

SymbolQuestion lines_as_symbols(const Choices& c, int length, Place place, Rng& rng) {
  using namespace symbols;
  const int digits = c.whole("digits"), of_line = std::max(2 + digits, c.whole("tokens")), question = 3;
  const int lines = (length - question) / of_line;
  check_lines(lines, fmt::format("a context of {} tokens", length));
  const std::vector<int> keys = different(lines, names, rng);
  const int chosen = answer_index(lines, place, rng);
  Tokens tokens, answer;
  add_filler(tokens, length - question - lines * of_line, rng);
  for (int i = 0; i < lines; ++i) {
    const Tokens value = number(digits, rng);
    add(tokens, {line, name + keys[size_t(i)]}), add(tokens, value);
    add_filler(tokens, of_line - 2 - digits, rng);
    if (i == chosen) answer = value;
  }
  add(tokens, {ask, line, name + keys[size_t(chosen)]});
  return {tokens, answer, place_of(chosen, lines)};
}

TextQuestion lines_as_text(const Choices&, int lines, uint64_t seed, Place place) {
  check_lines(lines, fmt::format("a record of size {}", lines));
  Rng rng = rng_of_text(seed);
  const std::vector<int> keys = different(lines, names, rng);
  const int chosen = symbols::answer_index(lines, place, rng);
  const auto key = [&](int i) { return name_of(keys[size_t(i)]); };
  TextQuestion q{.place = symbols::place_of(chosen, lines)};
  q.prompt =
      "Here is a record of lines to memorize. Each line names itself and then says the number that its register holds, "
      "its REGISTER_CONTENT. Behind the record you will be asked for the number of one line.\n\n";
  for (int i = 0; i < lines; ++i) {
    const int value = rng.between(1, 50000);
    q.prompt += fmt::format("line {}: REGISTER_CONTENT is <{}>\n", key(i), value);
    if (i == chosen) q.answers = {std::to_string(value)};
  }
  q.prompt += fmt::format("\nThe record ends here. What is the REGISTER_CONTENT in line {}? Answer with the number.",
                          key(chosen));
  return q;
}

}  // namespace

Retrieval line_retrieval() {
  return {.name = "line",
          .summary = "the number of a name among many  line calm-spoon a7 b2 ... ask line calm-spoon -> a7 b2",
          .about = R"(The context is a list of lines, each with a name and a number. The question gives one
of the names, and its number is the answer. The longer the context, the more lines there are that
look like the right one, all with different names.)",
          .source = "Li et al. 2023 (LongEval); spec C.2",
          .options = {{"digits", 2, {1, 4}, "symbols of a number"},
                      {"tokens", 3, {3, 13}, "least symbols of a line, with the filler after its number"}},
          .draw = lines_as_symbols,
          .size = "lines",
          .write = lines_as_text,
          .right = [](const std::string& said, const std::vector<std::string>& answers) {
            return last_integer(said) == answers.at(0);
          }};
}

}  // namespace poslab
