// Step 7: norm, residual, and the block of a transformer. core/cpu/norm.cpp, nn/block.cpp
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "check.h"
#include "encodings/sampler.h"
#include "nn/block.h"

using namespace poslab;
using namespace course;

namespace {

constexpr int rows = 2, n = 20;  // not a whole number of vectors
constexpr double epsilon = 1e-5;

Values off_center(int count, double seed) {  // with a mean of about 0.3
  Values all;
  for (int e = 0; e < count; ++e) all.push_back(std::sin(1.3 * e + seed * (e + 1)) + 0.3);
  return all;
}

// A norm, right or with one mistake. The defaults are right.
struct Form {
  bool centered = true, divided = true, root = true, own_row = true, whole_n = true, by_gain = true, by_bias = true;
  bool epsilon_outside = false;
};
struct Normed {
  Values y, h, inverse;
};
Normed normed(const Values& x, const Values& gain, const Values& bias, const Form& f = {}) {
  Normed all{x, x, Values(rows)};
  for (int i = 0; i < rows; ++i) {
    double mean = 0, squares = 0;
    const auto at = [&](int j) { return x[size_t((f.own_row ? i : 0) * n + j)]; };
    for (int j = 0; j < n; ++j) mean += at(j) / n;
    for (int j = 0; j < n; ++j) squares += (at(j) - mean) * (at(j) - mean) / (f.whole_n ? n : n - 1);
    const double std = f.epsilon_outside ? std::sqrt(squares) + epsilon : std::sqrt(squares + epsilon);
    all.inverse[size_t(i)] = f.divided ? 1 / (f.root ? std : squares + epsilon) : 1;
    for (int j = 0; j < n; ++j) {
      const size_t e = size_t(i * n + j);
      all.h[e] = (x[e] - (f.centered ? mean : 0)) * all.inverse[size_t(i)];
      all.y[e] = (f.by_gain ? gain[size_t(j)] : 1) * all.h[e] + (f.by_bias ? bias[size_t(j)] : 0);
    }
  }
  return all;
}

struct Row {
  Values x = off_center(rows * n, 1), gain = off_center(n, 2), bias = off_center(n, 3), w = off_center(rows * n, 4);
  Tensor tx = Tensor::from({rows, n}, x), tg = Tensor::from({n}, gain), tb = Tensor::from({n}, bias);
  Mistake wrong(const char* hint, const Form& f) const { return {hint, normed(x, gain, bias, f).y}; }
};

}  // namespace

CASE("LayerNorm") {
  const Row r;
  check("y = gain (x - mean) / std + bias, std = sqrt(mean((x - mean)^2) + 1e-5)", norm(r.tx, r.tg, r.tb),
        normed(r.x, r.gain, r.bias).y,
        {r.wrong("the mean is not subtracted", {.centered = false}),
         r.wrong("it is not divided by std", {.divided = false}),
         r.wrong("it is divided by the variance; std is its root", {.root = false}),
         r.wrong("mean and std are those of the first row; each row should have its own", {.own_row = false}),
         r.wrong("the variance is divided by n - 1; here it is n", {.whole_n = false}),
         r.wrong("the gain is missing", {.by_gain = false}), r.wrong("the bias is missing", {.by_bias = false})},
        1e-5);
}

CASE("LayerNorm of a row whose numbers are all equal") {
  const Tensor x = Tensor::full({1, n}, 7), gain = Tensor::full({n}, 2), bias = Tensor::full({n}, 3);
  check("y = bias, because x - mean = 0; std = sqrt(0 + 1e-5)", norm(x, gain, bias), Values(n, 3.),
        {{"0 / 0: epsilon is missing inside the root", not_finite}});
  Values small(n);
  for (int j = 0; j < n; ++j) small[size_t(j)] = j % 2 ? 1e-3 : -1e-3;
  const auto y = [&](double std) {
    Values all;
    for (double v : small) all.push_back(2 * v / std + 3);
    return all;
  };
  check("numbers as small as epsilon", norm(Tensor::from({1, n}, small), gain, bias), y(std::sqrt(1e-6 + epsilon)),
        {{"epsilon is added to the root; it should be inside it", y(1e-3 + epsilon)},
         {"epsilon is missing inside the root", y(1e-3)}});
}

