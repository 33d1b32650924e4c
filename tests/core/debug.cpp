// POSLAB_DEBUG: the declared costs of kernels, their summary, and the op that is named for a NaN. No level may change a
// result.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "autograd/observe.h"
#include "autograd/tape.h"
#include "core/debug.h"
#include "core/profile.h"
#include "experiment/step.h"
#include "tests/lab/helpers.h"
#include "tests/op_cases/op_case.h"

namespace poslab::test {
namespace {

// Sets a debug level while it lives, and catches stderr in a file.
class Rung {
 public:
  explicit Rung(int level) : before_(debug_level()), stderr_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    REQUIRE(std::freopen((folder_ / "stderr").c_str(), "w", stderr));
    set_debug_level(level);
    clear_profile_totals();
    latest_calls();
  }
  ~Rung() {
    set_debug_level(before_);
    clear_tape();
    std::fflush(stderr);
    dup2(stderr_, STDERR_FILENO);
    close(stderr_);
  }
  std::string printed() {
    std::fflush(stderr);
    std::ostringstream text;
    text << std::ifstream(folder_ / "stderr").rdbuf();
    return text.str();
  }

 private:
  TemporaryFolder folder_;
  int before_, stderr_;
};

ProfileTotals of(const std::string& kernel) {
  for (const ProfileTotals& s : profile_totals())
    if (s.kernel == kernel) return s;
  return {};
}
double flops() {
  double sum = 0;
  for (const ProfileTotals& s : profile_totals()) sum += s.cost.flops;
  return sum;
}

bool has_nan(const Tensor& x) {
  const std::vector<real> all = x ? x.values() : std::vector<real>();
  return std::any_of(all.begin(), all.end(), [](real v) { return std::isnan(v); });
}

// Records all ops of a tape, and puts NaN into the gradient of the step `poisoned`.
struct Steps : TapeWatch {
  struct Step { std::string op; std::vector<Tensor> results, inputs; };
  std::vector<Step> all;
  size_t poisoned = SIZE_MAX;
  bool reached = false, spread = false;   // whether NaN reached that step's result, and whether the step passed it on

