// Training steps of the 5-layer model, timed on command: the side of bench/steps.py that runs poslab. Peers answer the
// same lines.
//
//   at the start   {"program", "threads", "isa", "blas", "symbols_in", "symbols_out", "outputs"}
//   steps N        {"ms": [N times], "loss": of the last}
//   check FILE     {"tensors": [[name, size], ...]}: loss, logits and all gradients, in FILE as float32 in a row, at the
//                  weights, tokens and positions of tests/formula.h, dropout off
#include "bench/steps.h"

#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#ifdef POSLAB_WITH_BLAS
#include <cblas.h>
#endif

#include "autograd/tape.h"
#include "core/error.h"
#include "core/isa.h"
#include "core/parallel.h"
#include "nn/adam.h"
#include "nn/transformer.h"
#include "tasks/batch.h"
#include "tests/formula.h"

namespace poslab {
namespace {

using nlohmann::json;

struct Bench {
  StepsOptions options;
  const Task& task;
  int slots;
  Params params{1};
  Transformer model;
  Adam adam;

  static TransformerSpec spec(const StepsOptions& o) {
    TransformerSpec s;
    s.symbols_in = poslab::task(o.task).symbols_in() + 1, s.symbols_out = poslab::task(o.task).symbols_out();
    s.encoding = o.encoding;
    return s;
  }
  static const Params& ready(const Params& p) { return p.pack(), p; }

  explicit Bench(const StepsOptions& o)
      : options(o),
        task(poslab::task(o.task)),
        slots(o.length + task.output_length(o.length)),
        model(params, spec(o)),
        adam(ready(params), 1e-3) {
    formula::fill(params);
  }

  double step() {
    const uint64_t at = uint64_t(adam.step);
    const Batch batch = make_batch(task, options.batch, options.length, stream(1, Purpose::tokens, at));
    const Draw draw(sampler_for(options.encoding, options.positions), {.max_position = options.encoding.max_position},
                    Resample::per_forward, stream(1, Purpose::positions, at), options.batch, slots);
    params.clear_grads();
    const Tensor logits =
        model(batch.tokens, batch.outputs, {draw, {real(options.dropout), stream(1, Purpose::dropout, at)}});
    const Tensor loss = cross_entropy(logits, batch.targets);
    backward(loss);
    adam.update(params);
    return loss.item();
  }

  json steps(int count) {
    json ms = json::array();
    double loss = 0;
    for (int i = 0; i < count; ++i) {
      const auto start = std::chrono::steady_clock::now();
      loss = step();
      ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    return {{"ms", ms}, {"loss", loss}};
  }

  Draw check_positions() const {
    if (options.positions == "sequential")
      return Draw(sampler("sequential"), {}, Resample::per_forward, {}, options.batch, slots);
    const std::vector<double> p = formula::increasing("check.positions", slots);
    if (sampler_for(options.encoding, options.positions).name == "randomized")
      return Draw({Positions::of_tokens(1, p)});
    std::vector<double> offset(size_t(2 * slots - 1), 0);
    for (int d = 1; d < slots; ++d)
      offset[size_t(slots - 1 + d)] = 1 + p[size_t(d - 1)],
                                offset[size_t(slots - 1 - d)] = -offset[size_t(slots - 1 + d)];
    return Draw({Positions::of_offsets(1, offset)});
  }

  json check(const std::string& path) {
    formula::fill(params);
    const int outputs = slots - options.length, empty = task.symbols_in();
    const std::vector<int> symbols = formula::integers("check.tokens", int64_t(options.batch) * options.length, empty);
    std::vector<int> tokens;
    for (int b = 0; b < options.batch; ++b) {
      tokens.insert(tokens.end(), symbols.begin() + b * options.length, symbols.begin() + (b + 1) * options.length);
      tokens.insert(tokens.end(), size_t(outputs), empty);
    }
    const Ids targets({options.batch, outputs},
                      formula::integers("check.targets", int64_t(options.batch) * outputs, task.symbols_out()));
    const Draw draw = check_positions();
    params.clear_grads();
    const Tensor logits = model(Ids({options.batch, slots}, tokens), outputs, {draw, {}});
    const Tensor loss = cross_entropy(logits, targets);
    backward(loss);

    json tensors = json::array();
    std::ofstream file(path, std::ios::binary);
    const auto write = [&](const std::string& name, const std::vector<real>& values) {
      const std::vector<float> single(values.begin(), values.end());
      file.write(reinterpret_cast<const char*>(single.data()), std::streamsize(single.size() * sizeof(float)));
      tensors.push_back({name, single.size()});
    };
    write("loss", loss.values());
    write("logits", logits.values());
    for (const auto& entry : params.entries()) write(entry.name, entry.tensor.grad().values());
    if (!file.flush()) failure("bench: cannot write {}", path);
    return {{"tensors", tensors}};
  }
};

std::string blas() {
#ifdef POSLAB_WITH_BLAS
  return std::string("OpenBLAS ") + openblas_get_corename();
#else
  return "none";
#endif
}

}  // namespace

void serve_steps(const StepsOptions& options) {
  Bench bench(options);
  const auto say = [](const json& answer) { std::cout << answer.dump() << std::endl; };
  say({{"program", sizeof(real) == 8 ? "poslab (double)" : "poslab"},
       {"threads", threads()},
       {"isa", isa()},
       {"blas", blas()},
       {"symbols_in", bench.model.spec().symbols_in},
       {"symbols_out", bench.model.spec().symbols_out},
       {"outputs", bench.slots - options.length}});
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, file;
    int count = 0;
    words >> command;
    if (command == "steps" && words >> count)
      say(bench.steps(count));
    else if (command == "check" && words >> file)
      say(bench.check(file));
    else
      bad_input("bench: unknown line `{}`; known: steps N, check FILE", line);
  }
}

}  // namespace poslab