CASE("RMSNorm") {
  const Row r;
  Values expected, centered;
  for (int i = 0; i < rows; ++i) {
    double squares = 0;
    for (int j = 0; j < n; ++j) squares += r.x[size_t(i * n + j)] * r.x[size_t(i * n + j)] / n;
    for (int j = 0; j < n; ++j)
      expected.push_back(r.gain[size_t(j)] * r.x[size_t(i * n + j)] / std::sqrt(squares + epsilon));
  }
  check("y = gain x / sqrt(mean(x^2) + epsilon)", rms_norm(r.tx, r.tg, epsilon), expected,
        {{"the mean is subtracted; RMSNorm leaves it in", normed(r.x, r.gain, Values(n, 0.)).y}});
}

CASE("the gradient of LayerNorm") {
  clear_tape();
  Row r;
  r.tx.require_grad(), r.tg.require_grad(), r.tb.require_grad();
  backward(sum_all(norm(r.tx, r.tg, r.tb) * Tensor::from({rows, n}, r.w)));
  const Normed y = normed(r.x, r.gain, r.bias);
  const auto slope = [&](bool mean, bool along, bool inverse, bool gain) {
    Values dx;
    for (int i = 0; i < rows; ++i) {
      double g_mean = 0, gh_mean = 0;
      const auto g = [&](int j) { return r.w[size_t(i * n + j)] * (gain ? r.gain[size_t(j)] : 1); };
      for (int j = 0; j < n; ++j) g_mean += g(j) / n, gh_mean += g(j) * y.h[size_t(i * n + j)] / n;
      for (int j = 0; j < n; ++j)
        dx.push_back((g(j) - (mean ? g_mean : 0) - (along ? y.h[size_t(i * n + j)] * gh_mean : 0)) *
                     (inverse ? y.inverse[size_t(i)] : 1));
    }
    return dx;
  };
  check("dx = (g - mean(g) - h mean(g h)) / std,  g = dy gain,  h = (x - mean) / std", r.tx.grad(),
        slope(true, true, true, true),
        {{"mean(g) is missing: the mean of x depends on each x", slope(false, true, true, true)},
         {"h mean(g h) is missing: std depends on each x", slope(true, false, true, true)},
         {"the division by std is missing", slope(true, true, false, true)},
         {"the gain is missing in g: g = dy gain", slope(true, true, true, false)}});
  Values dgain(n), dbias(n), swapped(n);
  for (int e = 0; e < rows * n; ++e)
    dgain[size_t(e % n)] += r.w[size_t(e)] * y.h[size_t(e)], dbias[size_t(e % n)] += r.w[size_t(e)];
  check("dgain_j = sum_i dy_ij h_ij: the first n of sums", r.tg.grad(), dgain,
        {{"that is dbias: sums holds dgain first, then dbias", dbias}});
  check("dbias_j = sum_i dy_ij: the n after them", r.tb.grad(), dbias,
        {{"that is dgain: sums holds dgain first, then dbias", dgain}});
}

