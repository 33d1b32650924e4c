// Training and evaluation steps of the 5-layer model, timed on command: the side of bench/compare.py that runs poslab.
// The peers (bench/peers/) answer the same lines, but for `size` and `lengths`. A size is "20+20": 20 input symbols, 20
// output slots. What a step needs is drawn within its time.
//
//   at the start                        {"program", "threads", "isa", "blas", "symbols_in", "symbols_out"}
//   size N                              {"size": of a batch with inputs of length N}
//   lengths N                           {"sizes": of the first N steps of a run with the example preset's curriculum}
//   warm steps|eval SIZE...             anything the side does before it is fast
//   steps SIZE...                       {"ms": [a time for each], "loss": of the last}   draw, forward, backward, Adam
//   eval SIZE...                        {"ms": ..., "accuracy": of the last}          draw, forward without tape, score
//   check steps|eval SIZE FILE          {"tensors": [[name, size], ...]}: loss, logits and all gradients (steps), or
//                                       the logits (eval), in FILE as float32 in a row, at the weights, tokens and
//                                       positions of tests/formula.h, dropout off
#include "bench/serve.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "autograd/tape.h"
#include "bench/ceiling.h"
#include "core/error.h"
#include "core/isa.h"
#include "core/parallel.h"
#include "experiment/build.h"
#include "experiment/step.h"
#include "tasks/curriculum.h"
#include "tasks/task.h"
#include "tests/formula.h"

namespace poslab {
namespace {

using nlohmann::json;

struct Bench {
  State state;
  const Config& config = state.config;
  const Task& task = poslab::task(config.task);
  uint64_t tested = 0;

  explicit Bench(const Config& c) : state(c) { formula::fill(state.params); }

  std::string size(int length) const { return fmt::format("{}+{}", length, task.output_length(length)); }

  PendingStep step(int length) { return start_step(state, draw_step(config, state.adam.step, length)); }

  double evaluate(int length) {
    const NoGrad no_grad;
    const uint64_t at = tested++, seed = uint64_t(config.seed);
    const Batch batch = make_batch(task, config.batch, length, stream(seed, Purpose::test_tokens, at));
    const PositionSample positions = draw_positions(config, int64_t(at), slots(config, length));
    const Tensor logits = state.net(batch.tokens, batch.outputs, {positions, {}});
    const Score s = score(logits.values().data(), task.symbols_out(), batch);
    return double(s.correct) / double(s.scored);
  }

  using Clock = std::chrono::steady_clock;
  static double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  // A GPU works off its steps one after the other while the next ones are prepared: each gets its share of the whole.
  json steps(std::istream& sizes) {
    json ms = json::array();
    const bool on_cpu = state.params.device() == Device::cpu;
    std::optional<PendingStep> last;
    double loss = 0;
    const auto begin = Clock::now();
    for (std::string size; sizes >> size;) {
      const auto start = Clock::now();
      last.emplace(step(std::stoi(size)));
      if (on_cpu) loss = double(last->loss.result()[0]);
      ms.push_back(ms_since(start));
    }
    if (!on_cpu) {
      loss = double(last->loss.result()[0]);
      ms = json(ms.size(), ms_since(begin) / double(ms.size()));
    }
    return {{"ms", ms}, {"loss", loss}};
  }

  json evaluations(std::istream& sizes) {
    json ms = json::array();
    double accuracy = 0;
    for (std::string size; sizes >> size;) {
      const auto start = Clock::now();
      accuracy = evaluate(std::stoi(size));
      ms.push_back(ms_since(start));
    }
    return {{"ms", ms}, {"accuracy", accuracy}};
  }

  json lengths(int steps) const {
    json sizes = json::array();
    for (int step = 0; step < steps; ++step) sizes.push_back(size(training_length({}, 1, step)));
    return {{"sizes", sizes}};
  }