  void after_forward(size_t, const char* op, const std::vector<Tensor>& out, const std::vector<Tensor>& in) override {
    all.push_back({op, out, in});
  }
  void before_backward(size_t at) override {
    if (at != poisoned) return;
    for (const Tensor& y : all[at].results)
      if (y.has_grad()) std::fill_n(y.grad_accumulator().at, y.size(), real(NAN)), reached = true;
  }
  void after_backward(size_t at) override {
    if (at != poisoned) return;
    const auto is_result = [&](const Tensor& x) {
      return std::any_of(all[at].results.begin(), all[at].results.end(),
                         [&](const Tensor& y) { return y.data() == x.data(); });
    };
    for (const Step& step : all)           // including tensors that this step does not name as its inputs
      for (const Tensor& x : step.inputs) spread |= x && x.has_grad() && !is_result(x) && has_nan(x.grad());
  }
};

// New tensors with these values, which require gradients if the case has any.
Tensors leaves(const OpCase& c, const Tensors& values) {
  Tensors x;
  for (const Tensor& v : values) {
    x.push_back(Tensor::from(v.shape(), v.values()));
    if (c.differentiable) x.back().require_grad();
  }
  return x;
}

// Puts NaN into input i. The first step with NaN in its result must be named; so must an op that records no step.
bool check_forward_is_named(const OpCase& c, const Tensors& values, size_t i) {
  const auto poisoned = [&] {
    Tensors x = leaves(c, values);
    x[i].data()[x[i].size() / 2] = real(NAN);
    return x;
  };
  set_debug_level(0);
  std::string first;
  bool in_result = false;
  {
    const Steps steps;
    in_result = has_nan(c.op(poisoned()));
    for (size_t s = steps.all.size(); s-- > 0;)
      if (std::any_of(steps.all[s].results.begin(), steps.all[s].results.end(), has_nan)) first = steps.all[s].op;
  }
  clear_tape();
  set_debug_level(4);
  const std::string said = refusal([&] { c.op(poisoned()); });
  clear_tape();
  if (!first.empty()) CHECK_MESSAGE(said.starts_with("1: " + first + " "), said);
  else CHECK_MESSAGE(said.empty() == !in_result, said);
  return !said.empty();
}

// Puts NaN into the gradient of each step's result in turn. That step must be named if it passes the NaN on.
int check_backward_is_named(const OpCase& c, const Tensors& values) {
  int named = 0;
  for (size_t step = 0, steps = 1; step < steps; ++step) {
    const auto run = [&](Steps& watch) {
      const Tensor y = c.op(leaves(c, values));
      steps = watch.all.size();
      watch.poisoned = step;
      if (y.requires_grad()) backward(sum_all(y));
    };
    set_debug_level(0);
    Steps quiet;
    run(quiet);
    set_debug_level(4);
    Steps loud;
    const std::string said = refusal([&] { run(loud); });
    clear_tape();
    if (!quiet.reached) continue;
    INFO("step " << step << ", " << quiet.all[step].op);
    if (quiet.spread) CHECK_MESSAGE(said.starts_with("1: the backward pass of " + quiet.all[step].op + " "), said);
    else CHECK_MESSAGE(said == "", said);
    named += quiet.spread;
  }
  return named;
}

// Trains on Reverse String step by step, by default with 5 layers of width 64.
struct Trainer {
  State state;
  explicit Trainer(int batch, int layers = 5, double dropout = 0)
      : state(RunSpec(configure({{"task", "reverse_string"}, {"encoding", "relative"}, {"seed", "5"},
                                 {"batch", fmt::format("{}", batch)}, {"layers", fmt::format("{}", layers)},
                                 {"dropout", fmt::format("{}", dropout)}}))) {}
  void step(int length) {
    finish_step(state.config, start_step(state, draw_step(state.config, state.adam.step, length)));
  }
};

}  // namespace

TEST_CASE("debug: every kernel has a timed twin, which no level below 2 uses") {
  const Kernels& plain = kernels(Device::cpu);
  const Rung rung(2);
  const Kernels& twins = kernels(Device::cpu);
#define KERNEL(name, ...) CHECK_MESSAGE((twins.name && twins.name != plain.name), #name);
#include "core/kernels.def"
#undef KERNEL
  set_debug_level(1);
  CHECK(&kernels(Device::cpu) == &plain);
}

TEST_CASE("debug: the cost of a linear layer equals a count by hand") {
  const Rung rung(2);
  Tensor x = Tensor::full({7, 10, 16}, 1), w = Tensor::full({16, 48}, 1), b = Tensor::full({48}, 1);
  const Tensor y = linear(x, w.require_grad(), b);
  CHECK(of("linear").calls == 1);
  CHECK(of("linear").cost.flops == 2 * 70 * 16 * 48);
  CHECK(of("linear").cost.bytes == sizeof(real) * (70 * 16 + 16 * 48 + 48 + 70 * 48));
  backward(sum_all(y));
  CHECK(of("linear_backward").cost.flops == 2 * 70 * 16 * 48);                                      // only dw
  CHECK(of("linear_backward").cost.bytes == sizeof(real) * (70 * 48 + 70 * 16 + 16 * 48));          // dy, x, dw
  x.require_grad(), b.require_grad(), w.clear_grad();
  clear_profile_totals();
  backward(sum_all(linear(x, w, b)));
  CHECK(of("linear_backward").cost.flops == 2 * 2 * 70 * 16 * 48);
  CHECK(of("linear_backward").cost.bytes == sizeof(real) * (70 * 48 + 2 * (70 * 16 + 16 * 48) + 48));
  linear(x, w, b);
  CHECK(of("linear").calls == 2);
  CHECK(of("linear").cost.flops == 2 * 2 * 70 * 16 * 48);
}

