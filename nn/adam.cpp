#include "nn/adam.h"

#include <cmath>
#include <cstring>

#include "core/kernels.h"

namespace poslab {

Adam::Adam(const Params& p, double rate)
    : lr(rate),
      m(Tensor::full({int(p.count())}, 0, p.device())),
      v(Tensor::full({int(p.count())}, 0, p.device())),
      squares(Tensor::full({int(sizeof(double) / sizeof(real))}, 0, p.device())) {}

// g <- g min(1, clip / |g|), then Kingma & Ba 2015, algorithm 1
void Adam::update(const Params& p) {
  const Kernels& run = kernels(p.device());
  double* sum = reinterpret_cast<double*>(squares.data());
  run.squares(sum, p.grads(), p.count());
  const double t = double(step + 1);
  AdamStep s{};
  s.lr = real(lr), s.beta1 = real(beta1), s.beta2 = real(beta2), s.epsilon = real(epsilon), s.clip = real(clip);
  s.correction1 = real(1 - std::pow(beta1, t)), s.correction2 = real(1 - std::pow(beta2, t));
  run.adam(p.values(), m.data(), v.data(), p.grads(), p.count(), sum, s);
}

double Adam::norm(const std::vector<real>& squares) {
  double sum;
  std::memcpy(&sum, squares.data(), sizeof sum);
  return std::sqrt(sum);
}

}  // namespace poslab
