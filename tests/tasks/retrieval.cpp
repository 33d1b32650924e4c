// Retrieval tasks: what contexts contain, the places of answers, the published formats, and how answers are scored.
#include "tasks/retrieval/retrieval.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>

#include "core/error.h"
#include "tasks/retrieval/documents.h"
#include "tasks/retrieval/scoring.h"
#include "tasks/retrieval/symbols.h"
#include "tasks/retrieval/words.h"

using namespace poslab;

namespace {

using Symbols = std::vector<int>;

Rng questions(uint32_t which) { return Rng(stream(3, Purpose::tokens, which)); }
SymbolQuestion drawn(const std::string& task, int length, Place place, uint32_t which = 0) {
  Rng rng = questions(which);
  return draw(choose_retrieval(task), length, place, rng);
}
// The indices at which `part` begins in `all`.
std::vector<int> found(const Symbols& all, const Symbols& part) {
  std::vector<int> at;
  for (auto from = all.begin(); (from = std::search(from, all.end(), part.begin(), part.end())) != all.end(); ++from)
    at.push_back(int(from - all.begin()));
  return at;
}
Symbols joined(Symbols first, const Symbols& second) {
  symbols::add(first, second);
  return first;
}
bool is_filler(int symbol) { return symbol >= symbols::filler && symbol < symbols::digit; }
bool is_digit(int symbol) { return symbol >= symbols::digit && symbol < symbols::name; }

TextQuestion written(const std::string& task, int size, uint64_t seed, Place place) {
  const Chosen<Retrieval> t = choose_retrieval(task);
  return t->write(t.choices, size, seed, place);
}
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}
std::string refused(const std::function<void()>& action) {
  try {
    action();
  } catch (const BadInput& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("retrieval: every task can have any length from 16 to 16,384, in symbols of one vocabulary") {
  for (const Retrieval& task : all_retrievals())
    for (const int length : {16, 17, 33, 128, 1000, 16384})
      for (const Place place : {Place(), Place(0.), Place(0.37), Place(1.)}) {
        const SymbolQuestion q = drawn(task.name, length, place, uint32_t(length));
        CAPTURE(task.name);
        CAPTURE(length);
        CHECK(int(q.tokens.size()) == length);
        for (const int t : joined(q.tokens, q.answer)) CHECK((t > symbols::end && t < symbols::vocabulary));
        CHECK((q.answer.size() >= 1 && q.answer.size() <= 4));
        const SymbolQuestion again = drawn(task.name, length, place, uint32_t(length));
        CHECK(again.tokens == q.tokens);
        CHECK(again.answer == q.answer);
        CHECK(drawn(task.name, length, place, 99).tokens != q.tokens);
      }
  CHECK(refused([] { drawn("line", 15, {}); }) == "line: 15 tokens; a context with its question needs 16 or more");
  CHECK(refused([] { drawn("line", 65536, {}); }).find("has 16383 lines; take 1 to 4096") !=
        std::string::npos);
}

TEST_CASE("retrieval: the answer is at the requested place, and no place is left out") {
  for (const char* task : {"passkey", "line", "documents"}) {
    CAPTURE(task);
    CHECK(drawn(task, 512, 0.).place == 0);
    CHECK(drawn(task, 512, 1.).place == 1);
    CHECK(drawn(task, 4096, 0.5).place == doctest::Approx(0.5).epsilon(0.12));
    double lowest = 1, highest = 0;
    for (uint32_t n = 0; n < 200; ++n) {
      const double place = drawn(task, 512, {}, n).place;
      lowest = std::min(lowest, place), highest = std::max(highest, place);
    }
    CHECK(lowest < 0.05);
    CHECK(highest > 0.95);
  }
  CHECK(drawn("topic", 512, 0.9).place == 0);  // the first topic is always at the front
}

TEST_CASE("retrieval: passkey has its number once, among filler that never changes") {
  const SymbolQuestion q = drawn("passkey:digits=4", 128, 0.5);
  const std::vector<int> at = found(q.tokens, joined({symbols::passkey}, q.answer));
  REQUIRE(at.size() == 1);
  CHECK(q.answer.size() == 4);
  CHECK(at[0] == doctest::Approx(0.5 * 121).epsilon(0.02));
  CHECK(Symbols(q.tokens.end() - 2, q.tokens.end()) == Symbols{symbols::ask, symbols::passkey});
  CHECK(std::count_if(q.tokens.begin(), q.tokens.end(), is_filler) == 128 - 7);
  CHECK(std::count_if(q.tokens.begin(), q.tokens.end(), is_digit) == 4);
  CHECK(q.tokens[0] == symbols::filler);
}

TEST_CASE("retrieval: line has lines with different names, and asks for one of them") {
  for (const int length : {128, 4096}) {
    const SymbolQuestion q = drawn("line", length, 0.3);
    const Symbols question(q.tokens.end() - 3, q.tokens.end());
    CHECK((question[0] == symbols::ask && question[1] == symbols::line));
    const std::vector<int> lines = found({q.tokens.begin(), q.tokens.end() - 3}, {symbols::line});
    CHECK(int(lines.size()) == (length - 3) / 4);
    std::set<int> names;
    for (const int at : lines) {
      names.insert(q.tokens[size_t(at) + 1]);
      CHECK(is_digit(q.tokens[size_t(at) + 3]));
    }
    CHECK(names.size() == lines.size());
    const std::vector<int> answered = found(q.tokens, joined({symbols::line, question[2]}, q.answer));
    REQUIRE(answered.size() == 1);
    CHECK(answered[0] == lines[size_t(std::lround(0.3 * double(lines.size() - 1)))]);
  }
  CHECK(found(drawn("line:tokens=12", 128, {}).tokens, {symbols::line}).size() == 10 + 1);  // the last is the question
}

TEST_CASE("retrieval: topic asks for the first topic, documents for the document with the name") {
  const SymbolQuestion topic = drawn("topic:topics=7", 512, {});
  CHECK(found(topic.tokens, {symbols::topic}).size() == 7 + 1);
  CHECK(found(topic.tokens, joined({symbols::record, symbols::topic}, topic.answer)) == std::vector<int>{0});
  CHECK(found(topic.tokens, topic.answer).size() == 1);

  for (const int count : {10, 20}) {
    const SymbolQuestion q = drawn(fmt::format("documents:documents={}", count), 1024, 0.5);
    const std::vector<int> begin = found({q.tokens.begin(), q.tokens.end() - 3}, {symbols::document});
    CHECK(int(begin.size()) == count);
    const std::vector<int> at = found(q.tokens, joined({q.tokens.back()}, q.answer));
    REQUIRE(at.size() == 1);
    const size_t gold = size_t(std::lround(0.5 * (count - 1)));
    CHECK((at[0] > begin[gold] && at[0] < begin[gold + 1]));
  }
}

TEST_CASE("retrieval: a list of tasks may name each only once") {
  CHECK(choose_retrievals("passkey/line:digits=3").size() == 2);
  CHECK(refused([] { choose_retrievals("line/line:digits=3"); }).find("line comes twice") != std::string::npos);
  CHECK(refused([] { choose_retrievals("pass_key"); }).find("did you mean \"passkey\"?") != std::string::npos);
  CHECK(refused([] { choose_retrievals("line:digit=3"); }).find("did you mean \"digits\"?") != std::string::npos);
}

TEST_CASE("retrieval: random filler has every symbol, each as often as the others") {
  Rng rng = questions(0);
  Symbols all = {symbols::ask};
  symbols::add_filler(all, 16000, rng);
  REQUIRE(all.size() == 16001);
  std::vector<int> count(symbols::fillers, 0);
  for (auto symbol = all.begin() + 1; symbol != all.end(); ++symbol) {
    REQUIRE(is_filler(*symbol));
    ++count[size_t(*symbol - symbols::filler)];
  }
  for (const int n : count) CHECK(std::abs(n - 1000) < 5 * std::sqrt(1000 * 15 / 16.));
}

TEST_CASE("retrieval: symbols are written as words, each with its own") {
  std::set<std::string> words;
  for (int t = 0; t < symbols::vocabulary; ++t)
    if (!is_filler(t)) words.insert(symbols::written({t}));
  CHECK(int(words.size()) == symbols::vocabulary - symbols::fillers);
  CHECK(symbols::written({symbols::line, symbols::name + 65, symbols::digit + 27, symbols::filler}) ==
        "line brave-anchor b11 .");
  std::set<std::string> about;
  for (int t = 0; t < topics; ++t) about.insert(topic_of(t));
  CHECK(int(about.size()) == topics);
  for (const int none : {-1, int(symbols::vocabulary)})
    CHECK_THROWS_WITH_AS(symbols::written({none}), doctest::Contains("is not a symbol of a retrieval task"), BadInput);
  symbols::Tokens all;
  for (int t = 0; t < symbols::vocabulary; ++t)
    if (!is_filler(t) || t == symbols::filler) all.push_back(t);
  CHECK(symbols::read(symbols::written(all)) == all);
  CHECK_THROWS_WITH_AS(symbols::read("line x9"), doctest::Contains("\"x9\" is not a symbol of the retrieval tasks"),
                       BadInput);
}

TEST_CASE("retrieval in English: line names its lines, each once, and the answer is that of the requested line") {
  const TextQuestion q = written("line", 200, 5, 0.25);
  CHECK(q.prompt == written("line", 200, 5, 0.25).prompt);
  CHECK(q.prompt != written("line", 200, 6, 0.25).prompt);
  std::set<std::string> names;
  std::vector<std::string> registers;
  for (const std::string& line : lines_of(q.prompt))
    if (const size_t at = line.find(": REGISTER_CONTENT is <"); at != line.npos) {
      names.insert(line.substr(0, at));
      registers.push_back(line);
      const int value = std::stoi(line.substr(at + 23));
      CHECK((value >= 1 && value <= 50000));
    }
  CHECK(names.size() == 200);
  REQUIRE(registers.size() == 200);
  const std::string asked = lines_of(q.prompt).back();
  const size_t from = asked.find("in line ") + 3;
  const std::string key = asked.substr(from, asked.find('?') - from);
  CHECK(registers[50] == fmt::format("{}: REGISTER_CONTENT is <{}>", key, q.answers.at(0)));
  for (const int lines : {0, 4097})
    CHECK(refused([&] { written("line", lines, 0, {}); }).find("lines; take 1 to 4096") != std::string::npos);
}

TEST_CASE("retrieval in English: passkey has the given number of characters of filler, cut where the key is") {
  const TextQuestion q = written("passkey", 2000, 1, 0.5);
  const std::string key = q.answers.at(0);
  const std::vector<std::string> lines = lines_of(q.prompt);
  REQUIRE(lines.size() == 5);
  CHECK(lines[1].size() + lines[3].size() == 2000);
  CHECK(lines[1].size() == 1000);
  CHECK(lines[1].rfind("The grass is green. The sky is blue.", 0) == 0);
  CHECK(lines[2] == fmt::format("The pass key is {0}. Remember it. {0} is the pass key.", key));
  CHECK(lines[4] == "What is the pass key? The pass key is");
  CHECK((std::stoi(key) >= 1 && std::stoi(key) <= 50000));
}

TEST_CASE("retrieval in English: topic has the given number of topics, and its answer is the first") {
  const TextQuestion q = written("topic", 5, 1, {});
  size_t first = q.prompt.size(), named = 0;
  std::string first_name;
  for (int t = 0; t < topics; ++t)
    if (const size_t at = q.prompt.find(topic_of(t)); at != std::string::npos) {
      ++named;
      if (at < first) first = at, first_name = topic_of(t);
    }
  CHECK(named == 5);
  CHECK(q.answers == std::vector<std::string>{first_name});
  for (const int count : {0, 33})
    CHECK(refused([&] { written("topic", count, 0, {}); }).find("topics; take 1 to 32") != std::string::npos);
}

TEST_CASE("retrieval in English: documents are in order, the gold one at its place") {
  const TextQuestion q = written("documents", 20, 1, 1.);
  const std::vector<std::string> lines = lines_of(q.prompt);
  int count = 0;
  std::string last;
  for (const std::string& line : lines)
    if (line.rfind(fmt::format("Document [{}](Title: ", count + 1), 0) == 0) ++count, last = line;
  CHECK(count == 20);
  CHECK(contains_answer(last, q.answers));
  CHECK(lines.back() == "Answer:");
  CHECK(lines[lines.size() - 2].rfind("Question: in which year was the ", 0) == 0);

  for (const int none : {0, 4097})
    CHECK(refused([&] { written("documents", none, 0, {}); }).find("take 1 to 4096") != std::string::npos);
  Rng rng = questions(0);
  DocumentQuestion own{"who?", {"Ada"}, {{"a", "one"}, {"b", "Ada", true}, {"c", "three"}}};
  const TextQuestion middle = ask_of_documents(own, 3, 0.5, rng);
  CHECK(middle.prompt.find("Document [1](Title: a) one\nDocument [2](Title: b) Ada\nDocument [3](Title: c) three\n") !=
        std::string::npos);
  CHECK(middle.place == 0.5);
  CHECK(ask_of_documents(own, 2, 0., rng).prompt.find("Document [1](Title: b) Ada\nDocument [2](Title: a) one\n\n") !=
        std::string::npos);
  CHECK(refused([&] { ask_of_documents(own, 4, {}, rng); }).find("ask about 3 at most") != std::string::npos);
  own.documents[1].gold = false;
  CHECK(refused([&] { ask_of_documents(own, 2, {}, rng); }).find("no document that holds the answer") !=
        std::string::npos);
}

TEST_CASE("retrieval: answers are scored as the benchmarks score them") {
  CHECK(last_integer("line 4 holds <00123>.") == "123");
  CHECK(last_integer("123 and then 45 more") == "45");
  CHECK(last_integer("1,234") == "234");
  CHECK(last_integer("0") == "0");
  CHECK(!last_integer("none"));
  CHECK(first_integer(" 4711. Remember 12") == "4711");
  CHECK(!first_integer(""));
  CHECK(normalized("  The Quick,  brown-fox: AN a \"Owl\"! ") == "quick brownfox owl");
  CHECK(normalized("theatre and another") == "theatre and another");
  CHECK(normalized("\xC3\x89t\xC3\xA9") == "\xC3\x89t\xC3\xA9");
  CHECK(contains_answer("It was the Great Wall.", {"great wall"}));
  CHECK(contains_answer("b", {"a", "B"}));
  CHECK(!contains_answer("anything", {"the", ""}));
  CHECK(!contains_answer("wall", {"great wall"}));

  const auto right = [](const char* task, const std::string& said, const std::string& answer) {
    return choose_retrieval(task)->right(said, {answer});
  };
  CHECK(right("line", "The content of line 12 is <345>", "345"));
  CHECK(!right("line", "345 is the content of line 12", "345"));
  CHECK(right("passkey", "345. The grass is green. 9", "345"));
  CHECK(!right("passkey", "3456", "345"));
  CHECK(!right("passkey", "", "345"));
  CHECK(right("topic", "The first topic was Sailing in winter.", "sailing in winter"));
  CHECK(right("documents", "in 1432", "1432"));
}