TEST_CASE("debug: a product with 16-bit weights reads two bytes for each") {
  const Rung rung(2);
  const std::vector<uint16_t> numbers(48 * 16, 0x3C00);
  const StoredMatrix w{StoredAs::float16, numbers.data(), 48, 16};
  linear(Tensor::full({7, 10, 16}, 1), w, Tensor::full({48}, 1));
  CHECK(of("linear_stored").cost.flops == 2 * 70 * 16 * 48);
  CHECK(of("linear_stored").cost.bytes == sizeof(real) * (70 * 16 + 48 + 70 * 48) + 2 * 16 * 48);
  gather(w, Ids({3}, {0, 47, 5}));
  CHECK(of("gather_stored").cost.bytes == sizeof(real) * 3 * 16 + sizeof(int) * 3);
}

TEST_CASE("debug: the cost counts repeated dimensions, sums into existing values, and masked pairs correctly") {
  const Rung rung(2);
  Tensor x = Tensor::full({6, 5}, 1);
  x.require_grad();
  const Tensor y = x + Tensor::full({5}, 1);
  CHECK(of("add").cost.bytes == sizeof(real) * (30 + 5 + 30));
  backward(sum_all(y + x));                                          // the second gradient of x is added to the first
  CHECK(of("sum").cost.bytes == sizeof(real) * ((30 + 1) + 2 * 60 + 90));   // sum_all; dx and dy of y + x; dx of x + 1
  clear_profile_totals();
  const Tensor q = Tensor::full({2, 3, 4, 8}, 1), k = Tensor::full({2, 5, 4, 8}, 1);
  Scores s;
  s.pieces = {{q, k}};
  // the last 3 of 5 queries: they see 3, 4 and 5 keys
  Tensor v = Tensor::full({2, 5, 4, 8}, 1);
  const Tensor o = attention(s, v.require_grad(), {.causal = true, .offset = 2});
  CHECK(of("attention").cost.flops == 2. * 2 * 4 * (3 + 4 + 5) * (8 + 8));
  CHECK(of("attention").cost.bytes == sizeof(real) * (2 * 4 * 8 * (3 + 5 + 5 + 3) + 2 * 4 * 3 * 2));
  backward(sum_all(o));
  CHECK(of("attention_backward").cost.flops == 2. * 2 * 4 * (3 + 4 + 5) * 8);  // only dv
  CHECK(of("attention_backward").cost.bytes ==                                 // q k v o do dv stats
        sizeof(real) * (2 * 4 * 8 * (3 + 5 + 5 + 3 + 3 + 5) + 2 * 4 * 3 * 2));
}

TEST_CASE("debug: products of all shapes have the cost that their cases state") {
  const Rung rung(2);
  for (const For purpose : {For::tests, For::bench})
    for (const OpCase& c : op_cases(purpose)) {
      if (c.flops == 0) continue;
      clear_profile_totals();
      c.op(inputs(c));
      CHECK_MESSAGE(flops() == c.flops, c.kernel << " " << c.name);
    }
}

TEST_CASE("debug: a training step of the relative model, batch 128 and 40 slots, costs the FLOPs of its formulas") {
  Trainer t(128);
  const Rung rung(2);
  t.step(20);
  const double B = 128, T = 40, H = 8, C = 64, D = 8, V = 2, layers = 5;
  const double distances = 2 * T - 1, out = T / 2, symbols = 3;
  // q, k, v and o have (C, C) weights, w1 and w2 together 8 C^2. The first block computes q, k, v once for each symbol,
  // the last block all but k and v only for output slots. Without these savings a layer has 12 B T, in all 8.74 GFLOP.
  const double first = 3 * symbols + 9 * B * T, last = 2 * B * T + 10 * B * out;
  const double weights = C * C * (first + (layers - 2) * 12 * B * T + last) + B * out * C * V;
  const double keys = layers * distances * C * C;                           // W PE; PE has no gradient
  const double pairs = B * H * T * D * ((layers - 1) * T + out);          // q k, q_rel r, a v; two derivatives of each
  CHECK(flops() == doctest::Approx(2 * (3 * weights + 2 * keys + 3 * 3 * pairs)).epsilon(1e-12));
  CHECK(flops() == doctest::Approx(7.61e9).epsilon(0.001));
  CHECK(of("adam").calls == 1);
}

