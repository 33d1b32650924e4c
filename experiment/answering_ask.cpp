// Answers of a decoder to the user's strings (experiment/ask.h): it reads its own answer, as in its test. With several
// draws of positions each symbol is the most probable one on average over draws, and all draws read these symbols.
#include <algorithm>

#include "experiment/answering.h"
#include "experiment/build.h"

namespace poslab::answering {
namespace {

struct Asked {
  RunSpec c;
  Decoder net;

  Questions posed(const Tokens& input) const {
    const int pool = pool_of(sampler(c));
    const int places = finite(c.scheme) ? std::min(net.spec().pool, pool) : pool;
    return {int(input.size()), poslab::posed(c, sampler(c), places, input)};
  }

  PositionSample draw(const Questions& q, int number) const {
    return positions(c, Purpose::test_positions, q.length, q, number);
  }

  Answer ask(const Tokens& input, int draws) const {
    const Inference as_this_run(c);
    const Task& t = task(c["task"]);
    const Questions q = posed(input);
    const int O = q.outputs(), V = net.spec().vocabulary;
    Answer a{input, t.answer(input), {}, q.strings.scored_slots[0], V, {}, draws_positions(c) ? draws : 1, 0};
    for (int symbol = t.symbols_out; symbol < t.symbols_in; ++symbol)
      if (const std::string& word = t.alphabet[size_t(symbol)]; word.size() == 1) a.other_words[symbol] = word;
    a.other_words[V - 1] = ";";
    const auto answer_under = [&](int from, int to) {  // the mean of these draws
      const auto said = [&](const Ids& answer) {
        const Ids read = read_by(q, answer, V - 1);
        a.probability.assign(size_t(O) * size_t(V), 0);
        for (int n = from; n < to; ++n) {
          const std::vector<double> p = probabilities(net(read, O, {draw(q, n), {}}));
          for (size_t i = 0; i < p.size(); ++i) a.probability[i] += p[i] / (to - from);
        }
        return Ids({1, O}, likeliest(a.probability, V));
      };
      free_running(said(q.strings.targets), said);
      a.said = likeliest(a.probability, V);
    };
    for (int n = 0; n < a.draws; ++n) answer_under(n, n + 1), a.accuracy_per_draw += a.accuracy() / a.draws;
    if (a.draws > 1) answer_under(0, a.draws);
    a.reads = {a.word(V - 1)};
    for (int o = 0; o + 1 < O; ++o) a.reads.push_back(a.word(a.said[size_t(o)]));
    return a;
  }

  Tensor attention(const Answer& a, int layer) const {
    const Inference as_this_run(c);
    const Questions q = posed(a.input);
    Trace trace({fmt::format("block{}.attention.weights", layer)});
    net.states(read_by(q, Ids({1, q.outputs()}, a.said), a.symbols - 1), {draw(q, 0), {}, &trace});
    const Tensor& weights = trace.captured.begin()->second;
    return weights.reshape({weights.dim(1), weights.dim(2), weights.dim(3)});
  }
};

}  // namespace

Respondent respondent(const RunSpec& c, const Decoder& net) {
  const Asked asked{c, net};
  return {.config = c,
          .positions = sampler(c),
          .temperature = c.temperature,
          .random = draws_positions(c),
          .note = "\neach answer slot reads the symbol of the slot before it, the first slot a separator",
          .forward =
              [c, spec = net.spec()](int length) {
                Forward f = answering::forward(spec, c, length, 1);
                f.flops *= passes;
                return f;
              },
          .check = [asked](const Tokens& input) { asked.posed(input); },
          .ask = [asked](const Tokens& input, int draws) { return asked.ask(input, draws); },
          .attention = [asked](const Answer& a, int layer) { return asked.attention(a, layer); }};
}

}  // namespace poslab::answering
