// T5: decoding with a cache against the full pass, padding, beams, gradients, memory. tests/lab/hub/t5_hf_model.cpp
// compares it with checkpoints written by transformers.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "autograd/tape.h"
#include "core/memory.h"
#include "encodings/checks/setup.h"
#include "nn/t5_generate.h"
#include "tests/support/formula.h"

using namespace poslab;

namespace {

T5Spec tiny(const std::string& encoding = "t5:unscaled") {
  T5Spec s;
  s.vocabulary = 13, s.layers = 2, s.decoder_layers = 3, s.heads = 4, s.head_dim = 6, s.d_model = 16, s.d_ff = 20;
  s.encoding = choose_encoding(encoding, trained_on(1024));
  return s;
}

struct Model {
  Params params{3};
  T5 net;
  explicit Model(const T5Spec& s) : net(params, s) {
    params.pack();
    uint32_t which = 400;
    for (const Params::Entry& e : params.entries()) {  // with initial weights some schemes do nothing
      const Tensor moved = checks::random_tensor(e.tensor.shape(), ++which, 0.1);
      for (int64_t i = 0; i < moved.size(); ++i) e.tensor.data()[i] += moved.data()[i];
    }
  }
};

PositionSample sequential(int time) { return {choose_sampler("sequential"), Resample::per_forward, {}, 1, time}; }
Ids text(const char* name, int sequences, int time, int below) {
  return Ids({sequences, time}, formula::integers(name, int64_t(sequences) * time, below));
}
Ids part(const Ids& tokens, int from, int to) {
  std::vector<int> at;
  for (int b = 0; b < tokens.shape()[0]; ++b)
    for (int t = from; t < to; ++t) at.push_back(tokens[b * tokens.shape()[1] + t]);
  return Ids({tokens.shape()[0], to - from}, at);
}
Ids rows(const Ids& tokens, const std::vector<int>& which) {
  std::vector<int> at;
  const int T = tokens.shape()[1];
  for (const int b : which)
    for (int t = 0; t < T; ++t) at.push_back(tokens[b * T + t]);
  return Ids({int(which.size()), T}, at);
}

const double same = sizeof(real) == 8 ? 1e-11 : 1e-4;

// Whether a T5 can have the scheme: decoding must equal the full pass without a causal mask.
bool fits(const T5Spec& s) { return s.encoding->causal_only(s.encoding.choices).empty(); }
bool by_length(const T5Spec& s) { return s.encoding->laws(s.shape(true), s.encoding.choices).by_length; }

// The largest error of decoding token by token after sources of 9 tokens; the first `lengths` of each are no padding.
double decoding_error(const T5Spec& spec, int time, const Ids& lengths) {
  const Model model(spec);
  const NoGrad still;
  const Ids source = text("source", 2, 9, spec.vocabulary), read = text("read", 2, time, spec.vocabulary);
  const Tensor states = model.net.encode(source, lengths, {sequential(9), {}});
  const Tensor full = model.net.decode(read, states, lengths, {sequential(time), {}});
  T5Cache cache = model.net.cache(states, lengths, time);
  double worst = 0;
  for (int t = 0; t < time; t += t == 1 ? 2 : 1) {  // one step has two tokens
    const int to = t == 1 ? t + 2 : t + 1;
    const Tensor logits = model.net.step(part(read, t, to), {sequential(to), {}}, cache);
    worst = std::max(worst, checks::difference(logits, slice(full, 1, to - 1, to)));
  }
  return worst;
}

Tensor loss(const T5& net) {
  const Ids source = text("source", 2, 7, 13), read = text("read", 2, 5, 13), lengths({2}, {7, 4});
  const Tensor states = net.encode(source, lengths, {sequential(7), {}});
  return cross_entropy(net.decode(read, states, lengths, {sequential(5), {}}), text("answer", 2, 5, 13));
}

// d loss / d parameter along a random direction, against a difference of two losses: a rough check in float.
void check_gradients(const T5Spec& spec) {
  const Model model(spec);
  backward(loss(model.net));
  const double step = sizeof(real) == 8 ? 1e-7 : 1e-3;
  uint32_t which = 700;
  for (const Params::Entry& e : model.params.entries()) {
    const Tensor u = checks::random_tensor(e.tensor.shape(), ++which);
    const Tensor g = e.tensor.grad();
    double along = 0, losses[2] = {};
    for (int64_t i = 0; i < u.size(); ++i) along += double(u.data()[i]) * g.data()[i];
    const std::vector<real> before = e.tensor.values();
    const NoGrad still;
    for (const int side : {0, 1}) {
      for (int64_t i = 0; i < u.size(); ++i)
        e.tensor.data()[i] = real(before[size_t(i)] + (side ? -step : step) * u.data()[i]);
      losses[side] = loss(model.net).item();
    }
    e.tensor.set(before.data());
    const double error = std::abs((losses[0] - losses[1]) / (2 * step) - along) / std::max(1., std::abs(along));
    INFO(e.name);
    CHECK(error < (sizeof(real) == 8 ? 1e-6 : 0.1));
  }
}

}  // namespace

