// Step 8: Adam, and a model that learns. core/cpu/adam.cpp, nn/adam.cpp, examples/rope.cpp
#define main program_of_the_spine
#include "examples/rope.cpp"
#undef main

#include "check.h"

using namespace course;

namespace {

// Adam (Kingma and Ba 2015) over a few steps, with one mistake if wanted.
struct Form {
  bool corrected = true, root = true, momentum = true, squared = true, clipped = true, minus = true;
  bool epsilon_inside = false, per_element_clip = false;
  int first_step = 1;
};
Values adam_by_hand(Values p, const std::vector<Values>& gradients, double lr, double clip, const Form& f = {}) {
  Values m(p.size()), v(p.size());
  for (size_t t = 0; t < gradients.size(); ++t) {
    double square = 0;
    for (double g : gradients[t]) square += g * g;
    const double factor = f.clipped && std::sqrt(square) > clip ? clip / std::sqrt(square) : 1;
    for (size_t e = 0; e < p.size(); ++e) {
      double g = gradients[t][e] * factor;
      if (f.per_element_clip) g = std::clamp(gradients[t][e], -clip, clip);
      m[e] = f.momentum ? 0.9 * m[e] + 0.1 * g : g;
      v[e] = 0.999 * v[e] + 0.001 * (f.squared ? g * g : std::abs(g));
      const double at = double(t) + f.first_step;
      const double mean = f.corrected ? m[e] / (1 - std::pow(0.9, at)) : m[e];
      const double square_mean = f.corrected ? v[e] / (1 - std::pow(0.999, at)) : v[e];
      const double step = mean / (f.epsilon_inside ? std::sqrt(square_mean + 1e-8)
                                  : f.root         ? std::sqrt(square_mean) + 1e-8
                                                   : square_mean + 1e-8);
      p[e] += (f.minus ? -1 : 1) * lr * step;
    }
  }
  return p;
}

struct Steps {
  Values start = {1, -2, 0.5, 3};
  std::vector<Values> gradients = {{0.1, -0.2, 0.3, 0}, {0.3, 0.2, -0.1, 0.05}, {-0.2, 0.1, 0.2, -0.3}};
  std::vector<Values> large = {{3, -4, 1, 0}, {0.1, 0.2, 0.3, 0.1}, {-6, 2, 3, 1}};
};

// The same with the kernels, or with the class Adam, which works out the corrections.
Values by_kernel(const Steps& s, const std::vector<Values>& gradients, double clip, double lr = 0.01) {
  const Kernels& run = kernels(Device::cpu);
  const int n = int(s.start.size());
  const Tensor p = Tensor::from({n}, s.start), m = Tensor::full({n}, 0), v = Tensor::full({n}, 0);
  for (size_t t = 0; t < gradients.size(); ++t) {
    double square = 0;
    for (double g : gradients[t]) square += g * g;
    const double at = double(t) + 1;
    run.adam(p.data(), m.data(), v.data(), Tensor::from({n}, gradients[t]).data(), n, &square,
             {.lr = real(lr),
              .beta1 = real(0.9),
              .beta2 = real(0.999),
              .epsilon = real(1e-8),
              .correction1 = real(1 - std::pow(0.9, at)),
              .correction2 = real(1 - std::pow(0.999, at)),
              .clip = real(clip)});
  }
  return values(p);
}

}  // namespace

CASE("the sum of squares") {
  Values x;
  double expected = 0, sum = 0;
  for (int e = 0; e < 10001; ++e) x.push_back(std::sin(e)), expected += std::sin(e) * std::sin(e), sum += std::sin(e);
  double got = -1;
  const Tensor t = Tensor::from({10001}, x);
  kernels(Device::cpu).squares(&got, t.data(), t.size());
  check("sum_e x_e^2 of 10,001 numbers, in double", got, expected,
        {{"it is the root of the sum; it should be the sum itself", {std::sqrt(expected)}},
         {"the numbers are not squared", {sum}},
         {"it is the mean; it should be the sum", {expected / 10001}}});
  const int many = 100000;
  std::vector<double> apart(size_t(many), 1.);
  apart[0] = 4096;
  const Tensor y = Tensor::from({many}, apart);
  kernels(Device::cpu).squares(&got, y.data(), y.size());
  const double exact = 4096. * 4096 + many - 1;
  if (std::abs(got - exact) > 1)
    wrong("4096^2 and 99,999 ones", "", fmt::format("{:.0f}", exact), fmt::format("{:.0f}", got),
          "a float of 4096^2 stays the same when 1 is added: the sum has to be a double");
}

CASE("three updates") {
  const Steps s;
  const auto by = [&](const Form& f) { return adam_by_hand(s.start, s.gradients, 0.01, 1, f); };
  check("m, v = running means of g, g^2;  p -= lr (m / correction1) / (sqrt(v / correction2) + epsilon)",
        by_kernel(s, s.gradients, 1), by({}),
        {{"the corrections are missing: m and v begin at 0 and are too small at first", by({.corrected = false})},
         {"the root of v is missing", by({.root = false})},
         {"m is the gradient of the last step alone: m = beta1 m + (1 - beta1) g", by({.momentum = false})},
         {"v collects |g|; it collects g^2", by({.squared = false})},
         {"the parameters go up the gradient; the loss falls along -g", by({.minus = false})}});
}

