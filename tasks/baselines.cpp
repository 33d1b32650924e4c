// Accuracy without understanding of the task (spec B.1, finding 4). A predictor is fitted on some draws of the task and
// scored on others: on the draws that it was fitted to, it looks too good, by 2 % with 400 fair bits for each slot.
#include <algorithm>

#include "core/error.h"
#include "core/stop.h"
#include "tasks/baselines.h"
#include "tasks/batch.h"

namespace poslab {
namespace {

enum Part : uint64_t { to_fit, to_score, orders };
Rng draw(uint64_t seed, Part part, int b) { return Rng(stream(seed, Purpose::test_tokens, part, uint32_t(b))); }

using Counts = std::vector<double>;  // one for each output symbol
size_t most_frequent(const Counts& counts) {   // the first of equal ones
  return size_t(std::max_element(counts.begin(), counts.end()) - counts.begin());
}
void count_answer(const Task& task, const Tokens& answer, Counts& counts) {
  for (int slot = 0; slot < task.scored_slots(answer); ++slot) ++counts[size_t(answer[size_t(slot)])];
}

// How often each symbol occurs in each slot, where the slot is scored.
std::vector<Counts> fit(const Task& task, int length, int samples, uint64_t seed) {
  std::vector<Counts> seen(size_t(task.output_length(length)), Counts(size_t(task.symbols_out), 0));
  for (int b = 0; b < samples; ++b) {
    stop_if_requested();
    Rng rng = draw(seed, to_fit, b);
    const Tokens y = task.answer(task.input(rng, length));
    for (size_t slot = 0; slot < size_t(task.scored_slots(y)); ++slot) ++seen[slot][size_t(y[slot])];
  }
  return seen;
}

double majority(const Task& task, int length, int samples, uint64_t seed, const std::vector<Counts>& seen) {
  std::vector<int> prediction;
  for (const Counts& counts : seen) prediction.push_back(int(most_frequent(counts)));
  int64_t correct = 0, scored = 0;
  for (int b = 0; b < samples; ++b) {
    stop_if_requested();
    Rng rng = draw(seed, to_score, b);
    const Tokens y = task.answer(task.input(rng, length));
    const int slots = task.scored_slots(y);
    for (int slot = 0; slot < slots; ++slot) correct += y[size_t(slot)] == prediction[size_t(slot)];
    scored += slots;
  }
  return double(correct) / double(scored);
}

// One symbol for all slots, from the count of each input symbol: each input is put into other orders, and the most
// frequent symbol of their answers is given in all slots. Forty answers are few where the content says little
// (brackets), so forty answers to inputs of any content are added. The score is the mean over the input's own answer
// and those to ten further inputs with its content, which varies less.
double content_only(const Task& task, int length, int samples, uint64_t seed, const std::vector<Counts>& any_content) {
  constexpr int orders_tried = 40, further = 10;
  Counts prior(size_t(task.symbols_out), 0);
  for (const Counts& slot : any_content)
    for (size_t symbol = 0; symbol < prior.size(); ++symbol) prior[symbol] += slot[symbol] * orders_tried / samples;

  double correct = 0, scored = 0;
  for (int b = 0; b < samples; ++b) {
    stop_if_requested();
    Rng rng = draw(seed, to_score, b), order = draw(seed, orders, b);
    const Tokens x = task.input(rng, length);
    Counts seen = prior, met(prior.size(), 0);
    const auto answer_another = [&](Counts& counts) {
      stop_if_requested();
      count_answer(task, task.answer(task.shuffled(x, order)), counts);
    };
    for (int i = 0; i < orders_tried; ++i) answer_another(seen);
    count_answer(task, task.answer(x), met);
    for (int i = 0; i < further; ++i) answer_another(met);
    correct += met[most_frequent(seen)];
    for (double n : met) scored += n;
  }
  return correct / scored;
}

}  // namespace

Baselines baselines(const Task& task, int length, int samples, uint64_t seed) {
  if (length < 1) bad_input("{}: strings of length {}; ask for at least 1", task.name, length);
  if (samples < 1) bad_input("{}: baselines from {} samples; ask for at least 1", task.name, samples);
  const auto seen = fit(task, length, samples, seed);
  return {1.0 / task.symbols_out, majority(task, length, samples, seed, seen),
          content_only(task, length, samples, seed, seen)};
}

}  // namespace poslab