TEST_CASE("t5: each step of decoding equals the full pass, for every scheme that needs no causal mask") {
  int done = 0;
  for (const Scheme& scheme : all_encodings()) {
    T5Spec s = tiny(scheme.name);
    s.head_dim = 4;
    if (!fits(s) || by_length(s)) continue;
    INFO(scheme.name);
    CHECK(decoding_error(s, 8, {}) < same);
    ++done;
  }
  CHECK(done > 40);
  for (const char* spelled : {"t5:unscaled", "rope", "alibi", "none", "learned"})
    for (const bool gated : {false, true}) {
      INFO(spelled, gated);
      T5Spec s = tiny(spelled);
      s.tied = !gated;
      if (gated) s.gate = Activation::gelu_tanh;
      CHECK(decoding_error(s, 30, Ids({2}, {9, 6})) < same);
    }
}

TEST_CASE("t5: gradients equal differences of losses, for v1.0 and v1.1, tied and not") {
  check_gradients(tiny());
  T5Spec gated = tiny();
  gated.gate = Activation::gelu_tanh, gated.tied = false;
  check_gradients(gated);
  T5Spec rope = tiny("rope");
  rope.activation = Activation::silu, rope.temperature = choose_temperature("ssmax");
  check_gradients(rope);
  check_gradients(tiny("learned"));
}

TEST_CASE("t5: a padded batch gives the results of each sequence alone") {
  for (const char* encoding : {"t5:unscaled", "rope", "alibi", "none", "learned", "sincos", "relative", "shaw"})
    for (const char* temperature : {"none", "log_n:length=4"}) {
      INFO(encoding, " ", temperature);
      T5Spec s = tiny(encoding);
      s.temperature = choose_temperature(temperature);
      const Model model(s);
      const NoGrad still;
      const Ids source = text("source", 2, 9, 13), read = text("read", 2, 6, 13), lengths({2}, {9, 5});
      const Tensor states = model.net.encode(source, lengths, {sequential(9), {}});
      const Tensor together = model.net.decode(read, states, lengths, {sequential(6), {}});
      const Ids alone = part(rows(source, {1}), 0, 5);
      const Tensor its = model.net.encode(alone, {}, {sequential(5), {}});
      CHECK(checks::difference(its, slice(slice(states, 0, 1, 2), 1, 0, 5)) < same);
      CHECK(checks::difference(model.net.decode(rows(read, {1}), its, {}, {sequential(6), {}}),
                               slice(together, 0, 1, 2)) < same);
    }
}

TEST_CASE("t5: a beam can continue another one, and beams share the encoder's states") {
  const Model model(tiny());
  const NoGrad still;
  const Ids source = text("source", 2, 9, 13), lengths({2}, {9, 6});
  const Tensor states = model.net.encode(source, lengths, {sequential(9), {}});
  T5Cache cache = model.net.cache(states, lengths, 3, 2);
  const Ids read = text("read", 4, 2, 13), newest({4, 1}, {3, 1, 4, 1});
  for (const int t : {0, 1}) model.net.step(part(read, t, t + 1), {sequential(t + 1), {}}, cache);
  const std::vector<int> from = {1, 1, 3, 2};
  cache.self.reorder(from);
  const Tensor logits = model.net.step(newest, {sequential(3), {}}, cache);
  for (int b = 0; b < 4; ++b) {
    const Ids before = rows(read, {from[size_t(b)]});
    const Tensor full =
        model.net.decode(Ids({1, 3}, {before[0], before[1], newest[b]}), slice(states, 0, b / 2, b / 2 + 1),
                         Ids({1}, {lengths[b / 2]}), {sequential(3), {}});
    CHECK(checks::difference(slice(logits, 0, b, b + 1), slice(full, 1, 2, 3)) < same);
  }
}

TEST_CASE("t5: the encoder keeps no tensor of T T numbers") {
  T5Spec s = tiny();
  s.layers = 1, s.heads = 2;
  const Model model(s);
  const NoGrad still;
  const int T = 6000;
  const int64_t before = memory().bytes_held;
  model.net.encode(text("source", 1, T, 13), {}, {sequential(T), {}});
  CHECK(memory().bytes_held - before < int64_t(T) * T);  // a quarter of the bytes of one head's logits
}

