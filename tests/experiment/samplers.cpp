// Positions drawn in models: once for all, for each layer or sequence, for the parts of a composition; and refusals.
#include <doctest/doctest.h>

#include <cmath>

#include "autograd/tape.h"
#include "core/error.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/step.h"
#include "experiment/strings.h"
#include "tests/support/sampled.h"

using namespace poslab;
using namespace poslab::testing;

TEST_CASE("bipe: a segment begins where positions do not grow, and positions beyond the table read its last row") {
  const NoGrad no_grad;
  const int C = 8, H = 2;
  const Chosen<Scheme> scheme = choose_encoding("bipe:rows=16"), by_penalty = choose_encoding("bipe:between=alibi");
  const ModelShape shape{.layers = 1, .heads = H, .d_model = C};
  // "12+34=" and an answer of three slots, with the positions of `restart`
  const Positions p = Positions::of_tokens(1, {0, 1, 0, 0, 1, 0, 0, 1, 2});
  const std::vector<double> number = {0, 0, 1, 2, 2, 3, 4, 4, 4};
  const Tensor d = scheme->pages.pictures.distances(shape, scheme.choices, p);
  const Heads zeros{Tensor::full({1, 9, H, C / H}, 0), Tensor::full({1, 9, H, C / H}, 0), {}};
  const Tensor bias = by_penalty->make({Params(1), Params(1)}, shape, by_penalty.choices, 0)->logits(zeros, p, {});
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) {
      const double apart = number[size_t(j)] - number[size_t(i)];
      CHECK(double(d.data()[i * 9 + j]) == apart);
      for (int h = 0; h < H; ++h)
        CHECK(double(bias.data()[(h * 9 + i) * 9 + j]) ==
              doctest::Approx(-96 * std::exp2(-4. * (h + 1)) * std::abs(apart)));
    }
  Params params(1);
  const PositionEmbedding embed = scheme->embed(params, shape, scheme.choices);
  params.pack();
  const auto of = [&](double position) {
    return embed(Tensor::full({1, 1, C}, 0), Positions::of_tokens(1, {position})).values();
  };
  const Tensor table = params.at("table");
  for (const auto& [position, row] : {std::pair{0., 0}, {7., 7}, {15., 15}, {400., 15}, {-3., 0}})
    CHECK(of(position) == slice(table, 0, row, row + 1).values());
  for (int c = 0; c < C; ++c)   // the mean of two rows
    CHECK(of(7.5)[size_t(c)] == doctest::Approx((table.data()[7 * C + c] + table.data()[8 * C + c]) / 2));
}

TEST_CASE("randomized:grow draws from a quarter of the pool, then half, then all; a test draws from all") {
  for (const char* encoding : {"rope", "alibi"}) {   // alibi: a table of offsets
    const RunSpec c(configure({{"task", "even_pairs"}, {"encoding", encoding},
                               {"positions", "randomized:max_position=64,grow=300"}, {"batch", "1"}}));
    const auto largest = [&](int64_t from, int64_t to, int slots) {
      double most = 0;
      for (int64_t step = from; step < to; ++step) {
        const Positions p = draw_positions(c, step, slots).at_layer(0);
        for (const double x : p.only_offsets() ? p.distances().value : p.tokens("test")) most = std::max(most, x);
      }
      return most;
    };
    CHECK(largest(0, 100, 8) == 15);
    CHECK(largest(100, 200, 8) == 31);
    CHECK(largest(200, 300, 8) == 63);
    CHECK(largest(300, 400, 8) == 63);
    CHECK(largest(0, 100, 20) == 19);                // a quarter of the pool has fewer than 20
    double most = 0;
    for (int n = 0; n < 100; ++n) {
      const Positions p = test_draw(c, 7, n, 1, 8).at_layer(0);
      for (const double x : p.only_offsets() ? p.distances().value : p.tokens("test")) most = std::max(most, x);
    }
    CHECK(most == 63);
  }
  const RunSpec turns(configure({{"task", "even_pairs"}, {"encoding", "rope"},
                                 {"positions", "randomized:max_position=64,grow=9|sequential"}, {"batch", "1"}}));
  CHECK(draw_positions(turns, 0, 16).at_layer(0).tokens("test") == count_from(0, 16));   // the whole pool
  CHECK(draw_positions(turns, 0, 16).at_layer(1).tokens("test") == count_from(0, 16));
}

