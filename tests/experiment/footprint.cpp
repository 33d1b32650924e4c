// The estimate of memory against the memory that training and testing really take.
#include "experiment/footprint.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "autograd/tape.h"
#include "core/memory.h"
#include "encodings/checks/setup.h"
#include "experiment/evaluate.h"
#include "experiment/language/language.h"
#include "experiment/language/options.h"
#include "experiment/learner.h"
#include "experiment/step.h"

using namespace poslab;

namespace {

RunSpec sized(const std::string& encoding, int layers, int d_model, int length, int batch) {
  return RunSpec(configure({{"task", "reverse_string"},
                            {"encoding", encoding},
                            {"max_position", "512"},
                            {"layers", std::to_string(layers)},
                            {"d_model", std::to_string(d_model)},
                            {"train_length", std::to_string(length)},
                            {"batch", std::to_string(batch)},
                            {"eval_lengths", fmt::format("{}:{}", 2 * length, 2 * length)},
                            {"eval_samples", "16"}}));
}

}  // namespace

TEST_CASE("footprint: the estimate is within a factor of the memory that a step takes") {
  for (const char* encoding : {"none", "learned", "alibi", "rope", "relative", "geometric"})
    for (const int d_model : {64, 128}) {
      const RunSpec c(sized(encoding, 3, d_model, 40, 16));
      const int64_t before = memory().bytes_requested;
      State state(c);
      const StepInputs inputs = draw_step(c, 0, 40);
      const Tensor logits = state.net(inputs.batch.tokens, inputs.batch.outputs, {inputs.positions, {real(0.1), {}}});
      const Tensor loss = cross_entropy(logits, inputs.batch.targets);
      const double used = double(memory().bytes_requested - before);  // everything that the backward pass needs
      backward(loss);
      const Footprint f = footprint(c);
      const double ratio = (f.state + f.step) / used, parameters = f.parameters / double(state.params.count());
      fmt::print("footprint {:10} {:4} parameters {:.2f}   memory {:.2f} of {:.0f} MB\n", encoding, d_model, parameters,
                 ratio, used / 1e6);
      CHECK(parameters == doctest::Approx(1).epsilon(0.1));
      CHECK(ratio > 0.8);
      CHECK(ratio < 1.8);
    }
}

TEST_CASE("footprint: the estimate holds for every scheme, and for each of its variants that states another size") {
  std::vector<std::string> all;
  const ModelShape shape{.layers = 2, .heads = 8, .d_model = 64};
  for (const Scheme& scheme : all_encodings()) {
    all.push_back(scheme.name);
    const double plain = scheme.pages.cost.matrices(shape, choose_encoding(scheme.name, trained_on(1024)).choices);
    for (const Option& option : scheme.options)
      for (const std::string& value : checks::other_values(option)) {
        const std::string spelled = fmt::format("{}:{}={}", scheme.name, option.name, value);
        const Choices choices = choose_encoding(spelled, trained_on(1024)).choices;
        if (scheme.pages.cost.matrices(shape, choices) != plain) all.push_back(spelled);
      }
  }
  // schemes in only some of the layers or heads
  for (const char* composed : {"cope|none", "cope*2+none*6", "dape*1+none*7", "path:reflect|none"})
    all.push_back(composed);
  CHECK(all.size() > all_encodings().size() + 4);
  for (const std::string& spelled : all) {
    const Chosen<Scheme> scheme = choose_encoding(spelled, trained_on(1024));
    RunSpec c(sized(spelled, 2, 64, 40, 8));
    c.set("causal", scheme->causal_only(scheme.choices).empty() ? "off" : "on");
    const int64_t before = memory().bytes_requested;
    State state(c);
    const StepInputs inputs = draw_step(c, 0, 40);
    const Tensor logits = state.net(inputs.batch.tokens, inputs.batch.outputs, {inputs.positions, {real(0.1), {}}});
    const Tensor loss = cross_entropy(logits, inputs.batch.targets);
    const double used = double(memory().bytes_requested - before);
    backward(loss);
    const Footprint f = footprint(c);
    const double ratio = (f.state + f.step) / used;
    fmt::print("footprint {:24} memory {:.2f} of {:.0f} MB\n", spelled, ratio, used / 1e6);
    CAPTURE(spelled);
    CHECK(ratio > 0.5);
    CHECK(ratio < 2.5);
  }
}