TEST_CASE("t5: another scheme or temperature at test shares the weights, unless it has parameters") {
  const Model model(tiny());
  const NoGrad still;
  const Ids source = text("source", 1, 9, 13), read = text("read", 1, 4, 13);
  const auto logits = [&](const T5& net) {
    const Tensor states = net.encode(source, {}, {sequential(9), {}});
    return net.decode(read, states, {}, {sequential(4), {}});
  };
  const Tensor sharp = logits(model.net.at_temperature(choose_temperature("log_n:length=3")));
  CHECK(checks::difference(sharp, logits(model.net)) > 1e-3);
  // Without biases, T5 is NoPE without the factor 1 / sqrt(D) on the logits.
  for (const char* name : {"encoder.encoding.table", "decoder.encoding.table"}) {
    const Tensor& table = model.params.at(name);
    std::fill_n(table.data(), table.size(), real(0));
  }
  CHECK(checks::difference(logits(model.net), logits(model.net.with_encoding(choose_encoding("none")))) < same);
  CHECK(checks::difference(logits(model.net), logits(model.net.with_encoding(choose_encoding("rope")))) > 1e-3);
  CHECK_THROWS_AS(model.net.with_encoding(choose_encoding("t5")), BadInput);
  CHECK_THROWS_AS(model.net.at_temperature(choose_temperature("ssmax")), BadInput);
}

TEST_CASE("t5: initial results are the same with and without 1 / sqrt(D), as W_q starts larger or smaller") {
  const auto logits = [](const std::string& encoding) {
    Params params(3);
    const T5 net(params, tiny(encoding));
    const NoGrad still;
    const Tensor states = net.encode(text("source", 2, 9, 13), {}, {sequential(9), {}});
    return net.decode(text("read", 2, 4, 13), states, {}, {sequential(4), {}});
  };
  CHECK(checks::difference(logits("t5:unscaled"), logits("t5")) < same);
  CHECK(checks::difference(logits("t5:unscaled"), logits("rope")) > 1e-3);
}

// Elements that a residual sum leaves unchanged were dropped; the site of a draw decides which ones.
TEST_CASE("t5: each draw of dropout in a pass has its own site, and the decoder's sites follow the encoder's") {
  const Model model(tiny());
  const NoGrad still;
  Trace t({"*"});
  const Dropout drop{0.5, stream(5, Purpose::dropout, 7)};
  const Tensor states = model.net.encode(text("source", 2, 9, 13), {}, {sequential(9), drop, &t});
  model.net.decode(text("read", 2, 4, 13), states, {}, {sequential(4), drop, &t});
  Dropout next = drop;
  for (const std::string part : {"encoder", "decoder"}) {
    std::string before = part + ".embedding";
    for (int layer = 0; layer < (part == "encoder" ? 2 : 3); ++layer)
      for (const std::string sum : {".attention.out", ".cross.out", ".out"}) {
        if (part == "encoder" && sum == ".cross.out") continue;
        const std::string name = part + ".block" + std::to_string(layer) + sum;
        INFO(name);
        ++next.stream.site;
        const Tensor &was = t.captured.at(before), &is = t.captured.at(name);
        const Tensor kept = dropout(Tensor::full(is.shape(), 1), next);
        int as_drawn = 0;
        for (int64_t e = 0; e < is.size(); ++e) as_drawn += (is.data()[e] != was.data()[e]) == (kept.data()[e] != 0);
        CHECK(as_drawn == is.size());
        before = name;
      }
  }
}

