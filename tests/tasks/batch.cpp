// The layout of tokens, streams of batches, scores.
#include "tasks/baselines.h"
#include "tasks/batch.h"

#include <doctest/doctest.h>

#include "core/error.h"

using namespace poslab;

namespace {

std::vector<int> all(const Ids& ids) { return {ids.data(), ids.data() + ids.size()}; }

// Logits in which the given symbol of each slot has the value `high`.
std::vector<real> logits_for(const std::vector<int>& symbols, int classes) {
  std::vector<real> logits(symbols.size() * size_t(classes), real(-1));
  for (size_t i = 0; i < symbols.size(); ++i) logits[i * size_t(classes) + size_t(symbols[i])] = 1;
  return logits;
}

}  // namespace

TEST_CASE("make_batch: the input, then an empty symbol for each slot of the answer") {
  for (const std::string& each : names_of(all_tasks())) {
    const Task* t = &task(each);
    CAPTURE(t->name);
    for (int length : {1, 2, 3, 7, 40}) {
      const Stream s = stream(1, Purpose::tokens, 5);
      const Batch batch = make_batch(*t, 6, length, s);
      const int outputs = t->output_length(length), width = batch.tokens.shape()[1], read = width - outputs;
      CHECK(batch.outputs == outputs);
      CHECK(batch.tokens.shape()[0] == 6);
      CHECK(batch.targets.shape() == Shape{6, outputs});
      CHECK(batch.scored_slots.shape() == Shape{6});
      for (int b = 0; b < 6; ++b) {
        Rng rng({s.seed, s.step, s.site + uint32_t(b)});
        const Tokens x = t->input(rng, length), y = t->answer(x);
        REQUIRE(int(x.size()) == read);
        for (int i = 0; i < width; ++i)
          CHECK(batch.tokens[b * width + i] == (i < read ? x[size_t(i)] : t->symbols_in));
        for (int i = 0; i < outputs; ++i) CHECK(batch.targets[b * outputs + i] == y[size_t(i)]);
        CHECK(batch.scored_slots[b] == t->scored_slots(y));
      }
    }
  }
}

TEST_CASE("make_batch: the same however it is split, and different for every step and seed") {
  const Task& t = task("stack_manipulation");
  const Stream s = stream(9, Purpose::tokens, 3);
  const Batch whole = make_batch(t, 10, 12, s), head = make_batch(t, 4, 12, s);
  Stream later = s;
  later.site += 4;
  const Batch tail = make_batch(t, 6, 12, later);
  std::vector<int> tokens = all(head.tokens), targets = all(head.targets), counted = all(head.scored_slots);
  for (int id : all(tail.tokens)) tokens.push_back(id);
  for (int id : all(tail.targets)) targets.push_back(id);
  for (int id : all(tail.scored_slots)) counted.push_back(id);
  CHECK(tokens == all(whole.tokens));
  CHECK(targets == all(whole.targets));
  CHECK(counted == all(whole.scored_slots));
  CHECK(all(make_batch(t, 10, 12, stream(9, Purpose::tokens, 4)).tokens) != all(whole.tokens));
  CHECK(all(make_batch(t, 10, 12, stream(8, Purpose::tokens, 3)).tokens) != all(whole.tokens));
}

TEST_CASE("make_batch: simple arithmetic of an even length has one symbol fewer") {
  CHECK(make_batch(task("modular_arithmetic"), 2, 6, {1, 0, 0}).tokens.shape() == Shape{2, 6});   // 5 + 1
}

TEST_CASE("score: slots after the terminator count only without the mask; of equal logits the first is the answer") {
  // Two sequences of three slots; in the second, two slots count.
  const Batch batch{Ids({2, 1}, {0, 0}), Ids({2, 3}, {0, 1, 2, 1, 2, 0}), Ids({2}, {3, 2}), 3};
  const auto check = [&](const std::vector<int>& given, int right, int unmasked) {
    const Score s = score(logits_for(given, 3).data(), 3, batch);
    CHECK(s.correct == right);
    CHECK(s.scored == 5);
    CHECK(s.correct_unmasked == unmasked);
    CHECK(s.slots == 6);
  };
  check({0, 1, 2, 1, 2, 0}, 5, 6);
  check({0, 1, 2, 1, 2, 1}, 5, 5);
  check({0, 1, 1, 1, 1, 0}, 3, 4);
  check({1, 2, 0, 0, 0, 1}, 0, 0);
  const std::vector<real> ties(18, real(0.5));
  CHECK(score(ties.data(), 3, batch).correct == 1);            // class 0 everywhere
  CHECK(score(ties.data(), 3, batch).correct_unmasked == 2);
}

TEST_CASE("make_batch and baselines: bad input is refused") {
  CHECK_THROWS_AS(make_batch(task("even_pairs"), 0, 5, {}), BadInput);
  CHECK_THROWS_AS(make_batch(task("even_pairs"), 5, 0, {}), BadInput);
  CHECK_THROWS_AS(baselines(task("even_pairs"), 0, 5, 1), BadInput);
  CHECK_THROWS_AS(baselines(task("even_pairs"), 5, 0, 1), BadInput);
  CHECK_THROWS_WITH_AS(batch_of(task("even_pairs"), {{0, 1}, {0, 1, 1}}),
                       doctest::Contains("even_pairs: strings of 2 and of 3 symbols in one batch"), BadInput);
}