TEST_CASE("footprint: it grows with every size, and takes no memory itself") {
  const int64_t before = memory().bytes_in_use;
  const RunSpec small(sized("relative", 2, 64, 20, 32)), huge(sized("relative", 256, 65536, 100000, 1 << 20));
  CHECK(footprint(huge).bytes() > 1e15);
  CHECK(footprint(small).bytes() < 1e8);
  CHECK(memory().bytes_in_use == before);
  for (const auto& [name, value] :
       {std::pair{"layers", "3"}, {"loops", "2"}, {"d_model", "128"}, {"batch", "64"}, {"train_length", "30"}}) {
    RunSpec larger(small);
    larger.set(name, value);
    CHECK(footprint(larger).bytes() > footprint(small).bytes());
    CHECK(work(larger).step > work(small).step);
  }
}

TEST_CASE("footprint: for every kind of run, for a step and for a test") {
  const std::map<std::string, std::vector<Settings>> sizes = {
      {"train", {{{"task", "even_pairs"}, {"encoding", "rope"}, {"train_length", "100"}, {"eval_lengths", "300:300"}}}},
      {"lm train",
       {{{"text", "copy_grammar"}, {"train_length", "128"}, {"eval_times", "8"}, {"batch", "8"}},
        {{"text", "copy_grammar"}, {"key_heads", "1"}, {"tied", "on"}, {"eval_times", "4"}, {"batch", "2"}},
        {{"text", "copy_grammar"}, {"unit", "gau"}, {"d_ff", "256"}, {"eval_times", "4"}, {"batch", "4"}},
        {{"text", "copy_grammar"}, {"documents", "packed"}, {"train_length", "128"}, {"eval_times", "8"}},
        {{"text", "copy_grammar"},
         {"documents", "packed"},
         {"encoding", "cope"},
         {"train_length", "128"},
         {"eval_times", "8"}},
        {{"text", "copy_grammar"}, {"documents", "packed"}, {"unit", "gau"}, {"d_ff", "128"}, {"eval_times", "4"}},
        {{"text", "copy_grammar"}, {"loops", "4"}, {"train_length", "128"}, {"eval_times", "8"}, {"batch", "8"}}}},
      {"t5 train",
       {{{"tasks", "line"}, {"train_length", "128"}, {"shortest", "128"}, {"tokens", "1024"}, {"eval_lengths", "1024"}},
        {{"tasks", "line"},
         {"gated", "off"},
         {"tied", "on"},
         {"shortest", "128"},
         {"tokens", "512"},
         {"eval_lengths", "512"}}}},
      {"decoder train",
       {{{"task", "reverse_string"}, {"train_length", "60"}, {"eval_lengths", "200:200"}},
        {{"task", "reverse_string"}, {"loops", "3"}, {"train_length", "60"}, {"eval_lengths", "200:200"}}}}};
  language::Source grammar;
  grammar.grammar = CopyGrammar{};
  const auto text = std::make_shared<const language::Source>(grammar);
  CHECK(sizes.size() == all_kinds().size());
  for (const auto& [command, all] : sizes)
    for (Settings settings : all) {
      const Kind& kind = kind_of_command(command);
      settings.insert(settings.begin(), {{"layers", "3"}, {"heads", "2"}, {"d_model", "64"}, {"eval_samples", "2"}});
      const RunSpec c(kind.configure(settings));
      const int64_t before = memory().bytes_requested;
      const std::unique_ptr<Learner> learner = kind.make(c, text);
      const auto peak = [&](const std::function<void()>& action) {
        reset_peak();
        action();
        return double(memory().bytes_peak - before);
      };
      const double step = peak([&] { learner->start(learner->draw_longest(0)), learner->finish(); });
      const double test = peak([&] { learner->test(c).back().row(); });
      const Footprint f = footprint(c);
      const double parameters = f.parameters / double(learner->params().count()), of_step = (f.state + f.step) / step,
                   of_test = (f.state + f.test) / test;
      fmt::print("footprint {:14} parameters {:.2f}   step {:.2f} of {:.1f} MB   test {:.2f} of {:.1f} MB\n", command,
                 parameters, of_step, step / 1e6, of_test, test / 1e6);
      CAPTURE(command);
      CHECK(parameters > 0.95);
      CHECK(parameters < 1.5);
      CHECK(std::min(of_step, of_test) > 0.6);
      CHECK(of_step < 1.8);
      // The estimate assumes that a document fills its window, and counts all its pairs; these documents are shorter.
      CHECK(of_test < (c.has("documents") && c["documents"] == "packed" && c["encoding"] == "cope" ? 4 : 1.8));
    }
}

