// Text as values: vocabularies, windows, training and test sides, and the language with a known lowest loss.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/error.h"
#include "tasks/language/copy_grammar.h"
#include "tasks/language/text.h"
#include "tasks/language/vocabulary.h"

using namespace poslab;

namespace {

Rng numbers(uint32_t which) { return Rng(stream(5, Purpose::tokens, which)); }

// Files in memory. Byte n of a file is 'a' + (n + the hash of its path) % 26.
Text made(const std::vector<std::pair<std::string, int64_t>>& files) {
  Text t;
  for (auto& [path, bytes] : files) t.files.push_back({path, bytes});
  t.read = [](const TextFile& f, int64_t from, int64_t bytes) {
    REQUIRE(from >= 0);
    REQUIRE(from + bytes <= f.bytes);
    std::string all;
    for (int64_t n = from; n < from + bytes; ++n) all += char('a' + (n + int64_t(hash_of(f.path) % 26)) % 26);
    return all;
  };
  return t;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  for (std::string_view word; !(word = next_word(text)).empty(); text.remove_prefix(word.size()))
    all.emplace_back(word);
  return all;
}

}  // namespace

TEST_CASE("words: a space belongs to the word after it, and nothing of a text is lost") {
  using list = std::vector<std::string>;
  CHECK(words("the cat_2 sat") == list{"the", " cat_", "2", " sat"});
  CHECK(words("x+=1;\n  y") == list{"x", "+=", "1", ";", "\n ", " y"});
  CHECK(words("  ") == list{"  "});
  CHECK(words(" ") == list{" "});
  CHECK(words("\xC3\xA9t\xC3\xA9 \xFF") == list{"\xC3\xA9t\xC3\xA9", " \xFF"});
  CHECK(words(std::string(130, 'a')) == list{std::string(64, 'a'), std::string(64, 'a'), "aa"});
  CHECK(words("").empty());
}

TEST_CASE("a text is its bytes if nothing is merged, whatever the bytes") {
  const Vocabulary bytes;
  CHECK(bytes.size() == 256);
  std::string all(256, '\0');
  std::iota(all.begin(), all.end(), char(0));
  std::vector<int> numbers(256);
  std::iota(numbers.begin(), numbers.end(), 0);
  CHECK(bytes.encode(all) == numbers);
  CHECK(bytes.decode(numbers) == all);
  CHECK(bytes.encode("abc", 2) == std::vector<int>{'a', 'b'});
  CHECK(bytes.prefix().empty());
  for (const int token : {-1, 256})
    CHECK_THROWS_WITH_AS(bytes.decode({token}), doctest::Contains("tokens are 0 .. 255"), BadInput);
}

TEST_CASE("merges: counts of pairs equal counts by hand") {
  // The example of Sennrich, Haddow, Birch 2016, algorithm 1: e s, es t, est (end of word), l o, lo w. Without a mark
  // for the end of a word:  s t 9, e st 9, l o 7, lo w 7, ...  ("es" and "st" are equally frequent, and e < s).
  const WordCounts counts = {{"low", 5}, {"lower", 2}, {"newest", 6}, {"widest", 3}};
  const Vocabulary v = Vocabulary::learn(counts, 4);
  REQUIRE(v.merges().size() == 4);
  CHECK(v.text(256) == "es");
  CHECK(v.text(257) == "est");
  CHECK(v.text(258) == "lo");
  CHECK(v.text(259) == "low");
  CHECK(v.encode("lowest") == std::vector<int>{259, 257});
  CHECK(v.longest() == 3);
  // no pair that occurs twice is left
  CHECK(Vocabulary::learn({{"ab", 2}, {"cd", 1}}, 10).merges().size() == 1);
  CHECK(Vocabulary::learn({}, 10).size() == 256);
  CHECK_THROWS_AS(Vocabulary::learn({}, -1), BadInput);
  for (const Vocabulary::Merge& merge : {Vocabulary::Merge{256, 1}, {1, 256}, {-1, 1}, {1, -1}})
    CHECK_THROWS_WITH_AS(Vocabulary({merge}), doctest::Contains("only 0 .. 255 come before it"), BadInput);
}

namespace {

// Merges found by counting all pairs in all words again after each merge.
std::vector<Vocabulary::Merge> counted_anew(const WordCounts& counts, int wanted) {
  std::vector<std::pair<std::vector<int>, int64_t>> words;
  for (auto& [word, count] : counts) words.push_back({Vocabulary().encode(word), count});
  std::vector<Vocabulary::Merge> merges;
  while (int(merges.size()) < wanted) {
    std::map<Vocabulary::Merge, int64_t> pairs;
    for (auto& [tokens, count] : words)
      for (size_t i = 1; i < tokens.size(); ++i) pairs[{tokens[i - 1], tokens[i]}] += count;
    int64_t most = 1;
    for (auto& [pair, count] : pairs) most = std::max(most, count);
    const auto best = std::find_if(pairs.begin(), pairs.end(), [&](auto& p) { return p.second == most && most > 1; });
    if (best == pairs.end()) break;
    for (auto& [tokens, count] : words) {
      std::vector<int> joined;
      for (const int token : tokens) {
        const bool here = !joined.empty() && joined.back() == best->first.first && token == best->first.second;
        if (here)
          joined.back() = 256 + int(merges.size());
        else
          joined.push_back(token);
      }
      tokens = joined;
    }
    merges.push_back(best->first);
  }
  return merges;
}

}  // namespace

