#include "lab/runs/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "autograd/tape.h"
#include "core/ascii.h"
#include "encodings/picture.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/lengths.h"
#include "lab/files/files.h"
#include "lab/files/matrix.h"

namespace poslab {
namespace {

using json = nlohmann::ordered_json;

constexpr int short_length = 10;  // short enough to write every symbol next to its row
constexpr int matrix_slots = 40;

constexpr size_t max_numbers = 8;  // largest side of matrices that also have their numbers

// [[M of each head] of each layer]; equal heads or layers appear once.
json matrices(const std::vector<Tensor>& layers) {
  double low = 0, high = 0;  // over all matrices, so that colors compare
  size_t count = 0;
  for (const Tensor& m : layers) {
    const std::vector<real> v = m.values();
    low = std::min(low, double(*std::min_element(v.begin(), v.end())));
    high = std::max(high, double(*std::max_element(v.begin(), v.end())));
    count += size_t(m.dim(0));
  }
  json all = json::array();
  for (const Tensor& m : layers) {
    const int H = m.dim(0), T = m.dim(1);
    const std::vector<real> v = m.values();
    const ptrdiff_t one = ptrdiff_t(T) * T;
    const bool alike = std::equal(v.begin(), v.end() - one, v.begin() + one);
    json heads = json::array();
    for (int h = 0; h < (alike ? 1 : H); ++h) {
      const std::vector<double> numbers(v.begin() + h * one, v.begin() + (h + 1) * one);
      heads.push_back(matrix_json(T, T, numbers, low, high));
      if (alike || count <= max_numbers)
        for (double x : numbers) heads.back()["values"].push_back(ascii::number(fmt::format("{:.5g}", x)));
    }
    all.push_back(heads);
  }
  return all;
}

// The position matrices, computed on the CPU: before training, and with the weights of `state`.
json positions(const State& state) {
  RunSpec c = state.config;
  c.move_to("cpu");
  const int T = std::min(slots(c, c.whole("train_length")), matrix_slots);
  const Chosen<Scheme>& s = c.scheme;
  State here(c);
  const auto drawn = [&] {
    return matrices(position_matrices(here.net.encoding(), here.net.spec().shape(),
                                      test_draw(c, c.whole("train_length"), 0, 1, T)));
  };
  const json before = drawn();
  for (size_t n = 0; n < here.params.entries().size(); ++n) {
    Tensor own = here.params.entries()[n].tensor;
    own.set(state.params.entries()[n].tensor.values().data());
  }
  const json after = drawn();
  const Chosen<Sampler> sampler = test_sampler(c);
  const bool random = sampler->random && !(reads(s) == Reads::nothing || reads(s) == Reads::slots);
  json made = {{"layers", after},
               {"reading", s->pages.shows(here.net.spec().shape(), s.choices) +
                               (!random ? ""
                                : sampler.choices.has("max_position")
                                    ? fmt::format(" One random draw from {} positions.", pool_of(sampler))
                                    : " One random draw.")}};
  if (before != after) made["before"] = before;  // the scheme learns
  return made;
}

json symbols(const int* at, int n) {
  json list = json::array();
  for (int i = 0; i < n; ++i) list.push_back(std::to_string(at[i]));
  return list;
}

json input_symbols(const Task& task, const int* at, int n) {
  const std::vector<std::string> words = task.alphabet;
  json list = json::array();
  for (int i = 0; i < n; ++i) list.push_back(words[size_t(at[i])]);
  return list;
}

json example(const State& state, int length) {
  const RunSpec& c = state.config;
  const Batch batch = test_batch(c, length, 0, 1);
  const int T = int(batch.tokens.size());
  const PositionSample drawn = test_draw(c, length, 0, 1, T, batch.tokens);
  const MatmulPrecision as_this_run = precision(state.config);
  Trace trace({"block*.attention.weights"});
  const Tensor logits = state.test_net()(batch.tokens, T, {drawn, {}, &trace});
  const int V = logits.dim(-1);
  const std::vector<real> logits_values = logits.values();
  std::vector<int> predicted;
  for (int o = 0; o < batch.outputs; ++o) {
    const real* row = logits_values.data() + (T - batch.outputs + o) * V;
    predicted.push_back(int(std::max_element(row, row + V) - row));
  }
  const int block = block_of(T);
  json layers = json::array();
  int queries = T;
  for (int layer = 0; layer < blocks(c, T - batch.outputs); ++layer) {
    const Tensor& weights = trace.captured.at(fmt::format("block{}.attention.weights", layer));
    queries = weights.dim(-2);
    layers.push_back(attention_json(weights, block));
  }
  return {{"length", length},
          {"trained", familiarity(c, length) == "trained"},
          {"input", input_symbols(task(c["task"]), batch.tokens.data(), T - batch.outputs)},
          {"expected", symbols(batch.targets.data(), batch.outputs)},
          {"predicted", symbols(predicted.data(), batch.outputs)},
          {"counted", batch.scored_slots[0]},
          {"queries", queries},
          {"block", block},
          {"layers", layers}};
}

}  // namespace

// At most 80 cells on a side: five layers of eight heads then stay below 400 KB.
int block_of(int slots) { return (slots + 79) / 80; }

json attention_json(const Tensor& weights, int block) {
  const int H = weights.dim(-3), Tq = weights.dim(-2), Tk = weights.dim(-1);
  const int rows = (Tq + block - 1) / block, cols = (Tk + block - 1) / block;
  std::vector<double> all(size_t(rows * cols), 0.);
  json heads = json::array();
  const std::vector<real> a = weights.values();
  for (int h = 0; h < H; ++h) {
    const std::vector<double> head = in_blocks(a.data() + int64_t(h) * Tq * Tk, Tq, Tk, block);
    heads.push_back(matrix_json(rows, cols, head, 0, *std::max_element(head.begin(), head.end())));
    std::transform(head.begin(), head.end(), all.begin(), all.begin(),
                   [](double x, double y) { return std::max(x, y); });
  }
  return {{"max", matrix_json(rows, cols, all, 0, *std::max_element(all.begin(), all.end()))}, {"heads", heads}};
}

void write_pictures(const RunFolder& run, const State& state) {
  const NoGrad no_grad;
  const int low = std::min(short_length, state.config.whole("train_length")),
            high = state.config.lengths("eval_lengths").to;
  json pictures = {{"positions", positions(state)}, {"examples", {example(state, low), example(state, high)}}};
  write_file(run.file("pictures.json"), pictures.dump() + "\n");
}

}  // namespace poslab
