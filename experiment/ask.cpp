#include "experiment/ask.h"

#include <algorithm>
#include <cmath>

#include "autograd/tape.h"
#include "core/error.h"
#include "experiment/attention_maps.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"

namespace poslab {
namespace {

constexpr size_t longest_question = 10000;  // in an hour rather than a minute; and brackets are read recursively

PositionSample draw_of(const State& state, const Batch& batch, int length, int number) {
  return test_draw(state.config, length, number, 1, batch.tokens.shape()[1], batch.tokens);
}

Batch posed(const State& state, const Tokens& input) {
  const Choices& c = state.config;
  if (input.empty() || input.size() > longest_question)
    bad_input("a question of {} symbols; ask for 1 to {}", input.size(), longest_question);
  const Batch batch = batch_of(task(c["task"]), {input});
  const int needed = batch.tokens.shape()[1], places = room(c, test_sampler(c));
  if (needed <= places) return batch;
  const std::string taken = fmt::format("{} symbols and their {} answer slots take {} positions", input.size(),
                                        batch.outputs, needed);
  if (finite(scheme(c)))
    bad_input("{}, and {} has learned a table of {} and knows no others; ask about a shorter string", taken,
              scheme(c).spelled(), places);
  if (test_sampler(c).choices.has("at"))
    bad_input("{}, and the list of {} ends after {}; ask about a shorter string or under other positions", taken,
              test_sampler(c).thing.name, places);
  bad_input("{}, and {} draws from a pool of {}; ask about a shorter string or under other positions, such as "
            "--positions {}:max_position={}", taken, test_sampler(c).spelled(), places, test_sampler(c).thing.name,
            needed);
}

// p_v = exp(z_v - max z) / sum of them                                                                      (O, V)
std::vector<double> probabilities(const Tensor& logits) {
  const size_t V = size_t(logits.dim(-1));
  const std::vector<real> z = logits.values();
  std::vector<double> p(z.begin(), z.end());
  for (auto row = p.begin(); row != p.end(); row += std::ptrdiff_t(V)) {
    const double highest = *std::max_element(row, row + std::ptrdiff_t(V));
    double sum = 0;
    for (size_t v = 0; v < V; ++v) sum += row[std::ptrdiff_t(v)] = std::exp(row[std::ptrdiff_t(v)] - highest);
    for (size_t v = 0; v < V; ++v) row[std::ptrdiff_t(v)] /= sum;
  }
  return p;
}

Tokens likeliest(const std::vector<double>& p, int V) {
  Tokens y;
  for (auto row = p.begin(); row != p.end(); row += V) y.push_back(int(std::max_element(row, row + V) - row));
  return y;
}

int matches(const Tokens& said, const Tokens& expected, int slots) {
  int right = 0;
  for (size_t slot = 0; slot < size_t(slots); ++slot) right += said[slot] == expected[slot];
  return right;
}

}  // namespace

double Answer::confidence(size_t slot) const { return probability[slot * size_t(symbols) + size_t(said[slot])]; }
int Answer::right() const { return matches(said, expected, scored); }

bool draws_positions(const Choices& c) {
  const Reads what = reads(scheme(c));
  return test_sampler(c)->random && has(what, Reads::positions | Reads::distances | Reads::offset_table);
}

void check_question(const State& state, const Tokens& input) { posed(state, input); }

Answer ask(const State& state, const Tokens& input, int draws) {
  const NoGrad no_grad;
  const Batch batch = posed(state, input);
  const MatmulPrecision as_this_run = state.matmul_precision();
  const Transformer net = state.test_net();
  Answer a{input, task(state.config["task"]).answer(input), {}, batch.scored_slots[0],
           net.spec().symbols_out, {}, 0, 0};
  a.draws = draws_positions(state.config) ? draws : 1;
  a.probability.assign(a.expected.size() * size_t(a.symbols), 0);
  for (int n = 0; n < a.draws; ++n) {
    const PositionSample positions = draw_of(state, batch, int(input.size()), n);
    const std::vector<double> p = probabilities(net(batch.tokens, batch.outputs, {positions, {}}));
    for (size_t i = 0; i < p.size(); ++i) a.probability[i] += p[i] / a.draws;
    a.accuracy_per_draw += double(matches(likeliest(p, a.symbols), a.expected, a.scored)) / a.scored / a.draws;
  }
  a.said = likeliest(a.probability, a.symbols);
  return a;
}

Tensor asked_attention(const State& state, const Tokens& input, int layer) {
  const Batch batch = posed(state, input);
  return attention_of(state, batch, draw_of(state, batch, int(input.size()), 0), layer);
}

}  // namespace poslab
