// Traces of training steps: updates of parameters can be seen and replaced, and nothing else changes.
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"
#include "experiment/language/language.h"
#include "experiment/step.h"
#include "experiment/t5/t5.h"

using namespace poslab;

namespace {

// A model that is trained step by step.
struct Training {
  Params params;
  Adam* adam;
  std::function<void(Trace*)> step;
};

Training encoder() {
  const auto s = std::make_shared<State>(RunSpec(configure({{"task", "reverse_string"},
                                                            {"encoding", "relative"},
                                                            {"layers", "2"},
                                                            {"heads", "2"},
                                                            {"d_model", "16"},
                                                            {"batch", "4"},
                                                            {"train_length", "6"},
                                                            {"dropout", "0.1"}})));
  return {s->params, &s->adam,
          [s](Trace* t) { finish_step(s->config, start_step(*s, draw_step(s->config, s->adam.step), t)); }};
}
Training decoder() {
  language::Source source;
  source.grammar = CopyGrammar{.symbols = 6, .clause = 4, .back = 2};
  const RunSpec c(language::configure({{"text", "copy_grammar"},
                                       {"layers", "1"},
                                       {"heads", "2"},
                                       {"key_heads", "1"},
                                       {"d_model", "32"},
                                       {"d_ff", "48"},
                                       {"batch", "2"},
                                       {"train_length", "16"}}));
  const auto s = std::make_shared<language::State>(c, source.tokens());
  return {s->params, &s->adam, [s, source](Trace* t) {
            language::train_step(*s, language::draw_batch(s->config, source, s->adam.step), t);
          }};
}
Training t5_training() {
  const auto s = std::make_shared<t5::State>(RunSpec(t5::configure({{"tasks", "passkey/line"},
                                                                    {"layers", "1"},
                                                                    {"decoder_layers", "1"},
                                                                    {"heads", "2"},
                                                                    {"d_model", "16"},
                                                                    {"d_ff", "24"},
                                                                    {"tokens", "128"},
                                                                    {"shortest", "16"},
                                                                    {"train_length", "24"},
                                                                    {"eval_lengths", "24"}})));
  return {s->params, &s->adam, [s](Trace* t) { t5::train_step(*s, t5::draw_batch(s->config, s->adam.step), t); }};
}

std::map<std::string, std::vector<real>> values(const Training& t) {
  std::map<std::string, std::vector<real>> all{{"m", t.adam->m.values()}, {"v", t.adam->v.values()}};
  for (const Params::Entry& e : t.params.entries()) all[e.name] = e.tensor.values();
  return all;
}

Tensor scaled(const Tensor& x, double by) { return x * by; }

}  // namespace

TEST_CASE("trace: an update is the parameter after the step minus that before, and seeing it changes no bit") {
  for (auto* make : {encoder, decoder, t5_training}) {
    const Training seen = make(), plain = make();
    for (int n = 0; n < 3; ++n) {
      const auto before = values(seen);
      Trace trace({"update.*", "*.heads", "logits"});
      seen.step(&trace);
      plain.step(nullptr);
      const auto after = values(seen);
      CHECK(after == values(plain));
      CHECK(trace.captured.count("logits") == 1);
      int64_t updates = 0, moved = 0;
      for (const auto& [name, x] : trace.captured) {
        if (!name.starts_with("update.")) continue;
        CAPTURE(name);
        const std::string of = name.substr(7);
        CHECK(x.shape() == seen.params.at(of).shape());
        std::vector<real> difference = after.at(of);
        for (size_t i = 0; i < difference.size(); ++i) difference[i] -= before.at(of)[i], moved += difference[i] != 0;
        CHECK(x.values() == difference);
        ++updates;
      }
      CHECK(updates == int64_t(seen.params.entries().size()));
      CHECK(moved > seen.params.count() / 2);
    }
  }
}

