#include "nn/adam.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/kernels.h"
#include "nn/traced.h"

namespace poslab {
namespace {

// NaN is outside of every range.
void check(const Adam& a, const Params& p) {
  if (!(a.lr >= 0 && std::isfinite(a.lr))) bad_input("adam: lr is {}; give 0 or more, such as 1e-3", a.lr);
  for (const auto& [name, beta] : {std::pair{"beta1", a.beta1}, {"beta2", a.beta2}})
    if (!(beta >= 0 && beta < 1)) bad_input("adam: {} is {}; give 0 or more and less than 1, such as 0.9", name, beta);
  if (!(a.epsilon >= 1e-12 && std::isfinite(a.epsilon)))
    bad_input("adam: epsilon is {}; give 1e-12 or more, such as 1e-8", a.epsilon);
  if (!(a.clip > 0)) bad_input("adam: clip is {}; give more than 0, such as 1, or infinity for no clipping", a.clip);
  if (!(a.decay >= 0 && a.lr * a.decay < 1))
    bad_input("adam: decay is {} at lr {}; give 0 or more, such as 0.1, with lr * decay below 1", a.decay, a.lr);
  for (const Tensor* moments : {&a.m, &a.v})
    if (!*moments || size_t(moments->size()) != size_t(p.count()))
      bad_input("adam: {} moments for {} parameters; construct Adam with these parameters",
                *moments ? moments->size() : 0, p.count());
}

bool is_matrix(const Shape& s) { return std::count_if(s.begin(), s.end(), [](int n) { return n > 1; }) > 1; }

// Neighbouring parameters of the flat buffer, which either all decay or all do not; a single range if nothing decays.
struct Range {
  int64_t from, to;
  bool decays;
};
std::vector<Range> ranges(const Params& p, double decay) {
  if (decay == 0) return {{0, p.count(), false}};
  std::vector<Range> all;
  for (const auto& [name, x, offset] : p.entries()) {
    const bool decays = is_matrix(x.shape());
    if (all.empty() || all.back().decays != decays) all.push_back({offset, offset, decays});
    all.back().to = offset + x.size();
  }
  return all;
}

// m and v begin at 0: after t steps they are too small by the factor 1 - beta^t.
void set_corrections(AdamStep& s, const Adam& a) {
  const double t = double(a.step + 1);
  s.correction1 = real(1 - std::pow(a.beta1, t)), s.correction2 = real(1 - std::pow(a.beta2, t));
}

}  // namespace

Adam::Adam(const Params& p, double rate)
    : lr(rate),
      m(Tensor::full({int(p.count())}, 0, p.device())),
      v(Tensor::full({int(p.count())}, 0, p.device())),
      squares(Tensor::full({int(sizeof(double) / sizeof(real))}, 0, p.device())) {}

// g <- g min(1, clip / |g|), then Kingma & Ba 2015, algorithm 1, from (1 - lr decay) p
void Adam::update(const Params& p, Trace* trace) {
  check(*this, p);
  const TracedUpdate traced(p, trace);
  const Kernels& run = kernels(p.device());
  double* sum = reinterpret_cast<double*>(squares.data());
  run.squares(sum, p.grads(), p.count());
  AdamStep s{};
  s.lr = real(lr), s.beta1 = real(beta1), s.beta2 = real(beta2), s.epsilon = real(epsilon), s.clip = real(clip);
  set_corrections(s, *this);
  for (const auto& [from, to, decays] : ranges(p, decay)) {
    s.keep = decays ? real(1 - lr * decay) : real(1);
    run.adam(p.values() + from, m.data() + from, v.data() + from, p.grads() + from, to - from, sum, s);
  }
  traced.show();
}

double Adam::norm(const std::vector<real>& squares) {
  double sum;
  std::memcpy(&sum, squares.data(), sizeof sum);
  return std::sqrt(sum);
}

}  // namespace poslab
