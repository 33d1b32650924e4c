// Runs an OpCase and compares results; tests/autograd/ops.cpp and tests/cuda/backend.cpp use it.
#pragma once
#include "core/engine.h"
#include "core/platform/isa.h"
#include "core/platform/openblas.h"
#include "core/platform/parallel.h"
#include "tests/op_cases/op_case.h"

namespace poslab::test {

#ifdef POSLAB_DOUBLE
constexpr double value_tolerance = 1e-12, gradient_tolerance = 1e-6, twin_tolerance = 1e-11, repeat_tolerance = 1e-12;
constexpr double small_share = 0.01;   // errors of gradients below this share of the largest are relative to that share
#else
constexpr double value_tolerance = 1e-5, gradient_tolerance = 1e-4, twin_tolerance = 1e-5, repeat_tolerance = 1e-5;
constexpr double small_share = 0.1;
#endif

struct Result {
  std::vector<real> value;
  std::vector<std::vector<real>> grads;   // the gradient of each input; empty if it was not wanted
};

// Whether the op's kernel consists of matrix products, which an engine computes.
inline bool is_product(const OpCase& c) {
  return c.kernel == "linear" || c.kernel == "matmul" || c.kernel == "feed_forward" || c.kernel == "gated_feed_forward";
}
inline std::vector<Engine> engines_here() {
  std::vector<Engine> all = {Engine::own, Engine::naive};
  if (has_openblas()) all.push_back(Engine::openblas);
  return all;
}

inline std::string title(const OpCase& c) { return c.kernel + " " + c.name; }

// Fixed weights, one for each element of the result. The loss is the weighted sum: they are the result's gradient.
Tensor weights(const Shape&);

// Runs the op on a device. wanted(i): whether input i wants a gradient. times: how many copies of the op the graph has.
using Wanted = std::function<bool(size_t)>;
inline bool all_inputs(size_t) { return true; }
Result run(const OpCase&, const std::function<Tensor(const Tensors&)>& op, const Tensors& values, const Wanted&,
           int times = 1, Device = Device::cpu);
Result run(const OpCase&, const Tensors& values, Device = Device::cpu);

// Compares gradients with the CPU's, up to `most`: each input's gradient when no other is wanted, and all gradients
// when the graph has the op twice, so that gradients are added to earlier ones.
void check_gradients_alone(const OpCase&, Device, double most);

bool same_bits(const Result&, const Result&);
double largest(const std::vector<real>&);
// The largest difference of a and times * b, relative to the largest number of b, or to `floor` if that is larger.
double difference(const std::vector<real>& a, const std::vector<real>& b, double floor, double times = 1);
double difference(const Result&, const Result&);
// A gradient may vanish, like that of q with a single key. Its rounding errors then count relative to other gradients.
double floor_of(const Result&);
// The derivative of the weighted sum of the reference's result along u in input i, by central differences of order 4:
//   f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h
// Results are subtracted before they are summed: otherwise rounding would hide small gradients.
double numeric(const OpCase&, const Arrays& x, size_t i, const std::vector<double>& u);
double value_error(const OpCase&, const std::vector<real>& y, const Array& expected);

// Sets one thread while it lives: small cases gain nothing from more.
struct OneThread {
  const int before = threads();
  OneThread() { set_threads(1); }
  ~OneThread() { set_threads(before); }
};

}  // namespace poslab::test
