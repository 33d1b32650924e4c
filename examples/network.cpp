// A network of two layers learns the exclusive or of two bits. The tape of its first step is printed: each op with its
// shapes on the way forward, then the same ops from the last to the first.
#include <fmt/format.h>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/debug.h"
#include "nn/adam.h"

using namespace poslab;

int main() {
  const Tensor bits = Tensor::from<double>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const Ids answers({4}, {0, 1, 1, 0});

  Params params(1);  // the seed of the first weights
  const Tensor w1 = params.normal("hidden.weight", {2, 8}, 1), b1 = params.full("hidden.bias", {8}, 0);
  const Tensor w2 = params.normal("output.weight", {8, 2}, 1), b2 = params.full("output.bias", {2}, 0);
  params.pack();  // moves all into one buffer, for Adam
  Adam adam(params, 0.05);

  for (int step = 0; step < 200; ++step, ++adam.step) {
    set_debug_level(step == 0 ? 3 : 0);  // like POSLAB_DEBUG=3, for one step
    params.clear_grads();
    const Tensor hidden = tanh(linear(bits, w1, b1));    // (4, 8)
    const Tensor logits = linear(hidden, w2, b2);        // (4, 2)
    const Tensor loss = cross_entropy(logits, answers);  // (1)
    backward(loss);
    adam.update(params);
    if (step % 50 == 0 || step == 199) fmt::print("step {:3}   loss {:.4f}\n", step, loss.item());
  }

  const NoGrad no_tape;
  const Tensor p = softmax(linear(tanh(linear(bits, w1, b1)), w2, b2));
  for (int i = 0; i < 4; ++i)
    fmt::print("{:.0f} xor {:.0f}: 1 with probability {:.3f}\n", bits.data()[2 * i], bits.data()[2 * i + 1],
               p.data()[2 * i + 1]);
}
