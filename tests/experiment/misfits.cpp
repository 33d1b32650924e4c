// Refusals below the command line, which only C++ or Python can cause: arguments with wrong shapes or NaN, or in
// combinations that do not fit. Refusals of typed commands are in tests/apps/bad_input.txt.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"
#include "core/params.h"
#include "encodings/sampler.h"
#include "experiment/align.h"
#include "experiment/ask.h"
#include "experiment/build.h"
#include "experiment/kind.h"
#include "experiment/language/options.h"
#include "experiment/t5/t5.h"
#include "nn/decoder.h"
#include "nn/t5_generate.h"
#include "tasks/batch.h"
#include "tasks/retrieval/symbols.h"

using namespace poslab;

namespace {

// The message of a refusal, or "".
template <class Action>
std::string said_of(const Action& action) {
  try {
    action();
  } catch (const std::exception& e) { return e.what(); }
  return "";
}
bool tells(const std::string& text, const std::string& part) {
  const bool told = text.find(part) != std::string::npos;
  if (!told) MESSAGE(text);
  return told;
}

T5 small_t5(double weight) {
  T5Spec s;
  s.vocabulary = 12, s.layers = s.decoder_layers = 1, s.heads = 2, s.head_dim = s.d_model = s.d_ff = 4;
  const Params params(uint64_t(1));
  T5 net(params, s);
  if (std::isnan(weight))
    for (const auto& entry : params.entries()) entry.tensor.data()[0] = real(weight);
  return net;
}

}  // namespace

TEST_CASE("misfits: ops and layers name the shapes that do not fit") {
  const Tensor q = Tensor::full({1, 3, 2, 4}, 1), row = Tensor::full({4}, 1);
  Scores plain;
  plain.pieces.push_back({q, q});
  CHECK(said_of([&] { attention(plain, q, {}, {Tensor::full({2, 4}, 1)}); }).empty());
  CHECK(tells(said_of([&] { attention(plain, q, {}, {row}); }), "the bias of q is (4) and q is (1, 3, 2, 4)"));
  const Tensor z = Tensor::full({3, 4}, 0), side = Tensor::full({3, 2}, 0);
  CHECK(said_of([&] { geometric(z, side, {.offset = 1}); }).empty());
  CHECK(tells(said_of([&] { geometric(z, side, {.offset = 0}); }), "offset is 0, and must be 1"));
  const Params params(uint64_t(0));
  params.full("gain", {2}, 1);
  CHECK(params.at("gain").size() == 2);
  CHECK(tells(said_of([&] { params.at("gian"); }), "unknown parameter \"gian\"; did you mean \"gain\"?"));
}

TEST_CASE("misfits: positions and classes") {
  const auto two = Positions::of_tokens(1, {0, 1});
  const PositionSample one({two}), both({two, two});
  CHECK(one.at_layer(3).time() == 2);
  CHECK(both.at_layer(1).time() == 2);
  CHECK(tells(said_of([&] { both.at_layer(2); }), "given for fewer layers than the model has"));
  const Chosen<Sampler> by_class = [] {
    for (const Sampler& s : all_samplers())
      if (s.reads_classes) return choose_sampler(s.name);
    return choose_sampler("sequential");
  }();
  REQUIRE(by_class->reads_classes);
  const auto drawn = [&](const Ids& classes) {
    PositionSample(by_class, Resample::per_forward, {}, 1, 3, classes).at_layer(0);
  };
  CHECK(said_of([&] { drawn(Ids({1, 3}, {0, 1, 2})); }).empty());
  CHECK(tells(said_of([&] { drawn(Ids({1, 3}, {0, 3, 2})); }), "class 3 of a token"));
}

TEST_CASE("misfits: schemes with their own weights have no logits, and gated units take schemes that rotate or add") {
  const ModelShape shape;
  const Params params(uint64_t(0));
  const PositionLayers layers(params / "encoding", choose_encoding("geometric"), shape);
  const Tensor q = Tensor::full({1, 2, shape.heads, shape.head_dim()}, 0), x = Tensor::full({1, 2, shape.d_model}, 0);
  CHECK(tells(said_of([&] {
                layers.layers[0]->logits({q, q, x, x}, Positions::of_tokens(1, {0, 1}), {});
              }),
              "an encoding with weights of its own has no logits"));
  DecoderSpec units;
  units.layers = 1, units.d_model = 8, units.d_ff = 16, units.heads = units.key_heads = 1, units.gau = 4;
  units.encoding = choose_encoding("rope");
  CHECK(said_of([&] { Decoder(Params(uint64_t(0)), units); }).empty());
  units.encoding = choose_encoding("cope");
  CHECK(tells(said_of([&] { Decoder(Params(uint64_t(0)), units); }), "cope does not go with gated attention units"));
}

