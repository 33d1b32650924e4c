// Fits y = a x + b to noisy points: tensors, ops, a gradient, and steps along its negative.
#include <fmt/format.h>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/random.h"

using namespace poslab;

int main() {
  // 100 points near y = 3 x - 1
  const int n = 100;
  Rng random(stream(0, Purpose::tokens, 0));
  Tensor x({n}), y({n});
  for (int i = 0; i < n; ++i) {
    x.data()[i] = real(random.uniform());
    y.data()[i] = 3 * x.data()[i] - 1 + real(0.1 * random.normal());
  }

  Tensor a = Tensor::full({1}, 0).require_grad(), b = Tensor::full({1}, 0).require_grad();
  const double rate = 0.3;
  for (int step = 0; step <= 200; ++step) {
    const Tensor error = a * x + b - y;                      // (n)
    const Tensor loss = sum_all(error * error) * (1.0 / n);  // (1)
    a.clear_grad(), b.clear_grad();
    backward(loss);  // a.grad() is d loss / d a
    if (step % 50 == 0)
      fmt::print("step {:3}   loss {:.4f}   y = {:.3f} x {:+.3f}\n", step, loss.item(), a.item(), b.item());
    for (const Tensor& p : {a, b}) p.data()[0] -= real(rate) * p.grad().item();
  }
}
