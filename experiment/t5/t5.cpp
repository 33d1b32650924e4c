#include "experiment/t5/t5.h"

#include <algorithm>
#include <cmath>

#include "core/stop.h"
#include "encodings/samplers.h"
#include "experiment/build.h"
#include "tasks/retrieval/symbols.h"

namespace poslab::t5 {

State::State(const RunSpec& c)
    : config((t5::check(c), c)),
      params(uint64_t(c.whole("seed"))),
      net(params, spec(c)),
      adam((params.pack(device(c)), params), c.number("lr")) {
  adam.clip = c.number("clip");
}

Batch batch_of(const std::vector<SymbolQuestion>& questions) {
  size_t longest = 0;
  for (const SymbolQuestion& q : questions) longest = std::max(longest, q.answer.size());
  std::vector<int> context, read, expected;
  for (const SymbolQuestion& q : questions) {
    const std::vector<int> ends(longest - q.answer.size(), symbols::end);
    symbols::add(context, q.tokens);
    read.push_back(symbols::pad), symbols::add(read, q.answer), symbols::add(read, ends);
    symbols::add(expected, q.answer), expected.push_back(symbols::end), symbols::add(expected, ends);
  }
  const int B = int(questions.size());
  return {Ids({B, int(context.size()) / B}, context), Ids({B, int(read.size()) / B}, read),
          Ids({B, int(expected.size()) / B}, expected)};
}

int longest(const Choices& c, int64_t step) {
  const double from = c.whole("shortest"), to = c.whole("train_length");
  const double growing = c.number("growing") * c.whole("steps");
  const double way = double(step) >= growing ? 1 : double(step) / growing;
  return int(std::lround(from * std::pow(to / from, way * way)));
}

Batch draw_batch(const RunSpec& c, int64_t step) {
  const uint64_t seed = uint64_t(c.whole("seed"));
  const std::vector<Chosen<Retrieval>>& all = retrievals(c);
  Rng of_batch(stream(seed, Purpose::length, uint64_t(step)));
  const int length = of_batch.between(c.whole("shortest"), longest(c, step));
  std::vector<SymbolQuestion> questions;
  for (int b = 0; b < std::max(1, c.whole("tokens") / length); ++b) {
    Rng rng(stream(seed, Purpose::tokens, uint64_t(step), uint32_t(b)));
    questions.push_back(draw(all[size_t(step + b) % all.size()], length, {}, rng));
  }
  return batch_of(questions);
}

namespace {

// The positions of encoder and decoder.
struct Draws {
  PositionSample encoder, decoder;
};
Draws draws(const RunSpec& c, Purpose purpose, int64_t step, const Batch& batch) {
  const auto of = [&](uint32_t stack, int slots) {
    const Stream s = stream(uint64_t(c.whole("seed")), purpose, uint64_t(step), stack << 16);
    const Chosen<Sampler> drawn = purpose == Purpose::positions ? at_step(sampler(c), step, slots) : sampler(c);
    return PositionSample(drawn, Resample::per_forward, s, 1, slots);
  };
  return {of(0, batch.context.shape()[1]), of(1, batch.read.shape()[1])};
}

Tensor logits_of(const T5& net, const Batch& batch, const Draws& draw, Trace* trace = nullptr) {
  const Tensor states = net.encode(batch.context, {}, {draw.encoder, {}, trace});
  return net.decode(batch.read, states, {}, {draw.decoder, {}, trace});
}

// For each answer of a batch, whether all its symbols are the most probable ones.
template <class Symbols>
std::vector<bool> right(const Symbols& most_probable, const Ids& expected) {
  const int O = expected.shape()[1];
  std::vector<bool> all(size_t(expected.shape()[0]), true);
  for (int64_t i = 0; i < expected.size(); ++i)
    if (int(most_probable[i]) != expected[i]) all[size_t(i / O)] = false;
  return all;
}

std::vector<SymbolQuestion> test_questions(const RunSpec& c, const Chosen<Retrieval>& task, int length,
                                           TestQuestions which, Purpose purpose = Purpose::test_tokens) {
  std::vector<SymbolQuestion> questions;
  for (int i = which.first; i < which.first + which.count; ++i) {
    Rng rng(stream(uint64_t(c.whole("seed")), purpose, uint64_t(length), uint32_t(i)));
    questions.push_back(draw(task, length, (i + 0.5) / which.of, rng));
  }
  return questions;
}

}  // namespace

StepPlan plan(const State& s, const Batch& batch) {
  const int64_t step = s.adam.step;
  const Draws draw = draws(s.config, Purpose::positions, step, batch);
  StepPlan plan{learning_rate(s.config, step), {}, most_probable};
  for (const Cut& cut : cuts(s.config, batch.context.shape()[0])) {
    const Batch part{cut.of(batch.context), cut.of(batch.read), cut.of(batch.expected)};
    plan.parts.push_back(
        {[&s, part, draw](Trace* trace) { return logits_of(s.net, part, draw, trace); }, part.expected});
  }
  return plan;
}

StepResult result(const State&, const Batch& batch, const StepOutcome& done) {
  const std::vector<bool> answers = right(done.shown.begin(), batch.expected);
  const double all = double(answers.size());
  return {done.done, done.loss, double(std::count(answers.begin(), answers.end(), true)) / all, done.grad_norm, all};
}

Batch test_batch(const RunSpec& c, const Chosen<Retrieval>& task, int length, TestQuestions which, Purpose purpose) {
  return batch_of(test_questions(c, task, length, which, purpose));
}

PositionSample test_positions(const RunSpec& c, int length, const Batch& batch) {
  return draws(c, Purpose::test_positions, length, batch).encoder;
}

void check_rows(const T5& net, const RunSpec& c) {
  const int rows = net.spec().pool;
  for (const int length : eval_lengths(c))
    if (finite(net.spec().encoding) && rows_for(sampler(c), length) > rows)
      bad_input(
          "{} tokens: the table of learned positions has {} rows; test fewer tokens, or train with longer eval_lengths",
          length, rows);
}

AtLength evaluate(const T5& net, const RunSpec& c, const Chosen<Retrieval>& task, int length) {
  const Inference as_this_run(c);
  const int samples = c.whole("eval_samples"), together = std::clamp(4096 / length, 1, samples);
  AtLength at{.task = task->name, .length = length, .samples = samples};
  int64_t count[places] = {};
  for (int n = 0; n < samples; n += together) {
    const std::vector<SymbolQuestion> questions =
        test_questions(c, task, length, {n, std::min(together, samples - n), samples});
    const Batch batch = batch_of(questions);
    Stoppable whole(true);
    const Tensor logits = logits_of(net, batch, draws(c, Purpose::test_positions, length, batch));
    const double loss = double(cross_entropy(logits, batch.expected).item());
    whole.complete();
    at.loss += loss * double(questions.size()) / samples;
    const std::vector<bool> answers = right(most_probable_ids(logits), batch.expected);
    for (size_t i = 0; i < questions.size(); ++i) {
      const int place = std::min(places - 1, int(questions[i].place * places));
      ++count[place];
      at.accuracy_of_place[place] += answers[i];
      at.accuracy += answers[i] ? 1. / samples : 0;
    }
  }
  for (int p = 0; p < places; ++p) at.accuracy_of_place[p] = share(at.accuracy_of_place[p], count[p]);
  return at;
}

}  // namespace poslab::t5
