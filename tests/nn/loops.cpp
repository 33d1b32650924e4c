// A model that runs its layers several times: the results of each loop, its time and memory, and other loops at test.
#include <doctest/doctest.h>

#include <optional>

#include "autograd/tape.h"
#include "core/error.h"
#include "core/memory.h"
#include "encodings/checks/setup.h"
#include "experiment/ask.h"
#include "experiment/attention_maps.h"
#include "experiment/evaluate.h"
#include "experiment/footprint.h"
#include "experiment/pca.h"
#include "experiment/step.h"
#include "nn/decoder.h"
#include "tests/lab/helpers.h"

namespace poslab::test {
namespace {

RunSpec looped(const Settings& more) {
  const Settings all = {{"task", "parity_check"}, {"encoding", "rope"}, {"layers", "1"}, {"heads", "2"},
                  {"d_model", "16"}, {"batch", "4"}, {"train_length", "6"}, {"eval_lengths", "1:12"},
                  {"eval_samples", "8"}, {"steps", "20"}};
  return RunSpec(configure(overlaid(all_choices(), all, more)));
}

}  // namespace

TEST_CASE("loops: each begins with the previous loop's states plus the embedding, for every scheme") {
  const NoGrad still;
  int held = 0;
  for (const Scheme& scheme : all_encodings()) {
    INFO(scheme.name);
    Params params(5);
    TransformerSpec spec;
    spec.layers = 2, spec.heads = 4, spec.d_model = 32, spec.loops = 3;
    spec.encoding = choose_encoding(scheme.name, trained_on(1024));
    spec.causal = !scheme.causal_only(spec.encoding.choices).empty();
    const Transformer model(params, spec);
    params.pack();
    const Ids tokens({2, 6}, {0, 1, 1, 0, 2, 2, 1, 0, 1, 0, 2, 2});
    const Chosen<Sampler> counted = sampler_for(spec.encoding, choose_sampler("sequential"));
    const PositionSample draw(counted, Resample::per_forward, {}, 1, 6);
    Trace all({"embedding", "block*.out"});   // also the outputs of attention
    const Tensor logits = model(tokens, 6, {draw, {}, &all});
    CHECK(all.captured.size() == 13);
    CHECK(all.captured.count("block5.out"));
    const Tensor input = all.captured.at("embedding");
    for (int loop = 1; loop < 3; ++loop) {
      const Tensor begin = all.captured.at(fmt::format("block{}.out", 2 * loop - 1)) + input;
      Trace one({"block*.out"});
      one.replace("embedding", [&](const std::string&, const Tensor&) { return begin; });
      const Tensor again = model.with_loops(1)(tokens, 6, {draw, {}, &one});
      CHECK(checks::difference(one.captured.at("block1.out"),
                               all.captured.at(fmt::format("block{}.out", 2 * loop + 1))) < 1e-5);
      if (loop == 2) CHECK(checks::difference(again, logits) < 1e-5);
    }
    CHECK(checks::difference(model(tokens, 2, {draw, {}}), slice(logits, 1, 4, 6)) < 1e-5);   // without a trace
    ++held;
  }
  CHECK(held == int(all_encodings().size()));
}

TEST_CASE("loops: decoding with loops equals the full pass for every scheme, packed, and token by token") {
  const NoGrad still;
  int held = 0;
  for (const Scheme& scheme : all_encodings())
    for (const int units : {0, 8}) {
      INFO(scheme.name << " " << units);
      Params params(5);
      DecoderSpec spec{.vocabulary = 7, .layers = 2, .heads = 4, .key_heads = 2, .d_model = 32, .d_ff = 40, .loops = 3};
      if (units) spec.heads = spec.key_heads = 1, spec.gau = units;
      spec.encoding = choose_encoding(scheme.name, trained_on(1024));
      std::optional<Decoder> made;
      if (!refusal([&] { made.emplace(params, spec); }).empty()) continue;
      const Decoder& model = *made;
      params.pack();
      const Ids tokens({1, 6}, {0, 1, 5, 6, 2, 3});
      const Chosen<Sampler> counted = sampler_for(spec.encoding, choose_sampler("sequential"));
      const auto positions = [&](int n) { return PositionSample(counted, Resample::per_forward, {}, 1, n); };
      Trace all({"embedding", "block*.out"});
      const Tensor logits = model(tokens, 6, {positions(6), {}, &all});
      const Tensor input = all.captured.at("embedding");
      for (int loop = 1; loop < 3; ++loop) {
        const Tensor begin = all.captured.at(fmt::format("block{}.out", 2 * loop - 1)) + input;
        Trace one({"block1.out"});
        one.replace("embedding", [&](const std::string&, const Tensor&) { return begin; });
        const Tensor again = model.with_loops(1)(tokens, 6, {positions(6), {}, &one});
        CHECK(checks::difference(one.captured.at("block1.out"),
                                 all.captured.at(fmt::format("block{}.out", 2 * loop + 1))) < 1e-5);
        if (loop == 2) CHECK(checks::difference(again, logits) < 1e-5);
      }
      CHECK(checks::difference(model.with_loops(1).with_loops(3)(tokens, 6, {positions(6), {}}), logits) < 1e-5);
      const PositionSample packed(counted, {}, {{6}});
      CHECK(checks::difference(model(tokens, 6, {packed, {}}), logits) < 1e-5);
      if (spec.encoding->laws(spec.shape(), spec.encoding.choices).by_length) continue;
      KeyValueCache cache = model.cache(1, 6);
      for (int t = 0; t < 6; ++t)
        CHECK(checks::difference(model.decode(Ids({1, 1}, {tokens[t]}), 1, {positions(t + 1), {}}, cache),
                                 slice(logits, 1, t, t + 1)) < 1e-4);
      ++held;
    }
  CHECK(held >= int(all_encodings().size()));
  CHECK_THROWS_AS(Decoder(Params(1), DecoderSpec{}).with_loops(0), BadInput);
}

TEST_CASE("loops: they add no parameter, can be trained, and may differ at test") {
  State one(looped({})), three(looped({{"loops", "3"}}));
  CHECK(one.params.count() == three.params.count());
  const double first = finish_step(one.config, start_step(one, draw_step(one.config, 0))).loss,
               other = finish_step(three.config, start_step(three, draw_step(three.config, 0))).loss;
  CHECK(first != other);
  const double trained = test_at(three, 12, 8).loss;
  three.config.set("loops", "5");
  CHECK(test_at(three, 12, 8).loss != trained);
  three.config.set("loops", "3");
  CHECK(test_at(three, 12, 8).loss == trained);
  CHECK(refusal([] { check(looped({{"loops", "200"}, {"layers", "2"}})); }) ==
        "2: loops = 200 of layers = 2 are 400 blocks; take at most 256");
  CHECK_THROWS_AS(one.net.with_loops(0), BadInput);
}

TEST_CASE("loops = length: as many as the input has symbols, in a step and in a test") {
  for (const char* task : {"parity_check", "binary_addition", "modular_arithmetic"}) {
    INFO(task);
    const Settings own = {{"task", task}, {"layers", "2"}, {"eval_samples", "2"}};
    State s(looped(overlaid(all_choices(), own, {{"loops", "length"}})));
    for (const int length : {1, 5, 6, 9}) {
      const Batch batch = draw_step(s.config, 0, length).batch;
      const int T = batch.tokens.shape()[1], symbols = T - batch.outputs;
      const PositionSample draw(sampler(s.config), Resample::per_forward, {}, 1, T);
      const auto loss = [&](const Transformer& net, Trace* trace = nullptr) {
        return double(cross_entropy(net(batch.tokens, batch.outputs, {draw, {}, trace}), batch.targets).item());
      };
      Trace all({"block*.out"});
      CHECK(loss(s.net) == loss(s.net.with_loops(symbols), &all));
      CHECK(loss(s.net) != loss(s.net.with_loops(symbols + 1)));
      CHECK(all.captured.count(fmt::format("block{}.out", 2 * symbols - 1)));
      State fixed(s.config.with({{"loops", fmt::format("{}", symbols)}}));
      CHECK(test_at(s, length, 2).loss == test_at(fixed, length, 2).loss);
      State again(s.config);
      const double stepped = finish_step(s.config, start_step(again, draw_step(s.config, 0, length))).loss;
      CHECK(stepped == finish_step(s.config, start_step(fixed, draw_step(s.config, 0, length))).loss);
      CHECK(std::equal(again.params.grads(), again.params.grads() + again.params.count(), fixed.params.grads()));
    }
  }
  const RunSpec longer = looped({{"loops", "length"}, {"layers", "2"}, {"eval_lengths", "1:200"}});
  CHECK_THROWS_WITH_AS(check(longer), "loops = length of layers = 2 are 400 blocks on 200 symbols; take at most 256",
                       BadInput);
  CHECK_THROWS_WITH_AS(looped({{"loops", "long"}}),
                       "loops = \"long\" is not a whole number; it takes 1 .. 256 | length", BadInput);
}

TEST_CASE("loops = length: a trace has the blocks of one string, or the blocks that all lengths have") {
  const State s(looped({{"loops", "length"}, {"layers", "2"}}));
  CHECK(pca(s, {6, 3}, 2).layers.size() == 6);
  for (const AttentionMaps& maps : attention_maps(s, {6, 3})) CHECK(maps.layers.size() == 6);
  CHECK(ask(s, {1, 0, 1, 1}, Asking{}).attention.size() == 8 * 2 * 5 * 5);   // blocks x heads x pairs of slots
  CHECK_THROWS_WITH_AS(ask(s, {1, 0, 1, 1}, Asking{.silenced = {{8, 0}}}),
                       "head 0 of layer 8, counted from 0: the model has 8 layers of 2 heads; name one of them",
                       BadInput);
}

TEST_CASE("loops: dropout has its own draw in each loop, and gradients equal finite differences") {
  State s(looped({{"loops", "4"}, {"dropout", "0.5"}}));
  const StepInputs in = draw_step(s.config, 0);
  const auto logits = [&](real rate) {
    return s.net(in.batch.tokens, 1, {in.positions, {rate, stream(1, Purpose::dropout, 0)}});
  };
  CHECK(checks::difference(logits(real(0.5)), logits(0)) > 1e-3);
  if (sizeof(real) == 4) return;   // finite differences need double precision
  const auto loss = [&] { return cross_entropy(logits(0), in.batch.targets); };
  s.params.clear_grads();
  backward(loss());
  const Params::Entry& e = s.params.entries()[0];
  for (int64_t i = 0; i < std::min<int64_t>(8, e.tensor.size()); ++i) {
    const real was = e.tensor.data()[i], step = real(1e-5);
    const NoGrad still;
    e.tensor.data()[i] = was + step;
    const double above = double(loss().item());
    e.tensor.data()[i] = was - step;
    const double below = double(loss().item());
    e.tensor.data()[i] = was;
    CHECK((above - below) / (2 * double(step)) == doctest::Approx(double(s.params.grads()[i])).epsilon(1e-5));
  }
}

TEST_CASE("loops: the estimate of memory and time includes them") {
  for (const char* encoding : {"rope", "relative", "cope"}) {
    const RunSpec c(looped({{"encoding", encoding}, {"loops", "6"}, {"d_model", "64"}, {"batch", "32"},
                            {"causal", "on"}, {"train_length", "40"}}));
    const int64_t before = memory().bytes_requested;
    State state(c);
    const StepInputs in = draw_step(c, 0, 40);
    const Tensor logits = state.net(in.batch.tokens, in.batch.outputs, {in.positions, {real(0.1), {}}});
    const Tensor loss = cross_entropy(logits, in.batch.targets);
    const double used = double(memory().bytes_requested - before);
    backward(loss);
    const Footprint f = footprint(c);
    INFO(encoding << " " << (f.state + f.step) / used);
    CHECK((f.state + f.step) / used > 0.7);
    CHECK((f.state + f.step) / used < 2);
    RunSpec once = c;
    once.set("loops", "1");
    CHECK(footprint(c).step > 4 * footprint(once).step);
    CHECK(work(c).step > 5 * work(once).step);
    RunSpec grown = c, most = c;
    grown.set("loops", "length"), most.set("loops", "40");   // 40: the longest training input
    CHECK(footprint(grown).step == footprint(most).step);
    CHECK(work(grown).step == doctest::Approx(work(most).step * 0.6).epsilon(0.2));
    CHECK(work(grown).test < work(most).test / 2);            // tests reach length 12
  }
}

}  // namespace poslab::test