TEST_CASE("footprint: a scheme's own memory, where no batch hides it") {
  const auto took = [](const RunSpec& c) {
    const State state(c);
    const int64_t before = memory().bytes_requested;
    const StepInputs inputs = draw_step(c, 0, c.whole("train_length"));
    const Tensor logits = state.net(inputs.batch.tokens, inputs.batch.outputs, {inputs.positions, {real(0.1), {}}});
    const double bytes = double(memory().bytes_requested - before);
    backward(cross_entropy(logits, inputs.batch.targets));
    return bytes;
  };
  const RunSpec none(sized("none", 2, 32, 120, 1));
  const RunSpec relative(sized("relative", 2, 32, 120, 1));  // a vector for each distance
  took(relative), took(none);                                 // the first pass allocates the kernels' scratch memory
  const double more = took(relative) - took(none), estimated = footprint(relative).step - footprint(none).step;
  CHECK(more > 1e5);
  CHECK(estimated > 0.7 * more);
  CHECK(estimated < 1.5 * more);
  RunSpec own(sized("relative", 2, 32, 120, 16));  // each sequence has positions, each pair looks up a row
  own.set("resample", "per_sequence");
  const double used = took(own);
  CHECK(footprint(own).step > 0.5 * used);
  CHECK(footprint(own).step < 2.5 * used);
  RunSpec rotated(sized("rope", 2, 32, 120, 16));  // rotations look up nothing for a pair
  const double shared = footprint(rotated).step;
  rotated.set("resample", "per_sequence");
  CHECK(footprint(rotated).step == shared);
}

TEST_CASE("footprint: the cache of a text grows by keys and values, whatever their width") {
  const auto of_token = [](const DecoderSpec& spec) {
    const double more = language::writing_takes(spec, 50, 110).bytes - language::writing_takes(spec, 50, 10).bytes;
    return more / 100 / sizeof(real) / spec.layers;
  };
  DecoderSpec spec{.vocabulary = 10, .layers = 3, .heads = 4, .key_heads = 2, .d_model = 64, .d_ff = 96};
  CHECK(of_token(spec) == doctest::Approx(2 * 2 * 16));
  spec.head_dim = 24;
  CHECK(of_token(spec) == doctest::Approx(2 * 2 * 24));
  spec.head_dim = 0, spec.gau = 32, spec.heads = spec.key_heads = 1;
  CHECK(of_token(spec) == doctest::Approx(64 + 96));
}

TEST_CASE("footprint: parameters equal the model's, except a bias for each symbol") {
  for (const int d_model : {8, 16}) {
    const RunSpec c(sized("none", 1, d_model, 40, 1));
    CHECK(double(State(c).params.count()) - footprint(c).parameters == task(c["task"]).symbols_out);
  }
}