TEST_CASE("ids adds the code of each number, shifted by its own number of channels; sincos is the code of one number") {
  const NoGrad no_grad;
  const int C = 8;
  const auto embed = [&](const std::string& spelled, const Tensor& x, const Positions& p) {
    const Chosen<Scheme> scheme = choose_encoding(spelled, trained_on(1024));
    return scheme->embed(Params(1), {.heads = 2, .d_model = C}, scheme.choices)(x, p).values();
  };
  const Tensor zeros = Tensor::full({1, 3, C}, 0);
  const auto a = embed("ids", zeros, Positions::of_tokens(1, {7, 2.5, 7}));
  for (const real x : a) CHECK(std::abs(x) == 1);
  CHECK(std::equal(a.begin(), a.begin() + C, a.begin() + 2 * C));
  CHECK_FALSE(std::equal(a.begin(), a.begin() + C, a.begin() + C));
  const auto b = embed("ids", zeros, Positions::of_tokens(1, {2.5, 0, 2.5}));
  const auto both = embed("ids", zeros, Positions::of_ids(1, 2, {7, 2.5, 2.5, 0, 7, 2.5}));
  for (int t = 0; t < 3; ++t)
    for (int m = 0; m < C; ++m)
      CHECK(double(both[size_t(t * C + (m + 4) % C)]) ==
            doctest::Approx((double(a[size_t(t * C + (m + 4) % C)]) + double(b[size_t(t * C + m)])) / std::sqrt(2.)));
  CHECK(embed("ids:codes=sincos", zeros, Positions::of_tokens(1, {7, 2.5, 7})) ==
        embed("sincos", zeros, Positions::of_tokens(1, {7, 2.5, 7})));
  double alike = 0;   // products of the codes of 1000 numbers with the code of 0 have random signs
  for (int n = 1; n <= 1000; ++n) {
    const auto two = embed("ids", Tensor::full({1, 2, C}, 0), Positions::of_tokens(1, {0, double(n)}));
    for (int m = 0; m < C; ++m) alike += double(two[size_t(m)] * two[size_t(C + m)]);
  }
  CHECK(std::abs(alike) < 5 * std::sqrt(1000. * C));
  const auto zero = embed("ids", Tensor::full({1, 2, C}, 0), Positions::of_tokens(1, {0, -0.}));
  CHECK(std::equal(zero.begin(), zero.begin() + C, zero.begin() + C));
  const Bits first = philox(0, stream(0, Purpose::init, 0));   // draws of the first parameter of a run with seed 0
  int same = 0;
  for (int m = 0; m < C; ++m) same += (zero[size_t(m)] > 0) == bool(first.at[0] >> m & 1);
  CHECK(same < C);
  CHECK_THROWS_AS(Positions::of_ids(1, 2, {1, 2, 3}), BadInput);
  Rng rng{Stream{}};
  CHECK_THROWS_AS(sample(choose_sampler("restart"), {1, 3, Ids({1, 2}, {0, 0})}, rng), BadInput);
}