TEST_CASE("t5: sizes, tokens and options that do not fit are refused") {
  const NoGrad still;
  const auto refused = [](const auto& change) {
    T5Spec s = tiny();
    change(s);
    CHECK_THROWS_AS(Model{s}, BadInput);
  };
  refused([](T5Spec& s) { s.decoder_layers = 0; });
  refused([](T5Spec& s) { s.start = 13; });
  refused([](T5Spec& s) { s.encoding = choose_encoding("geometric"), s.heads = 0; });
  const Model model(tiny());
  const Ids source = text("source", 2, 4, 13);
  CHECK_THROWS_AS(model.net.encode(source, Ids({2}, {4, 0}), {sequential(4), {}}), BadInput);
  CHECK_THROWS_AS(model.net.encode(source, Ids({1}, {4}), {sequential(4), {}}), BadInput);
  CHECK_THROWS_AS(model.net.encode(source, {}, {sequential(5), {}}), BadInput);
  CHECK_THROWS_WITH_AS(model.net.encode(Ids({4}, {1, 2, 3, 4}), {}, {sequential(4), {}}),
                       doctest::Contains("tokens have shape (4); they must be (B, T)"), BadInput);
  CHECK_THROWS_WITH_AS(model.net.cache(Tensor::full({2, 4, 15}, 0), {}, 2),
                       doctest::Contains("states have shape (2, 4, 15); encode gives (B, T, 16)"), BadInput);
  CHECK_THROWS_WITH_AS(model.net.cache(Tensor::full({4, 16}, 0), {}, 2), doctest::Contains("states have shape (4, 16)"),
                       BadInput);
  CHECK_THROWS_WITH_AS(model.net.encode(source, Ids({2}, {4, 5}), {sequential(4), {}}),
                       doctest::Contains("sequence 1 has 5 tokens that count; give 1 to 4"), BadInput);
  const Tensor states = model.net.encode(source, {}, {sequential(4), {}});
  CHECK_THROWS_WITH_AS(model.net.cache(states, {}, 2, 0), "t5: a cache of 0 beams; there must be at least 1", BadInput);
  CHECK_THROWS_AS(model.net.decode(text("read", 1, 3, 13), states, {}, {sequential(3), {}}), BadInput);
  T5Cache cache = model.net.cache(states, {}, 2);
  CHECK_THROWS_AS(cache.self.reorder({0}), BadInput);
  CHECK_THROWS_AS(model.net.step(text("read", 1, 1, 13), {sequential(1), {}}, cache), BadInput);
}

