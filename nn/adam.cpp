#include "nn/adam.h"

#include <cmath>

#include "core/kernels.h"

namespace poslab {

Adam::Adam(const Params& p, double rate)
    : lr(rate), m(Tensor::full({int(p.count())}, 0)), v(Tensor::full({int(p.count())}, 0)) {}

// g <- g min(1, clip / |g|), then Kingma & Ba 2015, algorithm 1
double Adam::update(const Params& p) {
  const Kernels& run = kernels(Device::cpu);
  const double norm = std::sqrt(run.squares(p.grads(), p.count()));
  ++step;
  AdamStep s{};
  s.lr = real(lr), s.beta1 = real(beta1), s.beta2 = real(beta2), s.epsilon = real(epsilon);
  s.correction1 = real(1 - std::pow(beta1, double(step))), s.correction2 = real(1 - std::pow(beta2, double(step)));
  s.grad_scale = norm > clip ? real(clip / norm) : real(1);
  run.adam(p.values(), m.data(), v.data(), p.grads(), p.count(), s);
  return norm;
}

}  // namespace poslab