TEST_CASE("tokens have classes by their task's alphabet, and training and tests draw by them") {
  const Ids tokens({2, 6}, {0, 1, 2, 1, 3, 3, 1, 2, 0, 0, 3, 3});
  const Ids of_addition = token_classes(task("binary_addition"), tokens);
  const Ids expected = classes({"00+0__", "0+00__"});
  for (int64_t i = 0; i < 12; ++i) CHECK(of_addition[i] == expected[i]);
  for (const auto& [encoding, positions] : {std::pair{"learned", "abacus"}, {"rope", "restart"},
                                            {"ids", "coupled:dyadic"}, {"relative", "restart|sequential"}})
    for (const char* resample : {"per_forward", "per_sequence"}) {
      CAPTURE(positions);
      State state(RunSpec(configure({{"task", "binary_addition"}, {"encoding", encoding}, {"positions", positions},
                                     {"resample", resample}, {"layers", "2"}, {"heads", "2"}, {"d_model", "16"},
                                     {"batch", "4"}, {"steps", "2"}, {"train_length", "9"}, {"eval_lengths", "8:9"},
                                     {"eval_samples", "4"}})));
      const StepInputs inputs = draw_step(state.config, 0, 9);
      const Ids seen = token_classes(task("binary_addition"), inputs.batch.tokens);
      const Positions& p = inputs.positions.at_layer(0);
      CHECK(p.sequences() == 4);
      for (int b = 0; b < 4; ++b)
        for (int t = 1; t < 9; ++t)   // each segment begins with the sequence's first position
          if (seen[b * 19 + t] != seen[b * 19 + t - 1] && std::string(positions) != "abacus")
            CHECK(p.tokens("test")[size_t(b * 19 + t)] == p.tokens("test")[size_t(b * 19)]);
      CHECK(std::isfinite(finish_step(state.config, start_step(state, inputs)).loss));
      CHECK(std::isfinite(evaluate(state, 9).loss));
    }
}

TEST_CASE("a task with its own strings has positions for each sequence, as in the test") {
  const NoGrad no_grad;
  const StringsLearner learner{State(RunSpec(configure({{"task", "reverse_string"},
                                                        {"encoding", "rope"},
                                                        {"positions", "randomized"},
                                                        {"resample", "per_sequence"},
                                                        {"layers", "1"},
                                                        {"heads", "2"},
                                                        {"d_model", "16"},
                                                        {"train_length", "9"},
                                                        {"eval_lengths", "4:9"}})))};
  const RunSpec& c = learner.state.config;
  const Batch batch = test_batch(c, 4, 0, 3);
  const PositionSample drawn = test_draw(c, 4, 0, 3, batch.tokens.shape()[1], batch.tokens);
  CHECK(drawn.at_layer(0).sequences() == 3);
  CHECK(learner.reader().logits({batch.tokens, batch.outputs}, nullptr).values() ==
        learner.state.test_net()(batch.tokens, batch.outputs, {drawn, {}}).values());
}

TEST_CASE("a model runs with every sampler") {
  for (const Sampler& s : all_samplers())
    for (const char* encoding : {"sincos", "rope", "relative", "alibi", "geometric"})
      for (const Resample resample : {Resample::per_forward, Resample::per_layer, Resample::per_sequence}) {
        CAPTURE(s.name);
        CAPTURE(encoding);
        TransformerSpec spec{.layers = 2, .heads = 4, .d_model = 16, .encoding = choose_encoding(encoding)};
        Chosen<Sampler> sampler = choose_sampler(s.name, trained_on(40));
        const bool table = has(reads(spec.encoding), Reads::offset_table);
        if (s.only_offsets && has(reads(spec.encoding), Reads::positions)) continue;
        if (table && !s.even && !s.only_offsets && s.as_offsets.empty()) {
          CHECK_THROWS_AS(sampler_for(spec.encoding, sampler), BadInput);
          continue;
        }
        sampler = sampler_for(spec.encoding, sampler);
        const Transformer net(Params(1), spec);
        const NoGrad no_grad;
        const PositionSample draw(sampler, resample, stream(1, Purpose::positions, 0), 2, 6);
        for (const real x : net(Ids({2, 6}, {0, 1, 1, 0, 2, 2, 1, 0, 1, 0, 2, 2}), 2, {draw, {}}).values())
          CHECK(std::isfinite(x));
      }
}

TEST_CASE("a scheme that needs one offset for each distance of slots gets it, or is refused with a remedy") {
  const auto named = [](const std::string& sampler) {
    return sampler_for(choose_encoding("alibi"), choose_sampler(sampler)).spelled();
  };
  for (const char* even : {"contiguous", "stretched", "float_midpoints:trained=9"}) CHECK(named(even) == even);
  CHECK(named("randomized") == "randomized_offsets");
  CHECK_THROWS_WITH_AS(named("log_density"),
                       "alibi reads one offset for all slots that are equally far apart, but log_density draws "
                       "different distances for each pair; choose a mode that reads distances of tokens, such as "
                       "mode=differences, or use randomized", BadInput);
  CHECK(sampler_for(choose_encoding("alibi:mode=differences"), choose_sampler("blocks")).spelled() == "blocks");
}

