#include <fmt/format.h>

#include <optional>

#include "autograd/tape.h"
#include "bench/serve.h"
#include "core/error.h"
#include "experiment/build.h"
#include "experiment/step.h"
#include "lab/files/version.h"
#include "tasks/curriculum.h"
#include "tasks/task.h"
#include "tests/support/formula.h"

namespace poslab {
namespace {

struct Encoder : Served {
  State state;
  const RunSpec& config = state.config;
  const Task& task = poslab::task(config["task"]);
  const MatmulPrecision as_this_run = precision(state.config);  // of evaluations, too
  uint64_t tested = 0;

  explicit Encoder(const RunSpec& c) : state(c) { formula::fill(state.params); }

  const Params& params() const override { return state.params; }
  json sizes() const override {
    const bool on_cpu = state.params.device() == Device::cpu;
    return {{"products", engine_in_full(products(config), on_cpu ? rounding(config) : Rounding::fp32)},
            {"symbols_in", state.net.spec().symbols_in},
            {"symbols_out", state.net.spec().symbols_out}};
  }
  std::string size(int length) const override { return fmt::format("{}+{}", length, task.output_length(length)); }

  PendingStep step(int length) { return start_step(state, draw_step(config, state.adam.step, length)); }

  double evaluate(const std::string& size) override {
    const NoGrad no_grad;
    const int length = std::stoi(size);
    const uint64_t at = tested++, seed = uint64_t(config.count("seed"));
    const Batch batch = make_batch(task, config.whole("batch"), length, stream(seed, Purpose::test_tokens, at));
    const PositionSample positions = draw_positions(config, int64_t(at), slots(config, length));
    const Tensor logits = state.net(batch.tokens, batch.outputs, {positions, {}});
    const Score s = score(logits.values().data(), task.symbols_out, batch);
    return double(s.correct) / double(s.scored);
  }

  // A GPU runs steps while the next ones are prepared, so each step counts an equal share of the whole time.
  json steps(std::istream& sizes) override {
    json ms = json::array();
    const bool on_cpu = state.params.device() == Device::cpu;
    std::optional<PendingStep> last;
    double loss = 0;
    const auto begin = Clock::now();
    for (std::string size; sizes >> size;) {
      const auto start = Clock::now();
      last.emplace(step(std::stoi(size)));
      if (on_cpu) loss = finish_step(config, std::move(*last)).loss;
      ms.push_back(ms_since(start));
    }
    if (!on_cpu) {
      loss = finish_step(config, std::move(*last)).loss;
      ms = json(ms.size(), ms_since(begin) / double(ms.size()));
    }
    return {{"ms", ms}, {"loss", loss}};
  }

  json lengths(int steps) const override {
    json sizes = json::array();
    for (int step = 0; step < steps; ++step) sizes.push_back(size(training_length({}, 1, step)));
    return {{"sizes", sizes}};
  }

  PositionSample check_positions(int slots) const {
    const Chosen<Sampler> sampler = poslab::sampler(config);
    if (!sampler->random) return PositionSample(sampler, Resample::per_forward, {}, config.whole("batch"), slots);
    std::vector<double> p = formula::increasing("check.positions", slots);
    for (int i = 0; i < slots; ++i)    // the table is a little too short for 1000 positions
      p[size_t(i)] = std::min(p[size_t(i)], double(config.whole("max_position") - slots + i));
    if (!sampler->only_offsets) return PositionSample({Positions::of_tokens(1, p)});
    std::vector<double> offset(size_t(2 * slots - 1), 0);
    for (int d = 1; d < slots; ++d)
      offset[size_t(slots - 1 + d)] = 1 + p[size_t(d - 1)],
                                offset[size_t(slots - 1 - d)] = -offset[size_t(slots - 1 + d)];
    return PositionSample({Positions::of_offsets(1, offset)});
  }

  Checked checked(bool training, const std::string& size) override {
    const int length = std::stoi(size), outputs = task.output_length(length), empty = task.symbols_in;
    const std::vector<int> symbols = formula::integers("check.tokens", int64_t(config.whole("batch")) * length, empty);
    std::vector<int> tokens;
    for (int b = 0; b < config.whole("batch"); ++b) {
      tokens.insert(tokens.end(), symbols.begin() + b * length, symbols.begin() + (b + 1) * length);
      tokens.insert(tokens.end(), size_t(outputs), empty);
    }
    const Ids targets({config.whole("batch"), outputs},
                      formula::integers("check.targets", int64_t(config.whole("batch")) * outputs, task.symbols_out));
    const PositionSample draw = check_positions(slots(config, length));
    const Tensor y = state.net(Ids({config.whole("batch"), slots(config, length)}, tokens), outputs, {draw, {}});
    return {y, training ? cross_entropy(y, targets) : Tensor()};
  }
};

}  // namespace

void serve_encoder(const Settings& settings, std::istream& in, std::ostream& out) {
  Encoder encoder(RunSpec(configure(settings)));
  serve(encoder, in, out);
}

}  // namespace poslab
