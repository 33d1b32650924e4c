// adam and squares: the optimizer's step, and the sum of squares for clipping the gradients.
#include <cstring>

#include "tests/op_cases/op_case.h"

namespace poslab::test {
namespace {

const AdamStep step{.lr = real(0.01), .beta1 = real(0.9), .beta2 = real(0.999), .epsilon = real(1e-8),
                    .correction1 = real(0.271), .correction2 = real(0.002997), .clip = real(0.5),
                    .keep = real(0.96)};
constexpr double norm = 1, clipped = 0.5 / norm;   // clipping gets this norm, not the gradient's own

Tensor one_double(double value, Device device) {
  std::vector<real> bits(sizeof value / sizeof(real));
  std::memcpy(bits.data(), &value, sizeof value);
  return Tensor::from({int(bits.size())}, bits).to(device);
}

const double* in_double(const Tensor& x) { return reinterpret_cast<const double*>(x.data()); }

// p, m and v after one step, concatenated
Tensor adam_step(const Tensors& x) {
  Tensor p = concat({x[0], x[1], x[2]}, 0);
  const int n = x[0].dim(0);
  const Tensor squares = one_double(norm * norm, p.device());
  kernels(p.device()).adam(p.data(), p.data() + n, p.data() + 2 * n, x[3].data(), n, in_double(squares), step);
  return p;
}
Tensor sum_of_squares(const Tensor& x) {
  const Tensor sum = one_double(0, x.device());
  kernels(x.device()).squares(reinterpret_cast<double*>(sum.data()), x.data(), x.size());
  double value;
  std::memcpy(&value, sum.values().data(), sizeof value);
  return Tensor::full({1}, real(value));
}
Array adam_reference(Arrays x) {
  const int n = x[0].shape[0];
  Array y({3 * n});
  for (int e = 0; e < n; ++e) {
    const double g = clipped * x[3](e);
    const double m = double(step.beta1) * x[1](e) + (1 - double(step.beta1)) * g;
    const double v = double(step.beta2) * x[2](e) + (1 - double(step.beta2)) * g * g;
    const double root = std::sqrt(v / double(step.correction2)) + double(step.epsilon);
    y(e) = double(step.keep) * x[0](e) - double(step.lr) * (m / double(step.correction1)) / root;
    y(n + e) = m, y(2 * n + e) = v;
  }
  return y;
}

const Cases optimizer([](std::vector<OpCase>& all) {
  for (const int n : {1, 31, 257, 40000}) {
    OpCase adam{"adam", to_string(Shape{n}), {{n}, {n}, {n}, {n}}, adam_step, adam_reference, {}, {{}, {}, {0, 1}, {}}};
    adam.differentiable = false;
    all.push_back(adam);
    OpCase squares{"squares", to_string(Shape{n}), {{n}}, [](auto& x) { return sum_of_squares(x[0]); }};
    squares.reference = [](Arrays x) {
      Array y({1});
      for (const double v : x[0].at) y.at[0] += v * v;
      return y;
    };
    squares.differentiable = false;
    all.push_back(squares);
  }
});

const Cases adam_speed(
    [](std::vector<OpCase>& all) {
      const auto add = [&](const char* kernel, std::vector<Shape> shapes, std::function<Tensor(const Tensors&)> op) {
        all.push_back({kernel, "(300000)", shapes, op});
        all.back().differentiable = false;
      };
      add("adam", {{300000}, {300000}, {300000}, {300000}}, [](auto& x) {
        const Tensor squares = one_double(norm * norm, x[0].device());
        kernels(x[0].device())
            .adam(x[0].data(), x[1].data(), x[2].data(), x[3].data(), 300000, in_double(squares), step);
        return x[0];
      });
      add("squares", {{300000}}, [](auto& x) { return sum_of_squares(x[0]); });
    }, For::bench);

}  // namespace
}  // namespace poslab::test
