// The whole model: its size, equivariance and memory, and equal results however the work is split.
#include "nn/transformer.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <tuple>

#include "autograd/tape.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/platform/parallel.h"
#include "experiment/step.h"
#include "tasks/batch.h"
#include "tasks/curriculum.h"

using namespace poslab;

namespace {

int64_t parameters(const std::string& encoding, int symbols_in, int symbols_out) {
  Params p(1);
  TransformerSpec spec;
  spec.symbols_in = symbols_in, spec.symbols_out = symbols_out, spec.encoding = choose_encoding(encoding);
  Transformer model(p, spec);
  return p.count();
}

// A small model on a real task, trained step by step.
struct Trainer {
  State state;
  explicit Trainer(const std::string& encoding, const std::string& positions = "randomized")
      : state(RunSpec(configure({{"task", "reverse_string"}, {"encoding", encoding}, {"positions", positions},
                                 {"layers", "2"}, {"heads", "4"}, {"d_model", "32"}, {"batch", "16"},
                                 {"seed", "7"}}))) {}
  double run(int length) {
    const RunSpec& c = state.config;
    return finish_step(c, start_step(state, draw_step(c, state.adam.step, length))).loss;
  }
};

}  // namespace

TEST_CASE("parameter counts are the published ones (spec A.7)") {
  CHECK(parameters("none", 4, 2) == 249026);
  CHECK(parameters("relative", 4, 2) == 270146);
  CHECK(parameters("learned", 4, 2) == 249026 + 2048 * 64);
  const std::vector<std::pair<std::string, int64_t>> by_task{{"even_pairs", 248962},
                                                             {"binary_addition", 249091},
                                                             {"binary_multiplication", 249091},
                                                             {"missing_duplicate_string", 249090},
                                                             {"stack_manipulation", 249219},
                                                             {"cycle_navigation", 249221},
                                                             {"bucket_sort", 249349},
                                                             {"modular_arithmetic", 249605},
                                                             {"modular_arithmetic_brackets", 249733},
                                                             {"solve_equation", 249733}};
  for (const auto& [name, count] : by_task) {
    const Task& t = task(name);
    CHECK_MESSAGE(parameters("none", t.symbols_in + 1, t.symbols_out) == count, name);
    CHECK_MESSAGE(parameters("relative", t.symbols_in + 1, t.symbols_out) == count + 21120, name);
  }
}

TEST_CASE("without positions all output slots get the same answer, whatever the order of the input (spec A.1 (1))") {
  Params p(3);
  TransformerSpec spec;
  Transformer model(p, spec);
  const PositionSample draw(choose_sampler("sequential"), Resample::per_forward, {}, 1, 8);
  const NoGrad off;
  const auto one = model(Ids({1, 8}, {0, 1, 1, 0, 1, 2, 2, 2}), 3, {draw, {}}).values();
  const auto other = model(Ids({1, 8}, {1, 1, 0, 1, 0, 2, 2, 2}), 3, {draw, {}}).values();
  for (size_t e = 0; e < one.size(); ++e) {
    CHECK(one[e] == doctest::Approx(one[e % 2]).epsilon(1e-5));
    CHECK(one[e] == doctest::Approx(other[e]).epsilon(1e-5));
  }
}

TEST_CASE("gradients of packed parameters begin at 0, also in memory that was used before") {
  for (int turn = 0; turn < 2; ++turn) {
    Params p(5);
    const Transformer model(p, TransformerSpec{});
    p.pack();
    CHECK(std::all_of(p.grads(), p.grads() + p.count(), [](real g) { return g == 0; }));
    std::fill(p.grads(), p.grads() + p.count(), real(1));
  }
}