TEST_CASE("debug: a floor is the larger of the times of arithmetic and memory, and the table adds up") {
  const Rung rung(2);
  const Tensor a = Tensor::full({256, 256}, 1);
  matmul(a, a), exp(a);
  const double bytes = 256 * 256 * sizeof(real);
  CHECK(of("matmul").compute_floor == doctest::Approx(2. * 256 * 256 * 256 / peaks().flops));
  CHECK(of("exp").memory_floor == doctest::Approx(2 * bytes / peaks().rate(2 * bytes)));
  CHECK(of("exp").compute_floor == 0);

  const Peaks made_up{200e9, {{1e6, 100e9}, {1e8, 20e9}}};
  CHECK(made_up.rate(1e6) == 100e9);
  CHECK(made_up.rate(2e6) == 20e9);
  CHECK(made_up.rate(1e12) == 20e9);
  const std::vector<ProfileTotals> all = {{"exp", 20, 0.2, {0, 4e9}, 0, 0.1},
                                          {"linear", 40, 0.6, {60e9, 3e9}, 0.3, 0.06}};
  const std::string text = roofline("training", "step", 10, 1.0, all, made_up);
  const auto row = [&](const std::string& start) {   // the numbers of that row
    std::istringstream line(text.substr(text.find("\n" + start) + 1 + start.size()));
    std::vector<std::string> words(std::istream_iterator<std::string>(line), {});
    std::erase(words, "%");
    return words;
  };
  INFO(text);
  CHECK(text.find("\nlinear") < text.find("\nexp"));
  const auto starts = [](const std::vector<std::string>& words, const std::vector<std::string>& with) {
    return words.size() >= with.size() && std::equal(with.begin(), with.end(), words.begin());
  };
  //                             calls    ms        time    GFLOP/s  GB/s    floor ms  floor / ms
  CHECK(starts(row("linear"), {"4.0", "60.000", "60.0", "100.0", "5.0", "36.000", "60", "compute"}));
  CHECK(starts(row("exp"), {"2.0", "20.000", "20.0", "-", "20.0", "10.000", "50", "memory"}));
  CHECK(starts(row("outside kernels"), {"20.000", "20.0"}));
  CHECK(starts(row("a step"), {"6.0", "100.000", "100.0", "60.0", "7.0", "46.000", "46"}));
  CHECK(holds(text, "6.000 GFLOP a step, 60.0 GFLOP/s sustained: 30 % of the ceiling"));
}

TEST_CASE("debug: a loop prints its number of rounds when it ends, and nothing if there were none") {
  const auto said = [](int rounds) {
    Rung rung(2);
    {
      Profile loop("training", "step");
      exp(Tensor::full({4, 3}, 1));
      for (int i = 0; i < rounds; ++i) loop.next();
    }
    return rung.printed();
  };
  CHECK(said(0) == "");
  CHECK(said(3).starts_with("\ntraining: 3 steps, averaged. "));
}

TEST_CASE("debug: results have the same bits at every level") {
  std::vector<std::vector<real>> ends;
  for (int level = 0; level <= 4; ++level) {
    const Rung rung(level);
    Trainer t(8, 2, 0.1);
    for (int i = 0; i < 3; ++i) t.step(6);
    const Params& p = t.state.params;
    ends.emplace_back(p.values(), p.values() + p.count());
  }
  for (int level = 1; level <= 4; ++level) CHECK_MESSAGE(ends[size_t(level)] == ends[0], "POSLAB_DEBUG=" << level);
}

TEST_CASE("debug: lines name the ops as they run, and from level 3 on have shapes and times") {
  const auto lines = [](int level) {
    Rung rung(level);
    Tensor x = Tensor::full({4, 3}, 1);
    backward(sum_all(exp(x.require_grad())));
    return rung.printed();
  };
  CHECK(lines(0) == "");
  CHECK(lines(1) == "exp\nsum\nsum backward\nexp backward\n");
  CHECK(lines(2) == "");
  const std::string three = lines(3);
  INFO(three);
  CHECK(holds(three, "exp                     (4, 3) <- (4, 3)   exp 0."));
  CHECK(holds(three, "\nexp backward            (4, 3) -> (4, 3)   exp_backward 0."));
  CHECK(holds(three, " GB/s\n"));
}

