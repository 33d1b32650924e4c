#include "tests/support/op_run.h"

#include <doctest/doctest.h>

#include <cstring>

#include "autograd/tape.h"

namespace poslab::test {

Tensor weights(const Shape& shape) {
  Rng rng({0, 3, uint32_t(size_of(shape))});
  Tensor w(shape);
  for (int64_t e = 0; e < w.size(); ++e) w.data()[e] = real(2 * rng.uniform() - 1);
  return w;
}

Result run(const OpCase& c, const std::function<Tensor(const Tensors&)>& op, const Tensors& values,
           const Wanted& wanted, int times, Device where) {
  Tensors x;
  for (size_t i = 0; i < values.size(); ++i) {
    x.push_back(Tensor::from(values[i].shape(), values[i].values()).to(where));
    if (c.differentiable && wanted(i)) x.back().require_grad();
  }
  const Tensor y = op(x);
  Result r{y.values(), {}};
  if (!y.requires_grad()) {
    r.grads.resize(x.size());
    return r;
  }
  Tensor loss = sum_all(y * weights(y.shape()).to(where));
  for (int t = 1; t < times; ++t) loss = loss + sum_all(op(x) * weights(y.shape()).to(where));
  backward(loss);
  for (const Tensor& xi : x) r.grads.push_back(xi.requires_grad() ? xi.grad().values() : std::vector<real>());
  return r;
}
Result run(const OpCase& c, const Tensors& values, Device where) {
  return run(c, c.op, values, all_inputs, 1, where);
}

static bool same_bits(const std::vector<real>& a, const std::vector<real>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(real)) == 0);
}
bool same_bits(const Result& a, const Result& b) {
  bool same = same_bits(a.value, b.value) && a.grads.size() == b.grads.size();
  for (size_t i = 0; same && i < a.grads.size(); ++i) same = same_bits(a.grads[i], b.grads[i]);
  return same;
}

double largest(const std::vector<real>& x) {
  double most = 0;
  for (const real v : x) most = std::max(most, std::abs(double(v)));
  return most;
}
static double largest_gradient(const Result& r) {
  double most = 0;
  for (const auto& g : r.grads) most = std::max(most, largest(g));
  return most;
}

double difference(const std::vector<real>& a, const std::vector<real>& b, double floor, double times) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (size_t e = 0; e < a.size(); ++e) {
    const double d = std::abs(double(a[e]) - times * double(b[e]));
    most = std::isnan(d) ? INFINITY : std::max(most, d);
  }
  return most / (times * std::max({largest(b), floor, 1e-300}));
}
double floor_of(const Result& r) { return largest_gradient(r) / 10; }
double difference(const Result& a, const Result& b) {
  double most = difference(a.value, b.value, 0);
  for (size_t i = 0; i < a.grads.size(); ++i)
    if (!a.grads[i].empty()) most = std::max(most, difference(a.grads[i], b.grads[i], floor_of(b)));
  return most;
}

void check_gradients_alone(const OpCase& c, Device device, double most) {
  const Tensors x = inputs(c);
  const Result cpu = run(c, x), twice = run(c, c.op, x, all_inputs, 2, device);
  for (size_t i = 0; i < x.size(); ++i) {
    CHECK(difference(twice.grads[i], cpu.grads[i], floor_of(cpu), 2) <= most);
    const Result only = run(c, c.op, x, [i](size_t j) { return i == j; }, 1, device);
    CHECK(difference(only.grads[i], cpu.grads[i], floor_of(cpu)) <= most);
  }
}

double numeric(const OpCase& c, const Arrays& x, size_t i, const std::vector<double>& u) {
  const auto at = [&](double steps) {
    Arrays moved = x;
    for (size_t e = 0; e < u.size(); ++e) moved[i].at[e] += steps * c.step * u[e];
    return c.reference(moved);
  };
  const Array up = at(1), down = at(-1), far_up = at(2), far_down = at(-2);
  const Tensor w = weights(up.shape);
  double sum = 0;
  for (size_t e = 0; e < up.at.size(); ++e)
    sum += (8 * (up.at[e] - down.at[e]) - (far_up.at[e] - far_down.at[e])) * double(w.data()[e]);
  return sum / (12 * c.step);
}

double value_error(const OpCase& c, const std::vector<real>& y, const Array& expected) {
  REQUIRE(y.size() == expected.at.size());
  double worst = 0;
  for (size_t e = 0; e < y.size(); ++e) {
    const double error = std::abs(double(y[e]) - expected.at[e]) / (std::abs(expected.at[e]) + c.floor);
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

}  // namespace poslab::test
