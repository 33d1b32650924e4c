// encoder_block: a post-norm block with everything that an encoding can add to it. A GPU has one kernel for 8 heads of
// 8 channels (cuda/encoder_block.cu); blocks of other sizes are composed of ops on a GPU, too.
#include <fmt/format.h>

#include "autograd/encoder_block.h"
#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

// The part of a block after attention, as one kernel if there is one, otherwise op by op.
Tensor tail(const Tensor& x, const Tensor& mixed, const BlockWeights& w, Dropout drop1, Dropout drop2) {
  if (const Tensor y = encoder_tail(x, mixed, w, drop1, drop2)) return y;
  const Tensor h = residual_norm(x, linear(mixed, w.output), w.gain1, w.bias1, drop1);
  return residual_norm(h, feed_forward(h, w.w1, w.b1, w.w2, w.b2), w.gain2, w.bias2, drop2);
}

struct BlockVariant {
  int batch, slots, queries, heads = 8, C = 64, d_ff = 64;
  bool causal = false, relative = false, bias = false, query_biases = false;
  int turn = 0;                            // rotation: 0 none; 1 shared by the batch; 2 one per sequence
  bool interleaved = false;
  double rate = 0;

  int D() const { return C / heads; }
  int rows() const { return 2 * slots - 1; }
  std::string name() const {
    std::string text = fmt::format("B {} T {} Tq {} C {} H {} d_ff {}", batch, slots, queries, C, heads, d_ff);
    const auto add = [&](bool there, const std::string& what) { text += there ? " " + what : ""; };
    add(causal, "causal"), add(relative, "r"), add(bias, "bias"), add(query_biases, "query biases");
    add(turn, fmt::format("turn {} {}", turn, interleaved ? "interleaved" : "half"));
    add(rate > 0, fmt::format("dropout {}", rate));
    return text;
  }
  // indices of inputs: x, the weights in BlockWeights' order, r, bias, biases of q and q_rel
  int at_r() const { return 13; }
  int at_bias() const { return at_r() + relative; }
  int at_biases() const { return at_bias() + bias; }
  std::vector<Shape> shapes() const {
    std::vector<Shape> all = {{batch, slots, C}, {C, C}, {C, C}, {C, C}, {C, C}, {C}, {C}, {C, d_ff}, {d_ff}, {d_ff, C},
                              {C}, {C}, {C}};
    if (relative) all.push_back({rows(), heads, D()});
    if (bias) all.push_back({rows(), heads});
    for (int n = 0; n < query_biases * (1 + relative); ++n) all.push_back({heads, D()});
    return all;
  }
  double angle(int b, int t, int m) const { return 0.3 * (t + 1) + 0.7 * m + (turn == 2 ? b : 0); }
  Dropout drop(uint32_t site) const { return {real(rate), {17, 3, site}}; }