TEST_CASE("results that nothing reads are not computed, and the rest is the same: logits and all gradients") {
  for (const Scheme& scheme : all_encodings())
    for (const int layers : {1, 3}) {
      Params p(5);
      TransformerSpec spec;
      spec.layers = layers, spec.encoding = choose_encoding(scheme.name, trained_on(1024));
      spec.causal = !scheme.causal_only(spec.encoding.choices).empty();
      Transformer model(p, spec);
      p.pack();
      const Batch batch = make_batch(task("reverse_string"), 4, 6, stream(5, Purpose::tokens, 0));
      const PositionSample draw(sampler_for(spec.encoding, choose_sampler("randomized")), Resample::per_forward,
                                stream(5, Purpose::positions, 0), 4, 12);
      const auto run = [&](int slots) {
        p.clear_grads();
        const Tensor all = model(batch.tokens, slots, {draw, {}}), logits = slice(all, 1, slots - batch.outputs, slots);
        backward(cross_entropy(logits, batch.targets));
        auto values = logits.values();
        values.insert(values.end(), p.grads(), p.grads() + p.count());
        return values;
      };
      const auto less = run(batch.outputs), more = run(12);
      double worst = 0, most = 0;
      for (size_t e = 0; e < less.size(); ++e) {
        worst = std::max(worst, std::abs(double(less[e]) - double(more[e])));
        most = std::max(most, std::abs(double(more[e])));
      }
      CHECK_MESSAGE(worst < (sizeof(real) == 4 ? 2e-6 : 1e-14) * most,
                    scheme.name << " with " << layers << " layers: " << worst);
    }
}

#ifndef __SANITIZE_ADDRESS__   // with it, every buffer is a separate allocation
// On one thread: of several, one may get its first large piece in a later step, and then needs scratch memory.
TEST_CASE("after the first steps a training step asks the system for no memory") {
  const int were = threads();
  set_threads(1);
  for (const std::string encoding : {"relative", "rope", "sincos", "alibi"}) {
    Trainer t(encoding, encoding == "alibi" ? "randomized_offsets" : "randomized");
    t.run(40);
    for (int step = 0; step < 30; ++step) t.run(training_length({}, 7, step));
    const int64_t before = memory().system_allocations;
    for (int step = 30; step < 60; ++step) t.run(training_length({}, 7, step));
    CHECK_MESSAGE(memory().system_allocations == before, encoding);
  }
  set_threads(were);
}
#endif

TEST_CASE("training is bit-identical for every number of threads") {
  const int were = threads();
  for (const std::string encoding : {"relative", "rope"}) {
    std::vector<std::vector<real>> results;
    for (const int n : {1, 2, 4}) {
      set_threads(n);
      Trainer t(encoding);
      for (int step = 0; step < 5; ++step) t.run(5 + 7 * step);
      results.emplace_back(t.state.params.values(), t.state.params.values() + t.state.params.count());
    }
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
  }
  set_threads(were);
}

TEST_CASE("a model learns: the loss of Reverse String falls far below that of guessing, ln 2") {
  Trainer t("relative", "sequential");
  double last = 0;
  for (int step = 0; step < 500; ++step) {
    const double loss = t.run(4);
    if (step >= 480) last += loss / 20;
  }
  MESSAGE("mean loss of steps 480 to 499: " << last);
  CHECK(last < 0.3);
}

TEST_CASE("transformer: biases start at 0 and gains at 1, so that a block starts as its matrices alone (spec B.3)") {
  Params p(3);
  const Transformer model(p, TransformerSpec{});
  int biases = 0, gains = 0;
  for (const Params::Entry& e : p.entries()) {
    const std::string last = e.name.substr(e.name.rfind('.') + 1);
    const bool gain = last == "gain", bias = last == "bias" || last == "b1" || last == "b2" || last == "b";
    gains += gain, biases += bias;
    if (gain || bias) CHECK_MESSAGE(e.tensor.values() == std::vector<real>(size_t(e.tensor.size()), gain), e.name);
  }
  CHECK(gains == 2 * 5);
  CHECK(biases == 4 * 5 + 1);
}

TEST_CASE("transformer: impossible sizes are refused") {
  const auto refused = [](int layers, int heads, int d_model, int widening = 4) {
    TransformerSpec spec;
    spec.layers = layers, spec.heads = heads, spec.d_model = d_model, spec.ffn_multiplier = widening;
    Transformer(Params(1), spec);
  };
  CHECK_THROWS_WITH_AS(refused(0, 2, 8), doctest::Contains("layers 0, heads 2, d_model 8"), BadInput);
  CHECK_THROWS_WITH_AS(refused(1, 0, 8), doctest::Contains("heads 0, d_model 8"), BadInput);
  CHECK_THROWS_WITH_AS(refused(1, 2, 0), doctest::Contains("heads 2, d_model 0"), BadInput);
  CHECK_THROWS_WITH_AS(refused(1, 2, 8, 0), doctest::Contains("ffn_multiplier 0, loops 1; all must be"), BadInput);
  CHECK_THROWS_WITH_AS(refused(1, 3, 8), doctest::Contains("3 heads do not divide d_model 8"), BadInput);
}

