// The program of docs/spine.md: an encoder with RoPE learns to sort strings of up to 20 digits, and is then tested on
// longer ones. This file shows every step; `poslab train` does the same with all its options (experiment/step.cpp,
// experiment/evaluate.cpp), and so does examples/transformer.cpp.
#include <fmt/format.h>

#include "autograd/tape.h"
#include "nn/adam.h"
#include "nn/transformer.h"
#include "tasks/all.h"
#include "tasks/batch.h"

namespace poslab {
Scheme rope();   // encodings/rope.cpp
}

using namespace poslab;

constexpr int strings = 32, longest = 20;
constexpr uint64_t seed = 0;

// Tokens are at positions 0, 1, 2, ..., the same in all layers.
PositionSample counted(int slots) {
  std::vector<double> position;
  for (int i = 0; i < slots; ++i) position.push_back(i);
  return PositionSample({Positions::of_tokens(1, position)});
}

double percent(const Score& s) { return 100 * double(s.correct) / double(s.scored); }

struct Learned { Tensor logits, loss; };

// One step of training: forward, the loss, its gradients, an update.
Learned train_step(const Transformer& net, const Params& params, Adam& adam, const Batch& batch) {
  const PositionSample positions = counted(batch.tokens.shape()[1]);
  const Dropout drop{0.1, stream(seed, Purpose::dropout, uint64_t(adam.step))};
  params.clear_grads();
  const Tensor logits = net(batch.tokens, batch.outputs, {positions, drop});
  const Tensor loss = cross_entropy(logits, batch.targets);
  backward(loss);
  adam.update(params);
  ++adam.step;
  return {logits, loss};
}

int main(int count, char** words) {              // spine [STEPS]
  const int steps = count > 1 ? std::stoi(words[1]) : 3000;
  const Task task = completed(bucket_sort());
  const Scheme scheme = rope();
  TransformerSpec spec{.symbols_in = task.symbols_in + 1, .symbols_out = task.symbols_out, .layers = 3};
  spec.encoding = {scheme, Choices(scheme.name, scheme.options)};
  Params params(seed);
  const Transformer net(params, spec);
  params.pack(Device::cpu);                     // all parameters into one flat buffer
  Adam adam(params, 3e-4);
  fmt::print("{} parameters\n", params.count());

  while (adam.step < steps) {
    const uint64_t step = uint64_t(adam.step);
    Rng rng(stream(seed, Purpose::length, step));
    const Batch batch = make_batch(task, strings, 1 + int(rng.below(longest)), stream(seed, Purpose::tokens, step));
    const Learned now = train_step(net, params, adam, batch);
    if (adam.step % 500 == 0)
      fmt::print("step {:4}   loss {:.3f}   accuracy {:5.1f} %\n", adam.step, now.loss.item(),
                 percent(score(now.logits.data(), task.symbols_out, batch)));
  }

  fmt::print("\nlength   accuracy\n");
  const NoGrad inference;
  for (const int length : {10, 20, 30, 40, 60, 100}) {
    const Batch batch = make_batch(task, 64, length, stream(seed, Purpose::test_tokens, uint64_t(length)));
    const PositionSample positions = counted(batch.tokens.shape()[1]);
    const Tensor logits = net(batch.tokens, batch.outputs, {positions, {}});
    fmt::print("{:6} {:8.1f} %{}\n", length, percent(score(logits.data(), task.symbols_out, batch)),
               length > longest ? "   longer than any in training" : "");
  }
}