  Tensor op(const Tensors& x) const {
    LayerTerms terms;
    if (relative) terms.r = x[size_t(at_r())];
    if (bias) terms.bias = x[size_t(at_bias())];
    if (query_biases) {
      terms.biases.q = x[size_t(at_biases())];
      if (relative) terms.biases.q_rel = x[size_t(at_biases()) + 1];
    }
    if (turn) {
      const int of = turn == 2 ? batch : 1;
      std::vector<double> cosine, sine;
      for (int b = 0; b < of; ++b)
        for (int t = 0; t < slots; ++t)
          for (int m = 0; m < D() / 2; ++m)
            cosine.push_back(std::cos(angle(b, t, m))), sine.push_back(std::sin(angle(b, t, m)));
      const Shape shape{of, slots, D() / 2};
      terms.rotation = {Tensor::from(shape, cosine).to(x[0].device()), Tensor::from(shape, sine).to(x[0].device())};
      terms.pairing = interleaved ? Pairing::interleaved : Pairing::half;
    }
    const BlockWeights w{x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11], x[12]};
    const Tensor y = encoder_block(x[0], w, terms, {heads, queries, causal}, drop(5), drop(6));
    if (y) return y;
    const Tensor own = slice(x[0], 1, slots - queries, slots);
    const Shape of_queries{batch, queries, heads, D()}, of_keys{batch, slots, heads, D()};
    const Tensor q = linear(own, w.query).reshape(of_queries), k = linear(x[0], w.key).reshape(of_keys);
    const Tensor v = linear(x[0], w.value).reshape(of_keys);
    const Span span{.causal = causal, .offset = slots - queries};
    const Tensor mixed = attention(scores_of(terms, q, k), v, span, terms.biases).reshape(own.shape());
    return tail(own, mixed, w, drop(5), drop(6));
  }

  // (batch, slots, C) times the weights, for the rows of all sequences
  static Array product(const Array& x, const Array& w) {
    Array y({x.shape[0], x.shape[1], w.shape[1]});
    multiply(y.at.data(), x.at.data(), w.at.data(), x.shape[0] * x.shape[1], w.shape[0], w.shape[1]);
    return y;
  }
  void turn_pairs(Array& x) const {
    for (int b = 0; turn && b < batch; ++b)
      for (int t = 0; t < slots; ++t)
        for (int h = 0; h < heads; ++h)
          for (int m = 0; m < D() / 2; ++m) {
            const int one = h * D() + (interleaved ? 2 * m : m), other = one + (interleaved ? 1 : D() / 2);
            const double c = real(std::cos(angle(b, t, m))), s = real(std::sin(angle(b, t, m)));
            const double from = x(b, t, one), to = x(b, t, other);
            x(b, t, one) = from * c - to * s, x(b, t, other) = from * s + to * c;
          }
  }
  Array reference(Arrays x) const {
    Array q = product(x[0], x[1]), k = product(x[0], x[2]);
    Array v = product(x[0], x[3]);
    turn_pairs(q), turn_pairs(k);
    const int first = slots - queries;
    Array own({batch, queries, C}), mixed({batch, queries, C});
    for (int b = 0; b < batch; ++b)
      for (int i = 0; i < queries; ++i)
        for (int h = 0; h < heads; ++h) {
          const int t = first + i, end = causal ? t + 1 : slots;
          std::vector<double> a;
          double z = 0;
          for (int j = 0; j < end; ++j) {
            double s = 0;
            for (int d = 0; d < D(); ++d) {
              const int c = h * D() + d;
              const double u = query_biases ? x[size_t(at_biases())].at[size_t(c)] : 0;
              const double w = query_biases && relative ? x[size_t(at_biases()) + 1].at[size_t(c)] : 0;
              s += (q(b, t, c) + u) * k(b, j, c);
              if (relative) s += (q(b, t, c) + w) * x[size_t(at_r())](j - t + slots - 1, h, d);
            }
            s *= double(real(1 / std::sqrt(double(D()))));
            if (bias) s += x[size_t(at_bias())](j - t + slots - 1, h);
            a.push_back(std::exp(s)), z += a.back();
          }
          for (int d = 0; d < D(); ++d) {
            const int c = h * D() + d;
            own(b, i, c) = x[0](b, t, c);
            for (int j = 0; j < end; ++j) mixed(b, i, c) += a[size_t(j)] / z * v(b, j, c);
          }
        }
    const auto add_dropped = [&](Array to, const Array& z, uint32_t site) {
      for (size_t e = 0; e < to.at.size(); ++e) to.at[e] += z.at[e] * dropout_factor(int64_t(e), drop(site));
      return to;
    };
    const auto plus = [](Array y, const Array& row) {
      for (size_t e = 0; e < y.at.size(); ++e) y.at[e] += row.at[e % row.at.size()];
      return y;
    };
    const Array h = norm_reference(add_dropped(own, product(mixed, x[4]), 5), x[5], x[6]);
    Array hidden = plus(product(h, x[7]), x[8]);
    for (double& e : hidden.at) e = e < 0 ? 0 : e;
    return norm_reference(add_dropped(h, plus(product(hidden, x[9]), x[10]), 6), x[11], x[12]);
  }
};

const Cases encoder_block_cases([](std::vector<OpCase>& all) {
  const std::vector<BlockVariant> variants = {
      {.batch = 2, .slots = 5, .queries = 5},
      {.batch = 2, .slots = 1, .queries = 1, .relative = true},
      {.batch = 2, .slots = 5, .queries = 3, .heads = 2, .C = 8, .d_ff = 12, .relative = true, .bias = true,
       .query_biases = true},                                                        // composed of ops everywhere
      {.batch = 3, .slots = 19, .queries = 19, .causal = true, .rate = 0.3},
      {.batch = 2, .slots = 18, .queries = 7, .d_ff = 128, .relative = true, .query_biases = true, .rate = 0.1},
      {.batch = 1, .slots = 33, .queries = 33, .causal = true, .relative = true, .bias = true},
      {.batch = 2, .slots = 17, .queries = 16, .bias = true, .query_biases = true},
      {.batch = 2, .slots = 4, .queries = 1, .relative = true},
      {.batch = 2, .slots = 20, .queries = 20, .turn = 1, .interleaved = true},
      {.batch = 2, .slots = 9, .queries = 4, .causal = true, .bias = true, .turn = 2, .rate = 0.5},
  };
  for (const BlockVariant& v : variants) {
    OpCase c{"encoder_block", v.name(), v.shapes()};
    c.op = [v](auto& x) { return v.op(x); };
    c.reference = [v](Arrays x) { return v.reference(std::move(x)); };
    // Weights as large as their initial values; larger ones would make hidden channels and logits far too large.
    const double spread = 1.7 / std::sqrt(double(v.C)), wide = 1.7 / std::sqrt(double(v.d_ff));
    c.ranges = {{-1, 1}, {-spread, spread}, {-spread, spread}, {-spread, spread}, {-spread, spread}, {0.5, 1.5},
                {-1, 1}, {-spread, spread}, {-0.2, 0.2}, {-wide, wide}, {-0.2, 0.2}, {0.5, 1.5}};
    c.step = 1e-6, c.of_gpu = true;
    all.push_back(c);
  }
});