TEST_CASE("a draw: once for all layers, once for each layer, or once for each sequence") {
  const Chosen<Sampler> randomized = choose_sampler("randomized");
  const Stream s = stream(3, Purpose::positions, 9);
  const PositionSample forward(randomized, Resample::per_forward, s, 4, 40);
  CHECK(&forward.at_layer(0) == &forward.at_layer(3));
  CHECK(forward.at_embedding().sequences() == 1);
  const PositionSample layer(randomized, Resample::per_layer, s, 4, 40);
  CHECK(layer.at_layer(1).tokens("test") != layer.at_layer(2).tokens("test"));
  CHECK(layer.at_layer(0).tokens("test") == forward.at_layer(0).tokens("test"));
  const PositionSample sequence(randomized, Resample::per_sequence, s, 4, 40);
  CHECK(&sequence.at_layer(0) == &sequence.at_layer(3));
  CHECK(sequence.at_layer(0).sequences() == 4);
  const Numbers& p = sequence.at_layer(0).tokens("test");
  for (int n = 1; n < 4; ++n) CHECK_FALSE(std::equal(p.begin(), p.begin() + 40, p.begin() + 40 * n));
  const PositionSample again(randomized, Resample::per_layer, s, 4, 40);   // layers are read in another order
  CHECK(again.at_layer(2).tokens("test") == layer.at_layer(2).tokens("test"));
  for (Resample how : {Resample::per_layer, Resample::per_sequence}) {   // without randomness: one draw for all
    const PositionSample plain(choose_sampler("sequential"), how, s, 4, 40);
    CHECK(&plain.at_layer(0) == &plain.at_layer(2));
    CHECK(plain.at_layer(0).sequences() == 1);
  }
}

TEST_CASE("a composition of samplers: each layer's own, in turn, for as many slots as the smallest pool has") {
  const Chosen<Sampler> both = choose_sampler("randomized:max_position=50|sequential|evenly_spread:max_position=60");
  CHECK(both.spelled() == "randomized:max_position=50|sequential|evenly_spread:max_position=60");
  CHECK(pool_of(both) == 50);
  for (Resample how : {Resample::per_forward, Resample::per_layer, Resample::per_sequence}) {
    const PositionSample p(both, how, stream(3, Purpose::positions, 9), 4, 5);
    CHECK(p.at_layer(1).tokens("test") == Numbers{0, 1, 2, 3, 4});
    CHECK(p.at_layer(2).tokens("test") == Numbers{0, 14.75, 29.5, 44.25, 59});
    CHECK(&p.at_layer(1) == &p.at_layer(4));
    CHECK((p.at_layer(0).tokens("test") == p.at_layer(3).tokens("test")) == (how != Resample::per_layer));
    CHECK(p.at_layer(0).sequences() == (how == Resample::per_sequence ? 4 : 1));
  }
  CHECK_THROWS_AS(choose_sampler("randomized|"), BadInput);
}

