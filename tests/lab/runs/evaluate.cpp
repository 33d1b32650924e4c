// The two scores, the inputs that determine a test string, and the options of evaluation.
#include "experiment/lengths.h"
#include "tasks/curriculum.h"
#include "tests/lab/helpers.h"
#include "tests/lab/learners.h"

using namespace poslab;
using namespace poslab::test;

namespace {

bool same(const std::vector<AtLength>& a, const std::vector<AtLength>& b) { return to_csv(a) == to_csv(b); }

}  // namespace

TEST_CASE("the paper's score begins one length above the longest trained one, the released code's two lengths above") {
  std::vector<AtLength> all;
  for (int length = 1; length <= 100; ++length)
    all.push_back({length, 1, length / 100.0, 0, 0, {0.5, 0.25, length / 200.0}});
  RunSpec c(all_choices().standard);
  c.set("train_length", "40");
  REQUIRE(paper_score(c, all));
  CHECK(paper_score(c, all)->from == 41);
  CHECK(paper_score(c, all)->accuracy == doctest::Approx((41 + 100) / 200.0));
  CHECK(paper_score(c, all)->baselines.content_only == doctest::Approx((41 + 100) / 400.0));
  CHECK(released_score(c, all)->accuracy == doctest::Approx((42 + 100) / 200.0));
  const std::vector<AtLength> short_ones(all.begin(), all.begin() + 40), long_ones(all.begin() + 41, all.end());
  CHECK(!paper_score(c, short_ones));
  CHECK(!paper_score(c, long_ones));
  CHECK(released_score(c, long_ones)->from == 42);
}

TEST_CASE("a test has one list of strings, however it is split into sub-batches") {
  const RunSpec c(tiny_config());
  const Batch whole = test_batch(c, 9, 0, 4), end = test_batch(c, 9, 2, 2);
  const int64_t half = end.tokens.size();
  REQUIRE(whole.tokens.size() == 2 * half);
  CHECK(std::equal(end.tokens.data(), end.tokens.data() + half, whole.tokens.data() + half));
  CHECK(!std::equal(end.tokens.data(), end.tokens.data() + half, whole.tokens.data()));
}

TEST_CASE("evaluation is repeatable, and each switch changes it") {
  const auto result = [](const Settings& more) {
    State s(tiny_config());
    for (auto& [name, text] : more) s.config.set(name, text);
    return evaluate(s);
  };
  const std::vector<AtLength> plain = result({{"eval_samples", "70"}});
  CHECK(plain.size() == 9);
  CHECK(plain[4].samples == 70);
  for (const AtLength& at : plain) {  // sub-batches of 64 and of 6 strings weigh by their size
    const double right = 70 * at.length * at.accuracy;
    CHECK(right == doctest::Approx(std::round(right)).epsilon(1e-9));
  }
  CHECK(same(plain, result({{"eval_samples", "70"}})));
  CHECK(!same(plain, result({{"eval_samples", "70"}, {"test_positions", "sequential"}})));
  CHECK(!same(plain, result({{"eval_samples", "70"}, {"test_dropout", "on"}})));
  // A length is tested on the same strings, whatever other lengths are tested.
  const std::vector<AtLength> part = result({{"eval_samples", "70"}, {"eval_lengths", "5:6"}});
  CHECK(same({plain[4], plain[5]}, part));
}

TEST_CASE("a row of a test has a cell for each column, or says which columns it lacks") {
  const Columns two = columns({Column::word("task"), Column::number("loss")});
  const Row row(two, {"copy", 0.5});
  CHECK(row["loss"] == 0.5);
  CHECK(row.word("task") == "copy");
  CHECK_THROWS_WITH_AS(Row(two, {"copy"}), doctest::Contains("a row of 1 cells in a table of 2 columns"), Failure);
  CHECK_THROWS_WITH_AS(row["accuracy"], doctest::Contains("no numbers in a column \"accuracy\""), Failure);
  CHECK_THROWS_WITH_AS(row["task"], doctest::Contains("no numbers in a column \"task\""), Failure);
  CHECK_THROWS_WITH_AS(row.word("loss"), doctest::Contains("no words in a column \"loss\""), Failure);
  CHECK_THROWS_WITH_AS(kind_of(Choices("sampler", {})), "these are not the choices of a run", Failure);
}

