// Every task against its oracle: all inputs of small lengths, and the distribution of inputs and of shuffled inputs.
// Also the edge cases of spec B.2, written out.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "tasks/task.h"
#include "tests/support/statistics.h"
#include "tests/tasks/task_oracle.h"

using namespace poslab;
using namespace poslab::testing;

namespace {

Tokens read(const std::string& text, const std::string& symbols) {
  Tokens x;
  for (char c : text) x.push_back(int(symbols.find(c)));
  return x;
}
std::string written(const Tokens& x, const std::string& symbols) {
  std::string text;
  for (int symbol : x) text += symbols.at(size_t(symbol));
  return text;
}
std::string digits(const Tokens& x) { return written(x, "0123456789"); }

std::string sorted(std::string text) {
  std::sort(text.begin(), text.end());
  return text;
}

std::string answer_to(const std::string& name, const std::string& text) {
  for (const Oracle& oracle : oracles())
    if (oracle.task == name) return digits(task(name).answer(read(text, oracle.symbols)));
  return "no such oracle";
}

// The inputs that a task draws at a length.
std::set<std::string> drawn(const std::string& name, int length, int draws = 300) {
  std::set<std::string> seen;
  Rng rng({3, 0, 0});
  for (const Oracle& oracle : oracles())
    for (int i = 0; i < draws && oracle.task == name; ++i)
      seen.insert(written(task(name).input(rng, length), oracle.symbols));
  return seen;
}
using Set = std::set<std::string>;

}  // namespace

TEST_CASE("tasks: the fifteen of table 1, in its order, by level") {
  for (size_t i = 0; i < all_tasks().size(); ++i) {
    const Task& t = task(all_tasks()[i].name);
    CHECK(t.name == all_tasks()[i].name);
    REQUIRE_MESSAGE((i < oracles().size() && t.name == oracles()[i].task),
                    t.name << " has no oracle at its place; write one in tests/tasks/task_oracle.cpp");
    const std::string level = i < 4 ? "regular" : i < 8 ? "context_free" : "context_sensitive";
    CHECK_MESSAGE((i >= 15 || t.level == level),
                  t.name << " is among the fifteen of table 1; a new task comes after bucket_sort in tasks/all.cpp");
    CHECK(t.symbols_in == int(oracles()[i].symbols.size()));
    CHECK(!t.summary.empty());
  }
  CHECK_THROWS_AS(task("evn_pairs"), BadInput);
  CHECK_THROWS_WITH(task("evn_pairs"), doctest::Contains("unknown task \"evn_pairs\"; did you mean \"even_pairs\"?"));
}