TEST_CASE("trace: the first update equals Adam's formula for the clipped gradient") {
  State s(RunSpec(configure({{"task", "reverse_string"},
                             {"encoding", "none"},
                             {"layers", "1"},
                             {"heads", "2"},
                             {"d_model", "16"},
                             {"batch", "4"},
                             {"train_length", "6"},
                             {"clip", "0.01"},
                             {"lr", "0.01"}})));
  Trace trace({"update.*"});
  const Step step = finish_step(s.config, start_step(s, draw_step(s.config, 0), &trace));
  REQUIRE(step.grad_norm > 0.01);
  // Both moments are corrected for their start at 0: m / c1 = g', sqrt(v / c2) = |g'|.
  for (const Params::Entry& e : s.params.entries()) {
    CAPTURE(e.name);
    const std::vector<real> gradient = e.tensor.grad().values();
    const std::vector<real> update = trace.captured.at("update." + e.name).values();
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double g = double(gradient[i]) * 0.01 / step.grad_norm;
      CHECK(double(update[i]) == doctest::Approx(-0.01 * g / (std::abs(g) + 1e-8)).epsilon(1e-3).scale(1e-3));
    }
  }
}

TEST_CASE("trace: a zero update freezes its parameter, a halved one halves its step, and others keep their bits") {
  for (auto* make : {encoder, decoder, t5_training}) {
    const Training changed = make(), plain = make();
    const std::string frozen = changed.params.entries()[2].name, halved = changed.params.entries()[3].name;
    CAPTURE(frozen);
    CAPTURE(halved);
    const auto start = values(changed);
    Trace trace({"update." + frozen});
    trace.replace("update." + frozen, [](const std::string&, const Tensor& x) { return scaled(x, 0); });
    Tensor whole;
    trace.replace("update." + halved, [&](const std::string&, const Tensor& x) { return scaled(whole = x, 0.5); });
    changed.step(&trace), plain.step(nullptr);
    const auto ours = values(changed), theirs = values(plain);
    for (const auto& [name, x] : ours) {
      CAPTURE(name);
      if (name == frozen)
        CHECK(x == start.at(name));
      else if (name == halved)
        for (size_t i = 0; i < x.size(); ++i) CHECK(x[i] == start.at(name)[i] + whole.values()[i] * real(0.5));
      else
        CHECK(x == theirs.at(name));
    }
    CHECK(theirs.at(frozen) != start.at(frozen));
    CHECK(theirs.at(halved) != ours.at(halved));
    CHECK(trace.captured.at("update." + frozen).values() == std::vector<real>(start.at(frozen).size(), 0));
    for (int n = 0; n < 3; ++n) changed.step(&trace);
    CHECK(values(changed).at(frozen) == start.at(frozen));
  }
}

TEST_CASE("trace: an update that is overwritten is replaced, and one replaced by an equal one keeps all bits") {
  const Training written = encoder(), alike = encoder(), plain = encoder();
  const auto start = values(written);
  Trace zeros, copies;
  zeros.replace("update.embedding", [](const std::string&, const Tensor& x) {
    std::fill_n(x.data(), x.size(), real(0));
    return x;
  });
  copies.replace("update.*", [](const std::string&, const Tensor& x) { return Tensor::from(x.shape(), x.values()); });
  written.step(&zeros), alike.step(&copies), plain.step(nullptr);
  CHECK(values(written).at("embedding") == start.at("embedding"));
  CHECK(values(plain).at("embedding") != start.at("embedding"));
  CHECK(values(alike) == values(plain));
}

TEST_CASE("trace: a step's activations can be replaced, too, and gradients flow through the replacements") {
  const Training t = encoder();
  Trace silent({"block1.out"});
  silent.replace("block0.attention.heads", [](const std::string&, const Tensor& x) { return scaled(x, 0); });
  t.step(&silent);
  CHECK(t.params.at("block0.attention.output").grad().values() == std::vector<real>(16 * 16, 0));
  CHECK(t.params.at("block1.attention.output").grad().values() != std::vector<real>(16 * 16, 0));
  const std::vector<real> gradient = silent.captured.at("block1.out").grad().values();
  CHECK(std::any_of(gradient.begin(), gradient.end(), [](real g) { return g != 0; }));
}

TEST_CASE("trace: an update of another shape is refused, and an exception in a change ends the step") {
  const Training t = encoder();
  Trace wrong, broken;
  wrong.replace("update.head.b", [](const std::string&, const Tensor&) { return Tensor::full({1}, 0); });
  CHECK_THROWS_WITH_AS(t.step(&wrong),
                       "trace: update.head.b has shape (2), and its replacement (1); give a tensor of shape "
                       "(2) on its device",
                       BadInput);
  broken.replace("update.*", [](const std::string& name, const Tensor& x) {
    if (name == "update.embedding") throw std::domain_error(name);
    return x;
  });
  CHECK_THROWS_WITH_AS(t.step(&broken), "update.embedding", std::domain_error);
  clear_tape();
}
