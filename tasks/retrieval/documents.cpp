//   document . . brave-harbor a4 b11 . .   document . calm-spoon a7 b2 . . .   ...   ask document calm-spoon -> a7 b2
#include "tasks/retrieval/documents.h"

#include <algorithm>

#include "core/error.h"
#include "tasks/retrieval/entries.h"
#include "tasks/retrieval/scoring.h"
#include "tasks/retrieval/symbols.h"
#include "tasks/retrieval/words.h"

namespace poslab {

TextQuestion ask_of_documents(const DocumentQuestion& q, int count, Place place, Rng& rng) {
  std::vector<Document> shown;
  const auto gold = std::find_if(q.documents.begin(), q.documents.end(), [](auto& d) { return d.gold; });
  if (gold == q.documents.end())
    bad_input("the question \"{}\" has no document that holds the answer; mark one with \"isgold\" or \"hasanswer\"",
              q.question);
  for (const Document& d : q.documents)
    if (!d.gold && d.shown && int(shown.size()) < count - 1) shown.push_back(d);
  if (int(shown.size()) != count - 1)
    bad_input("the question \"{}\" has {} documents that do not hold the answer; ask about {} at most", q.question,
              shown.size(), shown.size() + 1);
  const int chosen = symbols::answer_index(count, place, rng);
  shown.insert(shown.begin() + chosen, *gold);
  std::string prompt =
      "Answer the question from the search results below and from nothing else; "
      "some of them have nothing to do with it.\n\n";
  for (size_t i = 0; i < shown.size(); ++i)
    prompt += fmt::format("Document [{}](Title: {}) {}\n", i + 1, shown[i].title, shown[i].text);
  prompt += fmt::format("\nQuestion: {}\nAnswer:", q.question);
  return {prompt, q.answers, symbols::place_of(chosen, count)};
}

namespace {

SymbolQuestion documents_as_symbols(const Choices& c, int length, Place place, Rng& rng) {
  using namespace symbols;
  const int digits = c.whole("digits"), room = length - 3, smallest = 2 + digits;
  const int count = std::min(c.whole("documents"), room / smallest);
  const std::vector<int> keys = different(count, names, rng);
  const int chosen = answer_index(count, place, rng);
  Tokens tokens, answer;
  for (int i = 0; i < count; ++i) {
    const int fill = room / count + (i < room % count) - smallest, before = rng.between(0, fill);
    const Tokens value = number(digits, rng);
    tokens.push_back(document);
    add_filler(tokens, before, rng);
    tokens.push_back(name + keys[size_t(i)]), add(tokens, value);
    add_filler(tokens, fill - before, rng);
    if (i == chosen) answer = value;
  }
  add(tokens, {ask, document, name + keys[size_t(chosen)]});
  return {tokens, answer, place_of(chosen, count)};
}

// Made-up documents, each about an inn and the year in which it was opened.
TextQuestion documents_as_text(const Choices&, int count, uint64_t seed, Place place) {
  if (count < 1 || count > names) bad_input("documents: {} documents; take 1 to {}", count, names);
  Rng rng = rng_of_text(seed);
  const std::vector<int> keys = different(count, names, rng);
  DocumentQuestion q;
  for (int i = 0; i < count; ++i) {
    std::string inn = "the " + name_of(keys[size_t(i)]);
    std::replace(inn.begin(), inn.end(), '-', ' ');
    const int year = rng.between(1100, 1999);
    q.documents.push_back({inn,
                           fmt::format("Among the old inns of the country, {} is one of those that are still open. Its "
                                       "doors were opened in {}, and since then its cook has been known for soups.",
                                       inn, year),
                           i == 0});
    if (i == 0) q.question = fmt::format("in which year was {} opened?", inn), q.answers = {std::to_string(year)};
  }
  return ask_of_documents(q, count, place, rng);
}

}  // namespace

Retrieval document_retrieval() {
  return {
      .name = "documents",
      .summary = "the number of a name in one of ten documents  document . . calm-spoon a7 b2 . . ask document",
      .about = R"(The context is some documents, each with one name and number within filler. The question gives
one of the names, and its number is the answer: multi-document question answering with one
document that helps among others that do not. The number of documents stays the same when the
context grows, and the place of the helpful one can be chosen, as in "lost in the middle".)",
      .source = "Liu et al. 2023 (lost in the middle); spec C.2",
      .options = {{"documents", 10, {1, names}, "number of documents; fewer if there is no room"},
                  {"digits", 2, {1, 4}, "symbols of a number"}},
      .draw = documents_as_symbols,
      .size = "documents",
      .write = documents_as_text,
      .right = [](const std::string& said, const std::vector<std::string>& answers) {   // only the first line counts
        return contains_answer(said.substr(0, said.find('\n')), answers);
      }};
}

}  // namespace poslab