CASE("gradients as small as epsilon") {
  const Steps s;
  const std::vector<Values> tiny = {{2e-8, -1e-8, 3e-8, 1e-8}, {1e-8, -2e-8, 2e-8, 3e-8}};
  const auto by = [&](const Form& f) { return adam_by_hand(s.start, tiny, 0.5, 1, f); };
  check("epsilon = 1e-8 is added to the root of v / correction2", by_kernel(s, tiny, 1, 0.5), by({}),
        {{"epsilon is inside the root; it should be added to it", by({.epsilon_inside = true})}});
}

CASE("a long gradient is clipped") {
  const Steps s;
  const auto by = [&](const Form& f) { return adam_by_hand(s.start, s.large, 0.01, 1, f); };
  check("g <- g min(1, clip / |g|), |g| the length of the whole gradient", by_kernel(s, s.large, 1), by({}),
        {{"nothing is clipped", by({.clipped = false})},
         {"each number is clipped by itself; the whole gradient should become shorter and keep its direction",
          by({.per_element_clip = true})}});
}

CASE("a gradient that is no number changes nothing") {
  const Steps s;
  std::vector<Values> bad = {{0.1, std::nan(""), 0.2, 0}};
  check("if |g| is not finite, all stays as it was", by_kernel(s, bad, 1), s.start);
}

CASE("the corrections of the first steps") {
  Params params(1);
  const Steps s;
  const Tensor p = params.full("p", {4}, 0);
  p.set(std::vector<real>(s.start.begin(), s.start.end()).data());
  params.pack(Device::cpu);
  Adam adam(params, 0.01);
  const auto by = [&](const Form& f) { return adam_by_hand(s.start, s.gradients, 0.01, 1, f); };
  for (const Values& g : s.gradients) {
    params.clear_grads();
    clear_tape();
    backward(sum_all(p * Tensor::from({4}, g)));
    adam.update(params);
    ++adam.step;
  }
  check("correction1 = 1 - beta1^t, correction2 = 1 - beta2^t, t = 1 at the first step", p, by({}),
        {{"t begins at 2", by({.first_step = 2})},
         {"they are 1, as without a correction", by({.corrected = false})},
         {"this divides by 1 - beta^0, which is 0: t begins at 1", not_finite}});
}

namespace {

struct Small {
  Task task = completed(bucket_sort());
  Params params{3};
  Transformer net;
  Adam adam;
  Small() : net(params, spec(task)), adam((params.pack(Device::cpu), params), 3e-3) {}
  static TransformerSpec spec(const Task& task) {
    const Scheme scheme = rope();
    TransformerSpec s{.symbols_in = task.symbols_in + 1,
                      .symbols_out = task.symbols_out,
                      .layers = 1,
                      .heads = 4,
                      .d_model = 32,
                      .ffn_multiplier = 2};
    s.encoding = {scheme, Choices(scheme.name, scheme.options)};
    return s;
  }
  Batch batch(uint64_t step) const {
    Rng rng(stream(5, Purpose::length, step));
    return make_batch(task, 16, 1 + int(rng.below(6)), stream(5, Purpose::tokens, step));
  }
};

}  // namespace

CASE("one step of training") {
  clear_tape();
  Small small;
  const Values before(small.params.values(), small.params.values() + small.params.count());
  const auto loss_by = [&](const Dropout& drop) {
    const NoGrad only_looking;
    const Batch batch = small.batch(0);
    const PositionSample positions = counted(batch.tokens.shape()[1]);
    return double(cross_entropy(small.net(batch.tokens, batch.outputs, {positions, drop}), batch.targets).item());
  };
  const double whole = loss_by({}), dropped = loss_by({0.1, stream(seed, Purpose::dropout, 0)});
  const Learned now = train_step(small.net, small.params, small.adam, small.batch(0));
  check("the loss with the dropout that is given", double(now.loss.item()), dropped,
        {{"nothing is dropped out: net(tokens, outputs, {positions, drop})", {whole}}});
  check("the loss is that of the batch, about ln 5 before anything is learned", double(now.loss.item() > 1), 1);
  check("adam.step counts the updates that are done", double(small.adam.step), 1,
        {{"it is not counted: ++adam.step", {0}}, {"it is counted twice", {2}}});
  const Values after(small.params.values(), small.params.values() + small.params.count());
  check("the parameters have moved", double(before != after), 1,
        {{"adam.update() is not called, or there is no gradient: is backward() called before it?", {0}}});
  check("the tape is empty", double(tape_length()), 0, {{"backward() is not called", {double(tape_length())}}});
  const Values first(small.params.grads(), small.params.grads() + small.params.count());
  Small again;
  train_step(again.net, again.params, again.adam, again.batch(0));
  const std::vector<real> start(before.begin(), before.end());
  std::copy(start.begin(), start.end(), again.params.values());
  again.adam = Adam(again.params, 3e-3);
  train_step(again.net, again.params, again.adam, again.batch(0));
  const Values second(again.params.grads(), again.params.grads() + again.params.count());
  Values twice = first;
  for (double& v : twice) v *= 2;
  check("each step begins with gradients of its own", {int(first.size())}, second, first,
        {{"the gradients of the last step are still there: clear_grads() first", twice}});
}

CASE("a model that learns") {
  clear_tape();
  Small small;
  double last = 0;
  for (uint64_t step = 0; step < 150; ++step) {
    const double loss = double(train_step(small.net, small.params, small.adam, small.batch(step)).loss.item());
    if (step >= 130) last += loss / 20;
  }
  if (!(last < 1.1))
    wrong("150 steps with your engine: the loss of sorting strings falls from 1.6 to below 1.1", "", "below 1.1",
          fmt::format("{:.3f}", last), "");
}