TEST_CASE("a sampler for the embedding and another for the logits: each part of a scheme gets its own") {
  const Chosen<Sampler> both = choose_sampler("coupled:two_ended&randomized", {{"max_position", "50"}});
  CHECK(pool_of(both) == 50);
  CHECK(pool_of(choose_sampler("coupled:max_position=9&sequential")) == 9);
  CHECK(both->random);
  CHECK(both->reads_classes);
  for (Resample how : {Resample::per_forward, Resample::per_layer, Resample::per_sequence}) {
    const PositionSample p(both, how, stream(3, Purpose::positions, 9), 4, 5),
        alone(choose_sampler("randomized:max_position=50"), how, stream(3, Purpose::positions, 9), 4, 5);
    CHECK(p.at_embedding().channels() == 2);
    CHECK(&p.at_embedding() == &p.at_embedding());
    for (int layer = 0; layer < 3; ++layer) {  // the layers' draws equal those of their sampler alone
      CHECK(p.at_layer(layer).channels() == 1);
      CHECK(p.at_layer(layer).tokens("test") == alone.at_layer(layer).tokens("test"));
    }
    CHECK(p.at_embedding().tokens("test") != p.at_layer(0).tokens("test"));
  }
  // by default ALiBi reads a table of offsets, which `coupled` cannot give
  const Chosen<Scheme> scheme = choose_encoding("ids&alibi");
  CHECK(sampler_for(scheme, both).spelled() == "coupled:max_position=50,two_ended&randomized_offsets:max_position=50");
  CHECK_THROWS_WITH_AS(sampler_for(scheme, choose_sampler("coupled")),
                       doctest::Contains("or give each part its own, as in coupled&randomized"), BadInput);
  CHECK_THROWS_WITH_AS(sampler_for(choose_encoding("sincos&alibi"), choose_sampler("randomized")),
                       doctest::Contains("or give each part its own, as in randomized&randomized"), BadInput);
  CHECK_THROWS_WITH_AS(sampler_for(choose_encoding("alibi"), both),
                       doctest::Contains("alibi is not made of two such schemes"), BadInput);
  CHECK_THROWS_WITH_AS(choose_sampler("coupled&randomized&sequential"), doctest::Contains("more than two parts"),
                       BadInput);
  CHECK(sampler_for(choose_encoding("ids&rope|none"), choose_sampler("coupled&randomized|sequential"))->parts->size() ==
        2);
  // both parts have a pool that grows
  CHECK(at_step(choose_sampler("randomized:grow=9&randomized:grow=9"), 0, 5).spelled() ==
        "randomized:max_position=512,grow=9&randomized:max_position=512,grow=9");
}

TEST_CASE("a model reads the embedding's positions at the embedding and the logits' in the layers") {
  const auto outputs = [](const char* encoding, const char* positions) {
    const TransformerSpec spec{.layers = 2, .heads = 4, .d_model = 16, .encoding = choose_encoding(encoding)};
    const NoGrad no_grad;
    const PositionSample draw(sampler_for(spec.encoding, choose_sampler(positions)), Resample::per_forward,
                              stream(1, Purpose::positions, 0), 2, 6);
    return Transformer(Params(1), spec)(Ids({2, 6}, {0, 1, 1, 0, 2, 2, 1, 0, 1, 0, 2, 2}), 2, {draw, {}}).values();
  };
  const auto plain = outputs("ids&rope", "sequential");
  CHECK(outputs("ids&rope", "sequential&sequential") == plain);
  CHECK(outputs("ids&rope", "sequential&stretched:gap=3") != plain);
  CHECK(outputs("ids&rope", "stretched:gap=3&sequential") != plain);
  CHECK(outputs("ids&alibi", "coupled:two_ended&sequential") != outputs("ids&alibi", "coupled&sequential"));
}

TEST_CASE("samplers refuse requests beyond the pool, and name a remedy") {
  for (const std::string& name : names_of(all_samplers())) {
    CAPTURE(name);
    RunValues run = trained_on(40);
    run["max_position"] = "8";
    const Chosen<Sampler> s = choose_sampler(name, run);
    Rng rng(stream(1, Purpose::positions, 0));
    const auto draw = [&](int sequences, int time) { return sample(s, {sequences, time}, rng); };
    CHECK_THROWS_AS(draw(1, 0), BadInput);
    CHECK_THROWS_AS(draw(0, 3), BadInput);
    CHECK(draw(1, 8).time() == 8);
    if (pool_of(s) > 8)
      CHECK(draw(1, 9).time() == 9);   // without a pool it goes on counting
    else
      CHECK_THROWS_WITH_AS(draw(1, 9),
                           (name + ": 9 slots (input and output) but only 8 positions; " +
                            (name == "given" ? "add to the list" : "raise max_position")).c_str(),
                           BadInput);
  }
  CHECK_THROWS_WITH_AS(choose_sampler("randomised"), doctest::Contains("did you mean \"randomized\"?"), BadInput);
}