// The part of a block after attention. Some rows fill tiles and some do not; there are fewer thread blocks than an H100
// has multiprocessors, and as many; and one width has no kernel.
const Cases tails([](std::vector<OpCase>& all) {
  struct Sizes { Shape shape; int d_ff; double rate; };
  for (const auto& [shape, d_ff, rate] : {Sizes{{1, 64}, 64, 0.}, {{2, 19, 64}, 128, 0.3}, {{16, 64}, 64, 0.},
                                          {{2123, 64}, 64, 0.1}, {{3, 8}, 12, 0.5}}) {
    const int C = shape.back();
    OpCase c{"encoder_tail", fmt::format("{} d_ff {} dropout {}", to_string(shape), d_ff, rate),
             {shape, shape, {C, C}, {C}, {C}, {C, d_ff}, {d_ff}, {d_ff, C}, {C}, {C}, {C}}};
    const Dropout drop1{real(rate), {17, 3, 5}}, drop2{real(rate), {17, 3, 6}};
    c.op = [=](auto& x) {
      const BlockWeights w{{}, {}, {}, x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10]};
      return tail(x[0], x[1], w, drop1, drop2);
    };
    c.twin = [=](auto& x) {
      const Tensor h = composed::residual_norm(x[0], matmul(x[1], x[2]), x[3], x[4], drop1);
      return composed::residual_norm(h, composed::feed_forward(h, x[5], x[6], x[7], x[8]), x[9], x[10], drop2);
    };
    c.reference = [=, d_ff = d_ff](Arrays x) {
      const int rows = int(x[0].at.size()) / C;
      const auto end_of = [&](Array to, const Array& z, const Dropout& drop, const Array& gain, const Array& bias) {
        for (size_t e = 0; e < to.at.size(); ++e) to.at[e] += z.at[e] * dropout_factor(int64_t(e), drop);
        return norm_reference(to, gain, bias);
      };
      Array z(x[0].shape), hidden({rows, d_ff}), f(x[0].shape);
      multiply(z.at.data(), x[1].at.data(), x[2].at.data(), rows, C, C);
      const Array h = end_of(x[0], z, drop1, x[3], x[4]);
      for (size_t e = 0; e < hidden.at.size(); ++e) hidden.at[e] = x[6].at[e % size_t(d_ff)];
      multiply(hidden.at.data(), h.at.data(), x[5].at.data(), rows, C, d_ff);
      for (double& e : hidden.at) e = e < 0 ? 0 : e;
      for (size_t e = 0; e < f.at.size(); ++e) f.at[e] = x[8].at[e % size_t(C)];
      multiply(f.at.data(), hidden.at.data(), x[7].at.data(), rows, d_ff, C);
      return end_of(h, f, drop2, x[9], x[10]);
    };
    const double spread = 1.7 / std::sqrt(double(C)), wide = 1.7 / std::sqrt(double(d_ff));
    c.ranges = {{-1, 1}, {-1, 1}, {-spread, spread}, {0.5, 1.5}, {-1, 1}, {-spread, spread}, {-0.2, 0.2}, {-wide, wide},
                {-0.2, 0.2}, {0.5, 1.5}};
    c.step = 1e-6, c.of_gpu = true;
    all.push_back(c);
  }
});

const Cases encoder_block_speed(
    [](std::vector<OpCase>& all) {
      const BlockVariant v{
          .batch = 128, .slots = 80, .queries = 80, .d_ff = 256, .relative = true, .query_biases = true, .rate = 0.1};
      all.push_back({"encoder_block", v.name(), v.shapes(), [v](auto& x) { return v.op(x); }});
      all.back().flops = 2. * v.batch * v.slots * (4. * v.C * v.C + 2. * v.C * v.d_ff + 3. * v.slots * v.C);
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