namespace {

// All texts with which beam search may end, the best one first, by the logits of the full pass.
std::vector<Hypothesis> all_answers(const T5& net, const Tensor& states, const T5Generation& g) {
  const int V = net.spec().vocabulary;
  std::vector<Hypothesis> ended, open = {{{}, 0}};
  for (int n = 1; n <= g.count; ++n) {
    std::vector<Hypothesis> next;
    for (const Hypothesis& text : open) {
      std::vector<int> read = {net.spec().start};
      read.insert(read.end(), text.tokens.begin(), text.tokens.end());
      const Tensor logits = net.decode(Ids({1, n}, read), states, {}, {sequential(n), {}});
      const real* z = logits.data() + ptrdiff_t(n - 1) * V;
      double sum = 0;
      for (int t = 0; t < V; ++t) sum += std::exp(double(z[t]));
      for (int t = 0; t < V; ++t) {
        Hypothesis longer{text.tokens, text.score + double(z[t]) - std::log(sum)};
        const bool is_end = std::find(g.ends.begin(), g.ends.end(), t) != g.ends.end();
        if (!is_end) longer.tokens.push_back(t);
        if (is_end || n == g.count)
          ended.push_back({longer.tokens, longer.score / std::pow(n, g.length_penalty)});
        else
          next.push_back(longer);
      }
    }
    open = next;
  }
  std::sort(ended.begin(), ended.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  return ended;
}

}  // namespace

TEST_CASE("t5: with as many beams as there are texts, beam search finds all texts, in order") {
  const NoGrad still;
  T5Spec s = tiny();
  s.vocabulary = 4;
  const Model model(s);
  const Tensor states = model.net.encode(text("source", 1, 5, 4), {}, {sequential(5), {}});
  for (const EarlyStopping stopping : {EarlyStopping::off, EarlyStopping::never})
    for (const double penalty : {0., 1., -1.}) {
      T5Generation g{.count = 3, .beams = 64, .length_penalty = penalty, .early_stopping = stopping, .ends = {2}};
      const std::vector<Hypothesis> expected = all_answers(model.net, states, g);
      REQUIRE(expected.size() == 1 + 3 + 3 * 3 * 4);
      const auto found = beam_search(model.net, states, {}, g);
      REQUIRE(found.size() == 1);
      REQUIRE(found[0].size() >= expected.size());
      for (size_t n = 0; n < expected.size(); ++n) {
        INFO(n, " penalty ", penalty);
        CHECK(found[0][n].tokens == expected[n].tokens);
        CHECK(found[0][n].score == doctest::Approx(expected[n].score).epsilon(1e-4));
      }
    }
  // Early stopping `on` ends the search once two texts are finished: after one token, as every token ends a text here.
  T5Generation at_once{.count = 3, .beams = 2, .early_stopping = EarlyStopping::on, .ends = {0, 1, 2, 3}};
  const auto found = beam_search(model.net, states, {}, at_once);
  REQUIRE(found[0].size() == 2);
  const std::vector<Hypothesis> ends = all_answers(model.net, states, at_once);
  for (const size_t n : {0, 1}) {
    CHECK(found[0][n].tokens.empty());
    CHECK(found[0][n].score == doctest::Approx(ends[n].score).epsilon(1e-4));
  }
}

TEST_CASE("t5: of equal logits the token with the smaller number comes first, for one beam and several") {
  const NoGrad still;
  const Model model(tiny());
  const Tensor states = model.net.encode(text("source", 1, 4, 13), {}, {sequential(4), {}});
  const Tensor& gain = model.params.at("decoder.norm.gain");  // 0: all logits are 0
  std::fill_n(gain.data(), gain.size(), real(0));
  CHECK(answer(model.net, states, {}, {.count = 3})[0] == std::vector<int>{0, 0, 0});
  const auto found = beam_search(model.net, states, {}, {.count = 2, .beams = 3})[0];
  REQUIRE(found.size() == 3);
  for (int n = 0; n < 3; ++n) {
    CHECK(found[size_t(n)].tokens == std::vector<int>{0, n});
    CHECK(found[size_t(n)].score == doctest::Approx(-std::log(13.)));
  }
}

TEST_CASE("t5: answers equal those of the full pass, also where keys have to be computed again at each length") {
  const NoGrad still;
  for (const auto& [encoding, sampler] : {std::pair{"t5:unscaled", "sequential"},
                                          {"dynamic_ntk:length=3", "sequential"},
                                          {"sincos", "evenly_spread:max_position=50"},
                                          {"rope", "float_midpoints:range=50,trained=3"}}) {
    INFO(encoding, ", ", sampler);
    const Model model(tiny(encoding));
    CHECK(by_length(model.net.spec()) == (std::string(encoding) == "dynamic_ntk:length=3"));
    const Chosen<Sampler> drawn = choose_sampler(sampler);
    const Tensor states = model.net.encode(text("source", 1, 6, 13), {}, {sequential(6), {}});
    const auto last_of = [&](const std::vector<int>& read) {  // logits of the full pass for the last token
      const int n = int(read.size());
      const PositionSample positions(drawn, Resample::per_forward, {}, 1, n);
      const std::vector<real> z = model.net.decode(Ids({1, n}, read), states, {}, {positions, {}}).values();
      return std::vector<real>(z.end() - 13, z.end());
    };
    std::vector<int> read = {0};
    for (int n = 1; n <= 7; ++n) {
      const std::vector<real> z = last_of(read);
      read.push_back(int(std::max_element(z.begin(), z.end()) - z.begin()));
    }
    read.erase(read.begin());
    CHECK(answer(model.net, states, {}, {.count = 7, .positions = drawn})[0] == read);
    const auto found = beam_search(model.net, states, {}, {.count = 7, .beams = 3, .positions = drawn});
    for (const Hypothesis& h : found[0]) {
      double score = 0;
      std::vector<int> before = {0};
      for (const int token : h.tokens) {
        const std::vector<real> z = last_of(before);
        double all = 0;
        for (const real each : z) all += std::exp(double(each));
        score += double(z[size_t(token)]) - std::log(all);
        before.push_back(token);
      }
      CHECK(h.score == doctest::Approx(score / 7).epsilon(1e-6));
    }
  }
}

TEST_CASE("t5: settings out of range for generation are refused") {
  const auto refused = [](const T5Generation& g, const char* words) {
    CHECK_THROWS_WITH_AS(g.check(), doctest::Contains(words), BadInput);
  };
  T5Generation{.beams = 1024}.check();
  refused({.count = 0}, "0 new tokens; ask for at least 1");
  refused({.beams = 0}, "0 beams; give 1 to 1024");
  refused({.beams = 1025}, "1025 beams; give 1 to 1024");
  refused({.length_penalty = HUGE_VAL}, "length_penalty = inf");
  refused({.positions = choose_sampler("randomized")}, "draws new positions each time");
}

TEST_CASE("t5: generation from weights that are NaN ends with an error") {
  const NoGrad still;
  const Model model(tiny());
  const Tensor states = model.net.encode(text("source", 1, 4, 13), {}, {sequential(4), {}});
  const Tensor& weights = model.params.entries().back().tensor;
  std::fill_n(weights.data(), weights.size(), std::numeric_limits<real>::quiet_NaN());
  CHECK_THROWS_WITH_AS(beam_search(model.net, states, {}, {.count = 3, .beams = 2}), doctest::Contains("is NaN"),
                       Failure);
}
