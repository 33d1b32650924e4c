// Runs an OpCase and compares results: shared by tests/autograd/ops.cpp and tests/cuda/backend.cpp.
#pragma once
#include "core/engine.h"
#include "core/platform/isa.h"
#include "core/platform/openblas.h"
#include "core/platform/parallel.h"
#include "tests/op_cases/op_case.h"

namespace poslab::test {

#ifdef POSLAB_DOUBLE
constexpr double value_tolerance = 1e-12, gradient_tolerance = 1e-6, twin_tolerance = 1e-11, repeat_tolerance = 1e-12;
constexpr double small_share = 0.01;   // gradients below this share of the largest one are measured by that share
#else
constexpr double value_tolerance = 1e-5, gradient_tolerance = 1e-4, twin_tolerance = 1e-5, repeat_tolerance = 1e-5;
constexpr double small_share = 0.1;
#endif

struct Result {
  std::vector<real> value;
  std::vector<std::vector<real>> grads;   // gradient of each input; empty if not requested
};

// Whether the op's kernel consists of products, which an engine computes.
inline bool is_product(const OpCase& c) {
  return c.kernel == "linear" || c.kernel == "matmul" || c.kernel == "feed_forward" || c.kernel == "gated_feed_forward";
}
inline std::vector<Engine> engines_here() {
  std::vector<Engine> all = {Engine::own, Engine::naive};
  if (has_openblas()) all.push_back(Engine::openblas);
  return all;
}

inline std::string title(const OpCase& c) { return c.kernel + " " + c.name; }

// Fixed weights, one for each element of the result. The loss is the weighted sum, so these are the result's gradient.
Tensor weights(const Shape&);

// Runs the op on a device; `wanted(i)`: does input i want a gradient?   times: how many copies of the op the graph has
using Wanted = std::function<bool(size_t)>;
inline bool all_inputs(size_t) { return true; }
Result run(const OpCase&, const std::function<Tensor(const Tensors&)>& op, const Tensors& values, const Wanted&,
           int times = 1, Device = Device::cpu);
Result run(const OpCase&, const Tensors& values, Device = Device::cpu);

// Compares gradients with the CPU's, up to `most`: the gradient of each input if no other is wanted, and all if the
// graph has the op twice, so that gradients are added to earlier ones.
void check_gradients_alone(const OpCase&, Device, double most);

bool same_bits(const Result&, const Result&);
double largest(const std::vector<real>&);
// Largest difference of a and times * b, relative to the largest number of b, or to `floor` if that is larger.
double difference(const std::vector<real>& a, const std::vector<real>& b, double floor, double times = 1);
double difference(const Result&, const Result&);
// A gradient may vanish, as that of q with a single key: its rounding errors are then relative to the other gradients.
double floor_of(const Result&);
// The derivative of the weighted sum of the reference's result by input i along u, by central differences of order 4:
//   f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h
// Results are subtracted before they are summed, as rounding would otherwise hide small gradients.
double numeric(const OpCase&, const Arrays& x, size_t i, const std::vector<double>& u);
double value_error(const OpCase&, const std::vector<real>& y, const Array& expected);

// One thread while it lives, in all tests but those of threads: small cases gain nothing from more.
struct OneThread {
  const int before = threads();
  OneThread() { set_threads(1); }
  ~OneThread() { set_threads(before); }
};

}  // namespace poslab::test
