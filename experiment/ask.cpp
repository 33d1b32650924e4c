#include "experiment/ask.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "experiment/attention_maps.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/strings.h"

namespace poslab {
namespace {

PositionSample draw_of(const State& state, const Batch& batch, int length, int number) {
  return test_draw(state.config, length, number, 1, batch.tokens.shape()[1], batch.tokens);
}

Batch posed(const State& state, const Tokens& input) {
  const RunSpec& c = state.config;
  return posed(c, test_sampler(c), room(c, test_sampler(c)), input);
}

int matches(const Tokens& said, const Tokens& expected, int slots) {
  int right = 0;
  for (size_t slot = 0; slot < size_t(slots); ++slot) right += said[slot] == expected[slot];
  return right;
}

}  // namespace

Batch posed(const RunSpec& c, const Chosen<Sampler>& sampler, int places, const Tokens& input) {
  if (input.empty() || input.size() > max_symbols)
    bad_input("a question of {} symbols; ask about 1 to {}", input.size(), max_symbols);
  const Batch batch = batch_of(task(c["task"]), {input});
  const int needed = batch.tokens.shape()[1];
  if (needed <= places) return batch;
  const std::string taken = fmt::format("{} symbols and their {} answer slots take {} positions", input.size(),
                                        batch.outputs, needed);
  if (finite(c.scheme))
    bad_input("{}, but {} has learned a table of {} and knows no others; ask about a shorter string", taken,
              c.scheme.spelled(), places);
  if (sampler.choices.has("at"))
    bad_input("{}, but the list of {} ends after {}; ask about a shorter string or under other positions", taken,
              sampler.thing.name, places);
  bad_input(
      "{}, but {} draws from a pool of {}; ask about a shorter string or under other positions, such as "
      "--positions {}:max_position={}",
      taken, sampler.spelled(), places, sampler.thing.name, needed);
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

double Answer::confidence(size_t slot) const { return probability[slot * size_t(symbols) + size_t(said[slot])]; }
int Answer::right() const { return matches(said, expected, scored); }
std::string Answer::word(int symbol) const {
  const auto other = other_words.find(symbol);
  return other == other_words.end() ? std::to_string(symbol) : other->second;
}
std::string Answer::written() const {
  std::string text;
  for (const int symbol : said) text += word(symbol);
  return text;
}

bool draws_positions(const RunSpec& c) {
  const Reads what = reads(c.scheme);
  return test_sampler(c)->random && has(what, Reads::positions | Reads::distances | Reads::offset_table);
}

void check_question(const State& state, const Tokens& input) { posed(state, input); }

Answer ask(const State& state, const Tokens& input, int draws) {
  const Inference as_this_run(state.config);
  const Batch batch = posed(state, input);
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

namespace {

PositionSample positions_of(const State& state, const Batch& batch, int length, const Asking& how) {
  const int T = batch.tokens.shape()[1];
  if (how.positions.empty()) return draw_of(state, batch, length, 0);
  if (int(how.positions.size()) != T)
    bad_input("{} positions for {} slots; give one for each of {} symbols and {} answer slots", how.positions.size(), T,
              length, batch.outputs);
  return PositionSample({Positions::of_tokens(1, how.positions)});
}

// x: (B, T, H, D), with zeros in the silenced heads
Tensor without_heads(const Tensor& x, const std::vector<int>& heads) {
  std::vector<real> values = x.values();
  const size_t D = size_t(x.dim(3)), H = size_t(x.dim(2));
  for (size_t row = 0; row < values.size() / D; ++row)
    if (std::find(heads.begin(), heads.end(), int(row % H)) != heads.end())
      std::fill_n(values.begin() + std::ptrdiff_t(row * D), D, real(0));
  return Tensor::from(x.shape(), values).to(x.device());
}

void silence(Trace& trace, const Asking& how, const TransformerSpec& m, int blocks) {
  std::map<int, std::vector<int>> heads;                       // by layer
  for (const auto& [layer, head] : how.silenced) {
    if (layer < 0 || layer >= blocks || head < 0 || head >= m.heads)
      bad_input("head {} of layer {}, counted from 0: the model has {} layers of {} heads; name one of them",
                head, layer, blocks, m.heads);
    heads[layer].push_back(head);
  }
  for (const auto& [layer, those] : heads)
    trace.replace(fmt::format("block{}.attention.heads", layer),
                  [those](const std::string&, const Tensor& x) { return without_heads(x, those); });
}

}  // namespace

Looked ask(const State& state, const Tokens& input, const Asking& how) {
  const Inference as_this_run(state.config);
  if (input.empty() || input.size() > max_symbols) check_question(state, input);
  const Batch batch = how.positions.empty() ? posed(state, input) : batch_of(task(state.config["task"]), {input});
  const PositionSample positions = positions_of(state, batch, int(input.size()), how);
  const Transformer net = how.temperature ? state.net.at_temperature(*how.temperature) : state.test_net();
  const int T = batch.tokens.shape()[1], O = batch.outputs, V = net.spec().symbols_out,
            blocks = net.spec().blocks(T - O);
  Trace trace({"block*.attention.weights"});
  silence(trace, how, net.spec(), blocks);
  const std::vector<double> p = probabilities(net(batch.tokens, T, {positions, {}, &trace}));      // (T, V)
  Looked l{{input, task(state.config["task"]).answer(input), {}, batch.scored_slots[0], V,
            {p.end() - std::ptrdiff_t(O) * V, p.end()}, 1, 0}, T, {}, {}};
  l.answer.said = likeliest(l.answer.probability, V);
  l.answer.accuracy_per_draw = l.answer.accuracy();
  const Positions& first = positions.at_layer(0);
  if (!first.only_offsets()) l.positions = first.tokens("ask");
  for (int layer = 0; layer < blocks; ++layer) {
    const std::vector<real> a = trace.captured.at(fmt::format("block{}.attention.weights", layer)).values();
    l.attention.insert(l.attention.end(), a.begin(), a.end());
  }
  return l;
}

Tensor asked_attention(const State& state, const Tokens& input, int layer) {
  const Batch batch = posed(state, input);
  return attention_of(state, batch, draw_of(state, batch, int(input.size()), 0), layer);
}

Respondent StringsLearner::respondent(const std::string& positions, const std::string& temperature) const {
  const auto asked = std::make_shared<State>(state);
  Settings under = {{"eval_lengths", "1"}};  // only the question is tested
  if (!positions.empty()) under.emplace_back("test_positions", positions);
  if (!temperature.empty()) under.emplace_back("test_temperature", temperature);
  const RunSpec& c = asked->config = state.config.with(under);
  poslab::check(c);
  return {.config = c,
          .steps = state.adam.step,
          .parameters = state.params.count(),
          .device = state.params.device(),
          .positions = test_sampler(c),
          .temperature = c.test_temperature,
          .random = draws_positions(c),
          .note = c.on("test_dropout") ? "; without the dropout that the run's tests have" : "",
          .forward = [c](int length) { return string_forward(c, length, 1); },
          .check = [asked](const Tokens& input) { check_question(*asked, input); },
          .ask = [asked](const Tokens& input, int draws) { return poslab::ask(*asked, input, draws); },
          .attention = [asked](const Answer& a, int layer) { return asked_attention(*asked, a.input, layer); }};
}

Respondent Learner::respondent(const std::string&, const std::string&) const {
  const Kind& kind = kind_of(config());
  bad_input(
      "ask is for runs of a task of strings, but this is one of `poslab {}`; `poslab {} RUN --prompt TEXT` shows "
      "what it writes",
      kind.command("train"), kind.command("generate"));
}

}  // namespace poslab