  PositionSample check_positions(int slots) const {
    const Chosen<Sampler> sampler = train_sampler(config);
    if (!sampler->random) return PositionSample(sampler, Resample::per_forward, {}, config.batch, slots);
    std::vector<double> p = formula::increasing("check.positions", slots);
    for (int i = 0; i < slots; ++i)    // 1000 of them would reach a little further than the table
      p[size_t(i)] = std::min(p[size_t(i)], double(config.max_position - slots + i));
    if (!sampler->only_offsets) return PositionSample({Positions::of_tokens(1, p)});
    std::vector<double> offset(size_t(2 * slots - 1), 0);
    for (int d = 1; d < slots; ++d)
      offset[size_t(slots - 1 + d)] = 1 + p[size_t(d - 1)],
                                offset[size_t(slots - 1 - d)] = -offset[size_t(slots - 1 + d)];
    return PositionSample({Positions::of_offsets(1, offset)});
  }

  json check(bool training, int length, const std::string& path) {
    formula::fill(state.params);
    const int outputs = task.output_length(length), empty = task.symbols_in();
    const std::vector<int> symbols = formula::integers("check.tokens", int64_t(config.batch) * length, empty);
    std::vector<int> tokens;
    for (int b = 0; b < config.batch; ++b) {
      tokens.insert(tokens.end(), symbols.begin() + b * length, symbols.begin() + (b + 1) * length);
      tokens.insert(tokens.end(), size_t(outputs), empty);
    }
    const Ids targets({config.batch, outputs},
                      formula::integers("check.targets", int64_t(config.batch) * outputs, task.symbols_out()));
    const PositionSample draw = check_positions(slots(config, length));
    json tensors = json::array();
    std::ofstream file(path, std::ios::binary);
    const auto write = [&](const std::string& name, const std::vector<real>& values) {
      const std::vector<float> single(values.begin(), values.end());
      file.write(reinterpret_cast<const char*>(single.data()), std::streamsize(single.size() * sizeof(float)));
      tensors.push_back({name, single.size()});
    };
    const auto logits = [&] {
      return state.net(Ids({config.batch, slots(config, length)}, tokens), outputs, {draw, {}});
    };
    if (training) {
      state.params.clear_grads();
      const Tensor y = logits(), loss = cross_entropy(y, targets);
      backward(loss);
      write("loss", loss.values());
      write("logits", y.values());
      for (const auto& entry : state.params.entries()) write(entry.name, entry.tensor.grad().values());
    } else {
      const NoGrad no_grad;
      write("logits", logits().values());
    }
    if (!file.flush()) failure("bench: cannot write {}", path);
    return {{"tensors", tensors}};
  }

  json answer(const std::string& line) {
    std::istringstream words(line);
    std::string command, what, size, file;
    int count = 0;
    words >> command;
    if (command == "size" && words >> count) return {{"size", this->size(count)}};
    if (command == "lengths" && words >> count) return lengths(count);
    if (command == "warm" && words >> what) return what == "eval" ? evaluations(words) : steps(words);
    if (command == "steps") return steps(words);
    if (command == "eval") return evaluations(words);
    if (command == "check" && words >> what >> size >> file) return check(what == "steps", std::stoi(size), file);
    bad_input("bench: unknown line `{}`; known: size, lengths, warm, steps, eval, check", line);
  }
};

}  // namespace

void serve(const Settings& settings) {
  Bench bench(configure(settings));
  const Backend& device = backend(bench.state.params.device());
  const auto say = [](const json& answer) { std::cout << answer.dump() << std::endl; };
  say({{"device", device.name()},
       {"peak_gflops", device.peak_flops() / 1e9},
       {"program", sizeof(real) == 8 ? "poslab (double)" : "poslab"},
       {"threads", threads()},
       {"isa", isa()},
       {"blas", "its own products"},
       {"symbols_in", bench.state.net.spec().symbols_in},
       {"symbols_out", bench.state.net.spec().symbols_out}});
  for (std::string line; std::getline(std::cin, line);) say(bench.answer(line));
}

}  // namespace poslab