TEST_CASE("misfits: a T5's tokens, states and logits") {
  const T5 net = small_t5(1), broken = small_t5(std::nan(""));
  const PositionSample three(choose_sampler("sequential"), Resample::per_forward, {}, 1, 3);
  CHECK(tells(said_of([&] {
                net.encode(Ids({3}, {1, 2, 3}), {}, {three, {}});
              }),
              "have shape (3); they must be (B, T)"));
  CHECK(tells(said_of([&] { net.cache(Tensor::full({1, 3, 5}, 0), {}, 2); }), "states have shape (1, 3, 5)"));
  const auto searched = [&](const T5& of) {
    const NoGrad still;
    beam_search(of, of.encode(Ids({1, 3}, {1, 2, 3}), {}, {three, {}}), {}, {.count = 2, .beams = 2});
  };
  CHECK(said_of([&] { searched(net); }).empty());
  CHECK(tells(said_of([&] { searched(broken); }), " is NaN; the model has diverged"));
}

TEST_CASE("misfits: strings, symbols, and a table of learned positions") {
  const Task& t = task("reverse_string");
  CHECK(batch_of(t, {{0, 1}, {1, 1}}).tokens.shape()[0] == 2);
  CHECK(tells(said_of([&] { batch_of(t, {{0, 1}, {1}}); }), "strings of 2 and of 1 symbols in one batch"));
  const std::vector<int> all = symbols::read("passkey a4 . d0 ask line");
  CHECK(all.size() == 6);
  CHECK(symbols::written(all) == "passkey a4 . d0 ask line");
  CHECK(tells(said_of([] { symbols::read("passkey z9"); }), "\"z9\" is not a symbol of the retrieval tasks"));
  RunSpec c(t5::configure({{"encoding", "learned"},
                           {"layers", "1"},
                           {"decoder_layers", "1"},
                           {"heads", "1"},
                           {"d_model", "8"},
                           {"d_ff", "8"},
                           {"train_length", "32"},
                           {"eval_lengths", "32"}}));
  const t5::State state(c);
  CHECK(said_of([&] { t5::check_rows(state.net, c); }).empty());
  c.set("eval_lengths", "1000000");
  CHECK(tells(said_of([&] { t5::check_rows(state.net, c); }), "the table of learned positions has "));
}

TEST_CASE("misfits: runs and their results") {
  CHECK(tells(said_of([] { kind_of(Choices("nothing", {})); }), "these are not the choices of a run"));
  const Columns two = columns({Column::length(), Column::word("set")});
  const Row row(two, {3., "plain"});
  CHECK(row.word("set") == "plain");
  CHECK(tells(said_of([&] { row.word("length"); }), "no words in a column \"length\""));
  CHECK(tells(said_of([&] { row.word("lenght"); }), "no words in a column \"lenght\""));
  CHECK(tells(said_of([&] { row["lenght"]; }), "no numbers in a column \"lenght\""));
  // A row that only one of the two tables has gets no mean.
  const Results first = {row, Row(two, {5., "plain"})}, second = {Row(two, {5., "plain"}), Row(two, {3., "noisy"})};
  const Results means = mean_of({&first, &second});
  REQUIRE(means.size() == 1);
  CHECK(means[0]["length"] == 5);
  CHECK(tells(said_of([&] { Row(two, {3.}); }), "a row of 1 cells in a table of 2 columns"));
  CHECK(tells(said_of([] { language::check(RunSpec(language::configure({{"temperature", "aligned:of=x"}}))); }),
              "it belongs to a trained model"));
  const auto of_decoder = [](const char* positions) {
    const Kind& kind = answering_kind();
    kind.check(RunSpec(
        kind.configure({{"task", "reverse_string"}, {"positions", positions}, {"eval_lengths", "1:20"}})));
  };
  CHECK(said_of([&] { of_decoder("randomized:max_position=400"); }).empty());
  CHECK(tells(said_of([&] { of_decoder("randomized:max_position=24"); }), "it has positions for 24 tokens"));
  const State state(RunSpec(configure({{"task", "reverse_string"},
                                       {"encoding", "rope"},
                                       {"positions", "given:at=0 1 2 3"},
                                       {"layers", "1"},
                                       {"heads", "1"},
                                       {"d_model", "8"},
                                       {"train_length", "2"},
                                       {"eval_lengths", "1:2"}})));
  CHECK(said_of([&] { check_question(state, {0, 1}); }).empty());
  CHECK(tells(said_of([&] { check_question(state, {0, 1, 1}); }), "but the list of given ends after 4"));
}

TEST_CASE("misfits: an alignment to a length with no more keys") {
  const Probed capped{.layers = 1, .heads = 1, .causal = true, .keys = [](int n) { return std::min(n, 8); }, .run = {}};
  CHECK(tells(said_of([&] { align(capped, {.shortest = 8, .longer = {16}}, {}); }),
              "the long length 16 has 8 keys and 8 has 8; space lengths further apart"));
}