TEST_CASE("merges: they equal merges that recount all pairs each time") {
  Rng rng = numbers(8);
  WordCounts counts;
  for (int n = 0; n < 300; ++n) {
    std::string word;
    for (int i = rng.between(1, 9); i > 0; --i) word += char('a' + rng.below(4));  // among them "aaaa"
    counts[word] += rng.between(1, 20);
  }
  for (const int merges : {1, 20, 200, 5000})
    CHECK(Vocabulary::learn(counts, merges).merges() == counted_anew(counts, merges));
}

TEST_CASE("merges: encoded text decodes to the same bytes, and begins alike however many tokens are asked for") {
  WordCounts counts;
  Rng rng = numbers(1);
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "etaoin  \n{}0\xC3\xA9"[rng.below(14)];
  count_words(counts, text);
  const Vocabulary v = Vocabulary::learn(counts, 60);
  CHECK(v.merges().size() == 60);
  const std::vector<int> all = v.encode(text);
  CHECK(all.size() < text.size() * 9 / 10);
  CHECK(v.decode(all) == text);
  const TokenizedText read = v.tokenize(text);
  CHECK(read.covered == text.size());
  for (size_t n = 0; n < all.size(); ++n) CHECK(size_t(read.bytes[n]) == v.text(all[n]).size());
  CHECK(v.encode(text, 100) == std::vector<int>(all.begin(), all.begin() + 100));
  // a repeated token: "aaaa" with one merge, of a and a
  CHECK(Vocabulary({{'a', 'a'}}).encode("aaaaa") == std::vector<int>{256, 256, 'a'});
}

TEST_CASE("sides: whole files, one in ten by the hash of its path, whatever other files there are") {
  Text all = made({});
  for (int i = 0; i < 2000; ++i) all.files.push_back({fmt::format("bits/file_{}.h", i), 100});
  const Text training = training_text(all), test = test_text(all);
  CHECK(training.files.size() + test.files.size() == 2000);
  CHECK(test.files.size() > 150);
  CHECK(test.files.size() < 250);
  for (const TextFile& f : test.files) CHECK(in_test_set(f.path));
  for (const TextFile& f : training.files) CHECK(!in_test_set(f.path));
  // if there are few files, each side still has one
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"a", "b"}, {"one", "two"}, {test.files[0].path, test.files[1].path}};
  for (const auto& [one, other] : pairs) {
    const Text two = made({{one, 10}, {other, 10}});
    CHECK(training_text(two).files.size() == 1);
    CHECK(test_text(two).files.size() == 1);
    CHECK(training_text(two).files[0].path != test_text(two).files[0].path);
  }
  // of a single file, the test side is the last tenth
  const Text one = made({{"a", 25}}), first = training_text(one), last = test_text(one);
  CHECK(first.bytes() == 23);
  CHECK(last.bytes() == 2);
  CHECK(first.read(first.files[0], 0, 23) + last.read(last.files[0], 0, 2) == one.read(one.files[0], 0, 25));
  CHECK(last.read(last.files[0], 1, 1) == one.read(one.files[0], 24, 1));
  CHECK_THROWS_AS(test_text(made({})), BadInput);
}

TEST_CASE("windows: every start of every file is equally likely, and a window stays in its file") {
  const Text text = made({{"a", 12}, {"b", 5}, {"c", 9}});  // 8, 1 and 5 windows of 5 bytes
  std::map<std::string, int> seen;
  Rng rng = numbers(2);
  constexpr int draws = 14000;
  for (int i = 0; i < draws; ++i) {
    const std::vector<int> w = draw_window(text, Vocabulary(), 5, rng).tokens;
    REQUIRE(w.size() == 5);
    for (size_t n = 1; n < 5; ++n) CHECK((w[n] - w[n - 1] + 26) % 26 == 1);
    ++seen[Vocabulary().decode(w)];
  }
  std::map<std::string, int> ways;
  for (const TextFile& f : text.files)
    for (int64_t at = 0; at + 5 <= f.bytes; ++at) ++ways[text.read(f, at, 5)];
  CHECK(seen.size() == ways.size());
  for (auto& [window, count] : seen) {
    const double p = ways[window] / 14.;
    CHECK(std::abs(count - draws * p) < 5 * std::sqrt(draws * p * (1 - p)));
  }
  Rng one = numbers(3), same = numbers(3);
  CHECK(draw_window(text, Vocabulary(), 3, one).tokens == draw_window(text, Vocabulary(), 3, same).tokens);
  CHECK(draw_window(text, Vocabulary(), 1, one).tokens.size() == 1);
  CHECK(windows(text, 5) == 14);
  CHECK(windows(text, 13) == 0);
  CHECK_THROWS_AS(draw_window(text, Vocabulary(), 13, rng), BadInput);
  CHECK_THROWS_AS(draw_window(text, Vocabulary(), 0, rng), BadInput);
}