TEST_CASE("a test is shown in rows of a tenth of its lengths, none of which mixes trained and longer ones") {
  Results rows;
  for (int length = 3; length <= 22; ++length)  // the accuracy at a length is 4 times the length, in %
    rows.push_back(row_of({length, 8, 4 * length / 100., 0, 0, {0.5, 0.25, length / 100.}}));
  RunSpec c(all_choices().standard);
  c.set("train_length", "9");
  const std::string text = shown_by_length(c, rows);
  CHECK(text.substr(text.find('\n')).starts_with(R"(

                 lengths      accuracy   chance  majority  content only
  as in training    3 .. 4         14.0     50.0      25.0           3.5
  as in training    5 .. 6         22.0     50.0      25.0           5.5
  as in training    7 .. 8         30.0     50.0      25.0           7.5
  as in training    9 .. 9         36.0     50.0      25.0           9.0
  longer           10 .. 11        42.0     50.0      25.0          10.5
  longer           12 .. 13        50.0     50.0      25.0          12.5
  longer           14 .. 15        58.0     50.0      25.0          14.5
  longer           16 .. 17        66.0     50.0      25.0          16.5
  longer           18 .. 19        74.0     50.0      25.0          18.5
  longer           20 .. 21        82.0     50.0      25.0          20.5
  longer           22 .. 22        88.0     50.0      25.0          22.0

  paper score      10 .. 22        64.0     50.0      25.0          16.0
  released score   11 .. 22        66.0     50.0      25.0          16.5
)"));
  CHECK(text.find("after the training of") == text.npos);
  c.set("curriculum", "fixed"), c.set("from", "runs/a");   // only the longest is trained, after other lengths
  const std::string fixed = shown_by_length(c, rows);
  CHECK(fixed.find("  shorter           7 .. 8 ") != fixed.npos);
  CHECK(fixed.find("  as in training    9 .. 9 ") != fixed.npos);
  CHECK(fixed.find("as in training: length 9, after the training of runs/a, whose own lengths") != fixed.npos);
}

TEST_CASE("lengths: Modular Arithmetic has only odd ones, so length 6 counts as trained if length 5 does") {
  const RunSpec c(tiny_config({{"task", "modular_arithmetic"}, {"train_length", "5"}}));
  CHECK(trained_lengths(c).to == 6);
  CHECK(familiarity(c, 6) == "trained");
  Results rows;
  for (int length = 1; length <= 9; ++length) rows.push_back(row_of({length, 8, length / 10., 0, 0, {}}));
  CHECK(paper_score(c, at_lengths(rows))->from == 7);
  CHECK(released_score(c, at_lengths(rows))->from == 8);
  for (const Task& t : all_tasks())
    CHECK(trained_lengths(tiny_config({{"task", t.name}, {"train_length", "6"}})).to == 6);
}

TEST_CASE("lengths: those of the curriculum are familiar, and those of an origin are unknown") {
  RunSpec c(tiny_config({{"train_length", "9"}}));
  for (const char* curriculum : {"uniform", "increasing", "reverse_exponential"}) {
    c.set("curriculum", curriculum);
    CHECK(in_words(trained_lengths(c)) == "lengths 1 to 9");
    CHECK(familiarity(c, 1) == "trained");
  }
  CHECK(familiarity(c, 10) == "unseen");
  c.set("from", "runs/a");
  CHECK(familiarity(c, 10) == "unseen in this run");
  c.set("curriculum", "fixed");
  CHECK(in_words(trained_lengths(c)) + after_origin(c) == "length 9, after the training of runs/a");
  CHECK(familiarity(c, 8) == "unseen in this run");
  CHECK(familiarity(c, 9) == "trained");
  for (const Curriculum& one : all_curricula())            // compares the flag with the lengths that are drawn
    for (int64_t step = 0; step < 60; ++step)
      CHECK((training_length({one.name, 9, 60}, 1, step) == 9 || !one.longest_alone));
}