TEST_CASE("transformer: tokens in another shape, and output slots that do not exist, are refused") {
  const Transformer model(Params(1), {.layers = 1, .heads = 2, .d_model = 8});
  const PositionSample four(choose_sampler("sequential"), Resample::per_forward, {}, 1, 4);
  const auto pass = [&](Shape shape, int outputs) { model(Ids(std::move(shape), {0, 1, 1, 0}), outputs, {four, {}}); };
  CHECK_NOTHROW(pass({1, 4}, 4));
  CHECK_THROWS_WITH_AS(pass({4}, 1), doctest::Contains("tokens have shape (4); they must be (B, T)"), BadInput);
  for (const int outputs : {0, 5})
    CHECK_THROWS_WITH_AS(pass({1, 4}, outputs), doctest::Contains("output slots of 4; ask for 1 to 4"), BadInput);
}

TEST_CASE("params: pack() gives all parameters one buffer, and none can be added after it") {
  const Params p(1);
  const Tensor w = p.full("w", {3}, 2);
  CHECK((!p.values() && !p.grads()));
  p.pack();
  CHECK((p.values() == w.data() && p.grads()));
  CHECK_THROWS_WITH(p.full("late", {3}, 2), "params: late comes after pack(); make all parameters first");
}

TEST_CASE("params: two parameters with the same name, and a step before pack(), are refused") {
  const Params p(1);
  const Tensor w = (p / "head").full("w", {3}, 2);
  CHECK_THROWS_WITH_AS((p / "head").normal("w", {2}, 1),
                       doctest::Contains("there is a parameter head.w already; give each a name of its own"), BadInput);
  CHECK((p / "head").shared().full("w", {3}, 5).data() == w.data());
  CHECK(p.entries().size() == 1);
  for (const auto& too_early : {std::function<void()>([&] { p.clear_grads(); }), {[&] { Adam(p, 1e-3); }}})
    CHECK_THROWS_WITH_AS(too_early(), doctest::Contains("call pack() once all are made"), BadInput);
  p.pack();
  Adam adam(p, 1e-3);
  adam.epsilon = 1e-13;
  CHECK_THROWS_WITH_AS(adam.update(p), doctest::Contains("epsilon is 1e-13; give 1e-12 or more"), BadInput);
  const double nan = std::nan(""), infinity = HUGE_VAL;
  const std::tuple<double Adam::*, const char*, std::vector<double>> refused[] = {
      {&Adam::lr, "adam: lr is", {-1, -1e-300, nan, infinity}},
      {&Adam::beta1, "adam: beta1 is", {-0.1, 1, 2, nan}},
      {&Adam::beta2, "adam: beta2 is", {-0.1, 1, 2, nan}},
      {&Adam::epsilon, "adam: epsilon is", {0, -1e-8, nan, infinity}},
      {&Adam::clip, "adam: clip is", {0, -1, nan}}};
  for (const auto& [field, words, values] : refused)
    for (const double value : values) {
      Adam other(p, 1e-3);
      other.*field = value;
      CAPTURE(value);
      CHECK_THROWS_WITH_AS(other.update(p), doctest::Contains(words), BadInput);
    }
  CHECK_THROWS_WITH_AS(Adam().update(p), doctest::Contains("adam: 0 moments"), BadInput);
  CHECK_THROWS_WITH_AS(Params(1).full("w", {1 << 16, 1 << 15}, 0), doctest::Contains("build a smaller model"),
                       BadInput);
}

TEST_CASE("params: a view from before pack() keeps the values of that time") {
  const Params p(1);
  const Tensor w = p.full("w", {64}, 7), before = w.detach(), row = w.first(2);
  p.pack();
  const Tensor takes_freed_memory = Tensor::full({64}, 3);
  w.set(std::vector<real>(64, 5).data());
  CHECK(before.values() == std::vector<real>(64, 7));
  CHECK(row.values() == std::vector<real>(2, 7));
  CHECK(w.detach().values() == std::vector<real>(64, 5));
}

TEST_CASE("params: an error names the missing parameter, and the one that may be meant") {
  const Params params(1);
  (params / "head").full("bias", {2}, 0);
  CHECK(params.at("head.bias").shape() == Shape{2});
  CHECK_THROWS_WITH_AS(params.at("head.bais"), doctest::Contains("did you mean \"head.bias\"?"), BadInput);
}