namespace {

constexpr int B = 2, T = 3, C = 8, H = 2;

Tensor named(const Params& p, const std::string& name) {
  for (const auto& [own, x, offset] : p.entries())
    if (own == name) return x;
  return {};
}

// The block, composed of ops, with one mistake if wanted.
struct Built {
  bool first_sum = true, second_sum = true, norm_after = true, ffn_of_h = true, output = true, norms_in_order = true;
  Dropout first{}, second{};
};
Values composed_block(const Params& p, const Tensor& x, const Built& f = {}) {
  const NoGrad constant;
  const auto w = [&](const char* name) { return named(p, name); };
  const auto norm_of = [&](int number, const Tensor& s, const Tensor& z = {}) {
    const std::string at = "norm" + std::to_string(f.norms_in_order ? number : 3 - number);
    const Tensor gain = named(p, at + ".gain"), bias = named(p, at + ".bias");
    return z ? residual_norm(s, z, gain, bias, number == 1 ? f.first : f.second) : norm(s, gain, bias);
  };
  const int head_size = C / H;
  const auto heads = [&](const char* name) { return linear(x, w(name)).reshape({B, T, H, head_size}); };
  Scores s;
  s.pieces = {{heads("attention.query"), heads("attention.key")}};
  s.scale = real(1 / std::sqrt(double(head_size)));
  const Tensor mixed = attention(s, heads("attention.value"), {}).reshape({B, T, C});
  const Tensor a = f.output ? linear(mixed, w("attention.output")) : mixed;
  const Tensor h = f.first_sum ? norm_of(1, x, a) : norm_of(1, a);
  const Tensor y = feed_forward(f.ffn_of_h ? h : x, w("ffn.w1"), w("ffn.b1"), w("ffn.w2"), w("ffn.b2"));
  return values(!f.norm_after ? h + y : f.second_sum ? norm_of(2, h, y) : norm_of(2, y));
}

struct OneBlock {
  Params p{1};
  EncoderBlock block{p, {.heads = H, .d_model = C, .ffn_multiplier = 2, .layer = 0, .causal = false}};
  Tensor x = Tensor::from({B, T, C}, off_center(B* T* C, 6));
  Encoding encoding;
  Temperature temperature{};
  Positions positions = Positions::of_tokens(1, {0, 1, 2});
  OneBlock() {
    for (const auto& [name, x, offset] : p.entries()) {  // norms that can be told apart
      const Values other = off_center(int(x.size()), double(name.size()) + name[4]);
      if (name.starts_with("norm")) x.set(std::vector<real>(other.begin(), other.end()).data());
    }
  }
  Tensor operator()(const Dropout& drop, Trace* trace) const {
    return block({x}, T, {encoding, temperature, positions, drop, trace});
  }
};

}  // namespace

CASE("the block") {
  clear_tape();
  const NoGrad only_looking;
  const OneBlock block;
  const auto built = [&](const Built& f) { return composed_block(block.p, block.x, f); };
  check("h = norm1(x + attention(x) w_output),  y = norm2(h + feed_forward(h))", block({}, nullptr), built({}),
        {{"the sum with x is missing after attention: the residual", built({.first_sum = false})},
         {"the sum with h is missing after the feed-forward network: the residual", built({.second_sum = false})},
         {"the last norm is missing", built({.norm_after = false})},
         {"the feed-forward network reads x; it should read h", built({.ffn_of_h = false})},
         {"w_output is missing: it mixes the heads", built({.output = false})},
         {"gain and bias of the two norms are exchanged", built({.norms_in_order = false})}});
}

CASE("the block applies dropout, and shows its tensors to a trace") {
  clear_tape();
  const NoGrad only_looking;
  const OneBlock block;
  const Dropout first{0.5, stream(1, Purpose::dropout, 0)};
  Dropout second = first;
  ++second.stream.site;
  const auto built = [&](const Dropout& one, const Dropout& two) {
    return composed_block(block.p, block.x, {.first = one, .second = two});
  };
  check("dropout acts on both terms before they are added to x and h: drop1, then drop2", block(first, nullptr),
        built(first, second),
        {{"nothing is dropped out: residual_norm(.., drop1), then (.., drop2)", built({}, {})},
         {"both have the same dropout: the second one is drop2", built(first, first)}});
  Trace trace({"block0.attention.added", "block0.attention.out", "block0.ffn.added", "block0.out"});
  block({}, &trace);
  for (const char* name : {"block0.attention.added", "block0.attention.out", "block0.ffn.added", "block0.out"})
    check(std::string("a trace has ") + name, double(trace.captured.count(name)), 1,
          {{"it is not shown: expose(pass.trace, name_, PART, ..), whose PART begins with a dot", {0}}});
}
