#include "bench/all.h"

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <map>

#include "bench/clock.h"
#include "core/platform/isa.h"
#include "core/platform/openblas.h"
#include "core/platform/parallel.h"
#include "experiment/build.h"
#include "experiment/language/language.h"
#include "experiment/step.h"
#include "experiment/t5/t5.h"
#include "lab/files/version.h"
#include "nn/decoder.h"

namespace poslab {
namespace {

using TimedStep = std::function<void()>;

struct Model {
  std::string name, size;
  std::function<TimedStep(const std::string& products)> make;       // weights and inputs are the same each time
};

// 5 layers of width 64, 128 strings.
Model encoder(const std::string& encoding, int length) {
  return {encoding, fmt::format("{0}+{0}", length), [=](const std::string& products) -> TimedStep {
            const auto state = std::make_shared<State>(
                RunSpec(configure({{"task", "reverse_string"}, {"encoding", encoding}, {"products", products}})));
            return [=] {
              finish_step(state->config, start_step(*state, draw_step(state->config, state->adam.step, length)));
            };
          }};
}

// 6 layers of width 256, 16 windows of 256 tokens.
TimedStep decoder(const std::string& products) {
  const int vocabulary = DecoderSpec().vocabulary;
  const auto state = std::make_shared<language::State>(
      RunSpec(language::configure({{"encoding", "rope"}, {"products", products}})), vocabulary);
  const int B = state->config.whole("batch"), T = state->config.whole("train_length");
  Rng rng(stream(0, Purpose::tokens, 0));
  std::vector<int> tokens(size_t(B) * size_t(T));
  for (int& token : tokens) token = int(rng.below(uint32_t(vocabulary)));
  const language::Batch batch{Ids({B, T}, tokens), Ids({B, T}, tokens)};
  return [=] { language::train_step(*state, batch); };
}

// 3 layers of width 128 in encoder and decoder, contexts of up to 128 tokens, 4096 in all.
TimedStep t5_step(const std::string& products) {
  const auto state = std::make_shared<t5::State>(
      RunSpec(t5::configure({{"growing", "0"}, {"products", products}})));
  const t5::Batch batch = t5::draw_batch(state->config, 0);
  return [=] { t5::train_step(*state, batch); };
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

}  // namespace

void time_engines(int turns) {
  const std::vector<Model> models = {encoder("none", 20),     encoder("none", 40),     encoder("rope", 20),
                                     encoder("rope", 40),     encoder("relative", 20), encoder("relative", 40),
                                     {"decoder", "0+256", decoder}, {"t5", "128", t5_step}};
  std::vector<std::string> engines = {"own", "naive"};
  if (has_openblas()) engines.insert(engines.begin() + 1, "openblas");
  const std::vector<int> counts = threads() > 1 ? std::vector{1, threads()} : std::vector{1};
  std::map<std::string, std::string> here;
  for (const auto& [name, word] : about()) here[name] = word;
  fmt::print("# {}; {}; commit {}; medians of {} turns, naive one\n", isa(), openblas_in_full(), here.at("commit"),
             turns);
  fmt::print("model,size,threads,own_ms,openblas_ms,naive_ms\n");
  for (const int n : counts) {
    set_threads(n);
    for (const Model& model : models) {
      std::map<std::string, TimedStep> steps;
      std::map<std::string, std::vector<double>> ms;
      for (const std::string& by : engines) steps[by] = model.make(by);
      for (int turn = -1; turn < turns; ++turn)            // the first turn warms up, and counts only for naive
        for (const std::string& by : engines)
          if ((turn < 0) == (by == "naive")) ms[by].push_back(1e3 * timed(steps[by]));
          else if (turn < 0) steps[by]();
      fmt::print("{},{},{},{:.1f},{},{:.0f}\n", model.name, model.size, n, median(ms["own"]),
                 has_openblas() ? fmt::format("{:.1f}", median(ms["openblas"])) : "", median(ms["naive"]));
      std::fflush(stdout);
    }
  }
}

}  // namespace poslab