TEST_CASE("windows: they have as many merged tokens as requested") {
  const Text text = made({{"a", 100}, {"b", 40}});
  const Vocabulary pairs({{'a', 'b'}, {'c', 'd'}, {256, 257}});
  Rng rng = numbers(4);
  for (int i = 0; i < 100; ++i) CHECK(draw_window(text, pairs, 30, rng).tokens.size() == 30);
  // 100 bytes never give 98 tokens, wherever they start
  CHECK_THROWS_AS(draw_window(text, pairs, 98, rng), BadInput);
}

TEST_CASE("windows: if tokens cover more bytes than their own texts have, more bytes are read") {
  struct Unknown : Tokenizer {  // one token without a text covers a run of 40 bytes
    int size() const override { return 1; }
    const std::string& text(int) const override { return nothing; }
    size_t longest() const override { return 1; }
    TokenizedText tokenize(std::string_view text, size_t most) const override {
      TokenizedText all;
      while (all.tokens.size() < most && all.covered + 40 <= text.size()) all.add(0, all.covered + 40);
      return all;
    }
    std::string nothing;
  };
  Rng rng = numbers(5);
  const TokenizedText w = draw_window(made({{"a", 1000}}), Unknown(), 20, rng);
  CHECK(w.tokens.size() == 20);
  CHECK(w.covered == 800);
  CHECK_THROWS_AS(draw_window(made({{"a", 1000}}), Unknown(), 26, rng), BadInput);
}

TEST_CASE("copy grammar: the probabilities of the next symbol sum to 1, and texts obey them") {
  const CopyGrammar g{.symbols = 7, .clause = 4, .back = 3, .copies = 0.6};
  Rng rng = numbers(6);
  const std::vector<int> text = g.draw(300, rng);
  for (size_t n = 0; n < text.size(); ++n) {
    const std::vector<double> p = g.next({text.begin(), text.begin() + std::ptrdiff_t(n)});
    CHECK(std::accumulate(p.begin(), p.end(), 0.) == doctest::Approx(1));
    CHECK(p[size_t(text[n])] > 0);
  }
  // a text written by hand: three new clauses, then a copy of the clause 2 before
  const int N = 7, C = 8, two = 10;
  const std::vector<int> start = {N, 0, 1, 2, 3, N, 4, 5, 6, 0, N, 6, 0, 2, 5};
  for (const int clauses : {0, 1, 2})  // nothing can be copied yet, so the clause must be new
    CHECK(g.next({start.begin(), start.begin() + 5 * clauses})[size_t(N)] == 1);
  CHECK(g.next(start)[size_t(C)] == doctest::Approx(0.6));
  std::vector<int> copy = start;
  copy.insert(copy.end(), {C, two});
  for (const int symbol : {4, 5, 6, 0}) {
    CHECK(g.next(copy)[size_t(symbol)] == 1);
    copy.push_back(symbol);
  }
  CHECK(g.next({N, 3})[4] == doctest::Approx(0.5));
  CHECK(g.next({N, 3})[1] == doctest::Approx(0.125));  // 3 + 5 mod 7
  CHECK(g.next({N})[3] == doctest::Approx(1 / 7.));
}

TEST_CASE("copy grammar: the losses of the best predictor have the mean that the formula states") {
  for (const CopyGrammar& g : {CopyGrammar{}, CopyGrammar{.symbols = 8, .clause = 5, .back = 20, .copies = 0.8},
                               CopyGrammar{.copies = 0}, CopyGrammar{.copies = 1}}) {
    Rng rng = numbers(7);
    const std::vector<int> text = g.draw(400000, rng);
    const std::vector<double> losses = g.least_losses(text);
    REQUIRE(losses.size() == text.size());
    const double mean = std::accumulate(losses.begin(), losses.end(), 0.) / double(losses.size());
    CHECK(mean == doctest::Approx(g.least_loss()).epsilon(0.01));
  }
  CHECK(CopyGrammar{.copies = 0}.least_loss() == doctest::Approx(CopyGrammar{.copies = 0}.least_loss_within_clauses()));
  // the default, by hand: (ln 2 + (ln 16 + 13 7/4 ln 2 + ln 8) / 2) / 15.5 = (1 + (4 + 22.75 + 3) / 2) ln 2 / 15.5
  CHECK(CopyGrammar{}.least_loss() == doctest::Approx(15.875 * std::log(2.) / 15.5));
  CHECK(CopyGrammar{}.least_loss_within_clauses() == doctest::Approx((1 + 26.75 + 1.5) * std::log(2.) / 15.5));
  CHECK_THROWS_AS((CopyGrammar{.symbols = 5}.least_loss()), BadInput);
  CHECK_THROWS_AS((CopyGrammar{.clause = 0}.least_loss()), BadInput);
  CHECK_THROWS_AS((CopyGrammar{.back = 0}.least_loss()), BadInput);
  for (const double copies : {1.5, -0.5, double(NAN)})
    CHECK_THROWS_AS((CopyGrammar{.copies = copies}.least_loss()), BadInput);
}