TEST_CASE("debug: the first op with a NaN or an infinity is named, and so is an input that already had one") {
  const Rung rung(4);
  CHECK(refusal([] { sum_all(log(Tensor::from<real>({2, 2}, {1, 2, -3, -4}))); }) ==
        "1: log (2, 2) gives (2, 2) with nan at (1, 0), the first of 2 such elements; its inputs are all finite");

  Trainer t(2, 2);
  t.state.params.at("block0.ffn.w1").data()[3 * 256 + 5] = NAN;
  CHECK(
      refusal([&] { t.step(4); }) ==
      "1: feed_forward (2, 8, 64) (64, 256) (256) (256, 64) (64) gives (2, 8, 64) with nan at (0, 0, 0), the first of "
      "1024 such elements; "
      "input 2 (64, 256) already had nan at (3, 5), the first of 1 such elements");
  clear_tape();

  Tensor x = Tensor::from<real>({3}, {4, 0, 1});
  x.require_grad();
  CHECK(refusal([&] { backward(sum_all(sqrt(x) * 2)); }) ==
        "1: the backward pass of sqrt (3) gives input 1 a gradient with inf at (1), the first of 1 such elements; that "
        "of its result (3) is finite; its inputs are all finite");
}

TEST_CASE("debug: if an op has several results, the one with a NaN is named, and a line has the shapes of all") {
  const auto two = [](const Tensor& x, real second) {
    return record("two", {x * 2, Tensor::full({3}, second)}, {x}, [x](std::span<const real* const>) {
      x.grad_accumulator().at[0] = NAN, x.grad_accumulator().at[1] = 1;
    });
  };
  {
    Rung rung(3);
    two(Tensor::full({2}, 1), 1);
    INFO(rung.printed());
    CHECK(holds(rung.printed(), "\ntwo                     (2) (3) <- (2)   "));
  }
  const Rung rung(4);
  CHECK(refusal([&] { two(Tensor::full({2}, 1), INFINITY); }) ==
        "1: two (2) gives result 2 (3) with inf at (0), the first of 3 such elements; its inputs are all finite");
  Tensor x = Tensor::full({2}, 1);
  x.require_grad();
  CHECK(refusal([&] { backward(sum_all(two(x, 1)[1])); }) ==
        "1: the backward pass of two (2) gives input 1 a gradient with nan at (0), the first of 1 such elements; those "
        "of its results (2) (3) are finite; its inputs are all finite");
}

TEST_CASE("debug: for every op, the first that makes a NaN is named, forward and backward") {
  const Rung rung(0);
  int forward = 0, backward_ = 0;
  for (const OpCase& c : op_cases()) {
    const Tensors values = inputs(c);
    int64_t size = 0;
    for (const Tensor& x : values) size += x.size();
    if (size > 3000 || c.of_gpu) continue;
    if (c.kernel == "adam" || c.kernel == "squares") continue;      // they belong to Adam: no op on a tape calls them
    INFO(c.kernel << " " << c.name);
    for (size_t i = 0; i < values.size(); ++i) forward += check_forward_is_named(c, values, i);
    if (c.differentiable) backward_ += check_backward_is_named(c, values);
  }
  CHECK(forward > 400);
  CHECK(backward_ > 400);
}

TEST_CASE("debug: infinite logits that a causal mask hides are not reported") {
  const Rung rung(4);
  Tensor q = Tensor::full({1, 4, 2, 8}, 1);
  Scores s;
  s.pieces = {{q.require_grad(), q}};
  CHECK(refusal([&] { backward(sum_all(attention(s, q, {.causal = true}))); }) == "");
}

}  // namespace poslab::test