TEST_CASE("tasks: every input of small lengths has the oracle's answer") {
  for (const Oracle& oracle : oracles()) {
    CAPTURE(oracle.task);
    const Task& t = task(oracle.task);
    int wrong = 0;
    for (int length = 1; length <= oracle.longest; ++length) {
      for (const auto& [text, probability] : oracle.law(length)) {
        const Tokens y = t.answer(read(text, oracle.symbols));
        const std::string expected = oracle.answer(text);
        const bool ends = oracle.task == "stack_manipulation" || oracle.task.starts_with("binary");
        const size_t counted = ends ? expected.find('2') + 1 : expected.size();
        const bool right = digits(y) == expected && t.scored_slots(y) == int(counted) &&
                           t.output_length(length) == int(y.size()) &&
                           *std::max_element(y.begin(), y.end()) < t.symbols_out;
        if (!right && ++wrong <= 3) MESSAGE(text, " -> ", digits(y), ", expected ", expected);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("tasks: inputs follow their distribution") {
  for (const Oracle& oracle : oracles()) {
    CAPTURE(oracle.task);
    for (int length = 1; length <= oracle.longest_law; ++length) {
      const Law law = oracle.law(length);
      const int draws = 4000 + 20 * int(law.size());
      std::map<std::string, int> seen;
      for (int i = 0; i < draws; ++i) {
        Rng rng(stream(1, Purpose::tokens, uint64_t(length), uint32_t(i)));
        ++seen[written(task(oracle.task).input(rng, length), oracle.symbols)];
      }
      CAPTURE(length);
      CHECK(surprise(law, seen, draws) < one_in_a_million);
    }
  }
}

TEST_CASE("tasks: shuffled inputs follow the distribution given the content") {
  for (const Oracle& oracle : oracles()) {
    CAPTURE(oracle.task);
    for (int length : {1, 2, 3, oracle.longest_law - 1, oracle.longest_law}) {
      const Law law = oracle.law(length);
      std::map<std::string, double> share;   // the probability of each content
      for (const auto& [text, p] : law) share[sorted(text)] += p;
      for (int i = 0; i < 8; ++i) {
        Rng rng(stream(2, Purpose::tokens, uint64_t(length), uint32_t(i)));
        const Tokens x = task(oracle.task).input(rng, length);
        const std::string content = sorted(written(x, oracle.symbols));
        Law given;
        for (const auto& [text, p] : law) if (sorted(text) == content) given[text] = p / share[content];
        std::map<std::string, int> seen;
        for (int k = 0; k < 3000; ++k) ++seen[written(task(oracle.task).shuffled(x, rng), oracle.symbols)];
        CAPTURE(content);
        CHECK(surprise(given, seen, 3000) < one_in_a_million);
      }
    }
  }
}

TEST_CASE("tasks: the strings of lengths 1 to 4 are as in the table") {
  CHECK(drawn("even_pairs", 1) == Set{"0", "1"});
  CHECK(answer_to("even_pairs", "0") == "0");
  CHECK(answer_to("even_pairs", "1") == "0");
  CHECK(answer_to("parity_check", "1") == "1");
  CHECK(answer_to("cycle_navigation", "20022") == "1");
  CHECK(answer_to("cycle_navigation", "01") == "4");

  CHECK(drawn("modular_arithmetic", 1) == drawn("modular_arithmetic", 2));
  CHECK(drawn("modular_arithmetic", 2) == Set{"0", "1", "2", "3", "4"});
  CHECK(drawn("modular_arithmetic", 4).begin()->size() == 3);
  CHECK(answer_to("modular_arithmetic", "1+2*3") == "2");
  CHECK(answer_to("modular_arithmetic", "1-1-1") == "4");
  CHECK(answer_to("modular_arithmetic", "0*1+4*3-2") == "0");
  CHECK(answer_to("modular_arithmetic", "1-2*3") == "0");   // the minus belongs to the term

  CHECK(drawn("stack_manipulation", 1) == Set{"0", "1"});
  CHECK(answer_to("stack_manipulation", "1") == "12");
  CHECK(answer_to("stack_manipulation", "0110bpp") == "11020000");
  CHECK(answer_to("stack_manipulation", "110ppp") == "2000000");
  CHECK(answer_to("stack_manipulation", "1ppa") == "02000");   // POP on an empty stack is ignored

  CHECK(drawn("modular_arithmetic_brackets", 2) == Set{"-0", "-1", "-2", "-3", "-4"});
  CHECK(drawn("modular_arithmetic_brackets", 4) == Set{"(-0)", "(-1)", "(-2)", "(-3)", "(-4)"});
  CHECK(answer_to("modular_arithmetic_brackets", "(-3--4)") == "1");

  CHECK(drawn("solve_equation", 1) == Set{"0"});
  CHECK(drawn("solve_equation", 2) == Set{"00"});
  CHECK(drawn("solve_equation", 3) == Set{"x=0", "x=1", "x=2", "x=3", "x=4"});
  CHECK(answer_to("solve_equation", "00") == "0");
  CHECK(answer_to("solve_equation", "-x=1") == "4");

  CHECK(answer_to("duplicate_string", "101") == "101101");
  CHECK(drawn("missing_duplicate_string", 1) == Set{"1"});
  CHECK(drawn("missing_duplicate_string", 2) == Set{"0?", "1?", "?0", "?1"});
  CHECK(drawn("missing_duplicate_string", 3) == Set{"0?_", "1?_", "?0_", "?1_"});
  CHECK(answer_to("missing_duplicate_string", "1") == "1");
  CHECK(answer_to("missing_duplicate_string", "01100?10") == "1");
  CHECK(answer_to("missing_duplicate_string", "1011?1_") == "0");

  CHECK(answer_to("odds_first", "1") == "1");
  CHECK(answer_to("odds_first", "00110101") == "01110100");

  for (const char* name : {"binary_addition", "binary_multiplication"}) {
    CHECK(drawn(name, 1) == Set{"0"});
    CHECK(drawn(name, 2) == Set{"00", "01", "10"});
    CHECK(drawn(name, 3) == Set{"1#1"});
    CHECK(drawn(name, 4) == Set{"01#1", "10#1", "11#1", "1#01", "1#10", "1#11"});
  }
  CHECK(answer_to("binary_addition", "0") == "02");
  CHECK(answer_to("binary_addition", "00") == "020");
  CHECK(answer_to("binary_addition", "01") == "012");
  CHECK(answer_to("binary_addition", "1#1") == "0120");
  CHECK(answer_to("binary_addition", "001#01101") == "0101120000");       // 4 + 22 = 26
  CHECK(answer_to("binary_multiplication", "0") == "2");
  for (const char* any : {"00", "01", "10"}) CHECK(answer_to("binary_multiplication", any) == "02");
  CHECK(answer_to("binary_multiplication", "1#1") == "120");
  CHECK(answer_to("binary_multiplication", "001#01101") == "000110120");  // 4 x 22 = 88

  CHECK(drawn("compute_sqrt", 1) == Set{"1"});
  CHECK(drawn("compute_sqrt", 2) == Set{"01", "10", "11"});
  CHECK(answer_to("compute_sqrt", "1") == "1");
  CHECK(answer_to("compute_sqrt", "100101") == "110");
  CHECK(answer_to("compute_sqrt", "00001") == "001");
  CHECK(answer_to("bucket_sort", "43040") == "00344");
}

TEST_CASE("tasks: other numbers of copies, and odds_first in the order of its name") {
  CHECK(task("duplicate_string:copies=1").answer({1, 0}) == Tokens{1, 0});
  CHECK(task("duplicate_string:copies=3").answer({1, 0}) == Tokens{1, 0, 1, 0, 1, 0});
  CHECK(task("duplicate_string:copies=3").output_length(7) == 21);
  CHECK(&task("duplicate_string:copies=3") == &task("duplicate_string:copies=3"));
  CHECK_THROWS_WITH_AS(task("duplicate_string:copies=0"),
                       "duplicate_string: copies = 0 is out of range; it takes 1 .. 64", BadInput);
  CHECK_THROWS_WITH_AS(task("even_pairs:copies=3"),
                       "even_pairs has no options; leave out \"copies\"", BadInput);
  const Tokens slots{1, 2, 3, 4, 5};
  CHECK(task("odds_first").answer(slots) == Tokens{2, 4, 1, 3, 5});
  CHECK(task("odds_first:order=named").answer(slots) == Tokens{1, 3, 5, 2, 4});
}

TEST_CASE("tasks: a task of your own gives the answer, and missing parts are filled in or refused") {
  const Task copy{.name = "copy", .output_length = as_long_as_input, .answer = [](const Tokens& x) { return x; }};
  const Task whole = completed(copy);
  Rng rng({3, 0, 0});
  const Tokens x = whole.input(rng, 6);
  CHECK((x.size() == 6 && whole.fits(x) && whole.scored_slots(x) == 6));
  CHECK(std::is_permutation(x.begin(), x.end(), whole.shuffled(x, rng).begin()));
  CHECK(whole.form == "any strings of 0 1");
  CHECK_THROWS_WITH_AS(completed({.name = "mute"}), doctest::Contains("mute: it has no answer"), BadInput);
  Task wide = copy;
  wide.alphabet = {"a", "b", "c"};
  CHECK_THROWS_WITH_AS(completed(wide), doctest::Contains("an alphabet of 3 texts for 2 symbols"), BadInput);
  CHECK_THROWS_WITH_AS(completed({.name = "mute", .output_length = as_long_as_input}),
                       doctest::Contains("mute: it has no answer"), BadInput);
}

TEST_CASE("tasks: if one symbol begins like another, the longest that fits is read") {
  const auto read_by = [](std::vector<std::string> alphabet, const std::string& text) {
    Task copy{.name = "copy", .symbols_in = int(alphabet.size()), .output_length = as_long_as_input};
    copy.answer = [](const Tokens& x) { return x; }, copy.alphabet = std::move(alphabet);
    return read_input(completed(copy), text);
  };
  CHECK(read_by({"a", "ab", "abc"}, "abaabc") == Tokens{1, 0, 2});
  CHECK(read_by({"abc", "ab", "a"}, "ABaabc") == Tokens{1, 2, 0});
  Task numbers{.name = "copy", .symbols_in = 12, .output_length = as_long_as_input};
  numbers.answer = [](const Tokens& x) { return x; };
  numbers = completed(numbers);
  CHECK(written_input(numbers, {1, 0, 11, 10}) == "1 0 11 10");
  CHECK(read_input(numbers, "1 0 11 10") == Tokens{1, 0, 11, 10});
  for (const char* nested : {"solve_equation", "modular_arithmetic_brackets"})
    CHECK_THROWS_WITH_AS(read_input(task(nested), std::string(300000, '(')),
                         doctest::Contains("has 300000 symbols; ask about 10000 at most"), BadInput);
}

TEST_CASE("tasks: invalid strings are refused, and never read beyond their end") {
  const Task& brackets = task("modular_arithmetic_brackets");
  const std::string symbols = "01234+-*()x";
  for (const char* text : {"", "(", "(1+", "(1+2", "1+2", "--1", "(1 2)", "x", "(1)2", "-(1)", "()"})
    CHECK_THROWS_AS(brackets.answer(read(text, symbols)), BadInput);
  for (const char* text : {"1+2", "(x+", "(1+2)=3", "x=x"})
    CHECK_THROWS_AS(task("solve_equation").answer(read(text, "01234+-()x=")), BadInput);
}

TEST_CASE("tasks: lengths up to 500 stay within the alphabet and the slots") {
  for (const std::string& each : names_of(all_tasks())) {
    const Task* t = &task(each);
    CAPTURE(t->name);
    for (int length : {31, 40, 63, 64, 65, 100, 129, 499, 500}) {
      for (uint32_t i = 0; i < 10; ++i) {
        Rng rng(stream(4, Purpose::tokens, uint64_t(length), i));
        const Tokens x = t->input(rng, length), y = t->answer(x), z = t->shuffled(x, rng);
        CHECK(int(x.size()) == (t->name == "modular_arithmetic" ? length - (length + 1) % 2 : length));
        CHECK((*std::min_element(x.begin(), x.end()) >= 0 && *std::max_element(x.begin(), x.end()) < t->symbols_in));
        CHECK((*std::min_element(y.begin(), y.end()) >= 0 && *std::max_element(y.begin(), y.end()) < t->symbols_out));
        CHECK(int(y.size()) == t->output_length(length));
        CHECK((t->scored_slots(y) >= 1 && t->scored_slots(y) <= int(y.size())));
        CHECK(std::is_permutation(x.begin(), x.end(), z.begin(), z.end()));
      }
    }
  }
}
