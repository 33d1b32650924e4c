// matmul linear feed_forward gather rotate adam squares.
#include <fmt/format.h>

#include "core/random.h"
#include "tests/op_case.h"

namespace poslab::test {
namespace {

// y (m, n) += a (m, k) b (k, n)
void multiply(double* y, const double* a, const double* b, int m, int k, int n) {
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j) y[i * n + j] += a[i * k + p] * b[p * n + j];
}

const Cases matmuls([](std::vector<OpCase>& all) {
  struct Sizes { Shape batch; bool shared; int m, k, n; };
  const std::vector<Sizes> sizes = {
      {{}, true, 1, 1, 1}, {{}, true, 31, 33, 7}, {{}, true, 33, 1, 65}, {{}, true, 257, 31, 33}, {{}, true, 64, 64, 64}, {{}, true, 7, 257, 3},
      {{3}, true, 5, 8, 31}, {{3}, false, 5, 8, 31}, {{2, 4}, false, 33, 8, 33}, {{2, 4}, false, 40, 40, 8}, {{2, 3}, true, 9, 31, 64},
      {{1}, false, 1, 300, 1}, {{}, true, 300, 300, 300}, {{}, true, 2500, 16, 40}, {{17}, false, 130, 20, 70}};
  for (const auto& [batch, shared, m, k, n] : sizes) {
    Shape a = batch, b = shared ? Shape{} : batch, y = batch;
    a.insert(a.end(), {m, k}), b.insert(b.end(), {k, n}), y.insert(y.end(), {m, n});
    const int64_t count = size_of(batch);
    all.push_back({"matmul", to_string(a) + " " + to_string(b), {a, b}, [](auto& x) { return matmul(x[0], x[1]); },
                   [=, m = m, k = k, n = n, shared = shared](Arrays x) {
                     Array c(y);
                     for (int64_t i = 0; i < count; ++i)
                       multiply(&c.at[size_t(i * m * n)], &x[0].at[size_t(i * m * k)], &x[1].at[size_t(shared ? 0 : i * k * n)], m, k, n);
                     return c;
                   }});
    all.back().flops = 2. * double(count) * m * k * n;
  }
});

const Cases linears([](std::vector<OpCase>& all) {
  struct Sizes { Shape rows; int in, out; };
  const std::vector<Sizes> sizes = {{{1}, 1, 1}, {{31}, 33, 7}, {{3, 5}, 8, 31}, {{257}, 31, 33}, {{2, 2, 3}, 64, 256}, {{33}, 257, 3},
                                    {{700}, 64, 64}, {{64}, 256, 64}, {{1100}, 20, 11}};
  for (const auto& [lead, in, out] : sizes)
    for (const bool bias : {false, true}) {
      Shape x = lead, y = lead;
      x.push_back(in), y.push_back(out);
      const int rows = int(size_of(lead));
      std::vector<Shape> shapes = {x, {in, out}};
      if (bias) shapes.push_back({out});
      all.push_back({"linear", fmt::format("{} {}{}", to_string(x), to_string(shapes[1]), bias ? " bias" : ""), shapes,
                     [=](auto& t) { return linear(t[0], t[1], bias ? t[2] : Tensor()); },
                     [=, in = in, out = out](Arrays t) {
                       Array h(y);
                       for (size_t e = 0; bias && e < h.at.size(); ++e) h.at[e] = t[2].at[e % size_t(out)];
                       multiply(h.at.data(), t[0].at.data(), t[1].at.data(), rows, in, out);
                       return h;
                     },
                     [=](auto& t) { return composed::linear(t[0], t[1], bias ? t[2] : Tensor()); }});
      all.back().flops = 2. * rows * in * out;
    }
});

const Cases feed_forwards([](std::vector<OpCase>& all) {
  struct Sizes { Shape rows; int in, middle, out; };
  const std::vector<Sizes> sizes = {{{1}, 1, 1, 1}, {{31}, 33, 70, 7}, {{3, 5}, 8, 31, 8}, {{257}, 31, 64, 33}, {{2, 2, 3}, 64, 256, 64}, {{1700}, 16, 65, 16}};
  for (const auto& [lead, in, middle, out] : sizes) {
    Shape x = lead, y = lead;
    x.push_back(in), y.push_back(out);
    const int rows = int(size_of(lead));
    all.push_back({"feed_forward", fmt::format("{} middle {} out {}", to_string(x), middle, out), {x, {in, middle}, {middle}, {middle, out}, {out}},
                   [](auto& t) { return feed_forward(t[0], t[1], t[2], t[3], t[4]); },
                   [=, in = in, middle = middle, out = out](Arrays t) {
                     Array h({rows, middle}), z(y);
                     for (size_t e = 0; e < h.at.size(); ++e) h.at[e] = t[2].at[e % size_t(middle)];
                     multiply(h.at.data(), t[0].at.data(), t[1].at.data(), rows, in, middle);
                     for (double& v : h.at) v = v < 0 ? 0 : v;
                     for (size_t e = 0; e < z.at.size(); ++e) z.at[e] = t[4].at[e % size_t(out)];
                     multiply(z.at.data(), h.at.data(), t[3].at.data(), rows, middle, out);
                     return z;
                   },
                   [](auto& t) { return composed::feed_forward(t[0], t[1], t[2], t[3], t[4]); }});
    all.back().flops = 2. * rows * (double(in) * middle + double(middle) * out);
    all.back().step = 1e-6;
  }
});

const Cases gathers([](std::vector<OpCase>& all) {
  struct Sizes { Shape table, ids; };
  const std::vector<Sizes> sizes = {{{1, 1}, {1}}, {{5, 3}, {31}}, {{31, 33}, {2, 3}}, {{7, 2, 4}, {3, 4, 5}}, {{257, 64}, {20, 70}}, {{12, 8}, {5000}}, {{3, 1}, {4000}}};
  for (const auto& [table, shape] : sizes) {
    const Ids at(shape, random_ids(size_of(shape), table[0], 6));
    Shape y = shape;
    y.insert(y.end(), table.begin() + 1, table.end());
    all.push_back({"gather", to_string(table) + " ids " + to_string(shape), {table}, [at](auto& x) { return gather(x[0], at); },
                   [at, y](Arrays x) {
                     Array rows(y);
                     const size_t n = rows.at.size() / size_t(at.size());
                     for (size_t e = 0; e < rows.at.size(); ++e) rows.at[e] = x[0].at[size_t(at[int64_t(e / n)]) * n + e % n];
                     return rows;
                   }});
  }
});

const Cases rotations([](std::vector<OpCase>& all) {
  struct Sizes { int batch, table_batch, time, heads, head_dim; };
  const std::vector<Sizes> sizes = {{1, 1, 1, 1, 2}, {2, 1, 5, 3, 2}, {2, 1, 5, 3, 4}, {2, 2, 5, 3, 4}, {3, 1, 31, 8, 8}, {3, 3, 31, 8, 8}, {2, 1, 7, 3, 6},
                                    {2, 2, 9, 2, 16}, {2, 1, 9, 3, 32}, {1, 1, 33, 2, 64}, {2, 2, 3, 5, 20}, {40, 1, 40, 8, 8}, {40, 40, 40, 8, 8}};
  for (const auto& [batch, table_batch, time, heads, head_dim] : sizes)
    for (const Pairing pairing : {Pairing::interleaved, Pairing::half}) {
      const Shape shape = {batch, time, heads, head_dim};
      Array angle({table_batch, time, head_dim / 2});
      Rng rng({0, 5, uint32_t(head_dim)});
      for (double& v : angle.at) v = double(real(100 * rng.uniform()));
      const Tensor angles = Tensor::from(angle.shape, angle.at);
      const bool interleaved = pairing == Pairing::interleaved;
      all.push_back({"rotate", fmt::format("{} tables {}{}", to_string(shape), table_batch, interleaved ? " interleaved" : " half"), {shape},
                     [=](auto& x) { return rotate(x[0], angles, pairing); },
                     [=, table_batch = table_batch](Arrays x) mutable {
                       Array y(shape);
                       const int half = shape[3] / 2;
                       for (int b = 0; b < shape[0]; ++b)
                         for (int t = 0; t < shape[1]; ++t)
                           for (int h = 0; h < shape[2]; ++h)
                             for (int m = 0; m < half; ++m) {
                               const int first = interleaved ? 2 * m : m, second = interleaved ? 2 * m + 1 : m + half;
                               const double turn = angle(table_batch == 1 ? 0 : b, t, m), c = std::cos(turn), s = std::sin(turn);
                               const double p = x[0](b, t, h, first), q = x[0](b, t, h, second);
                               y(b, t, h, first) = p * c - q * s, y(b, t, h, second) = p * s + q * c;
                             }
                       return y;
                     }});
    }
});

const AdamStep step{.lr = real(0.01), .beta1 = real(0.9), .beta2 = real(0.999), .epsilon = real(1e-8),
                    .correction1 = real(0.271), .correction2 = real(0.002997), .clip = real(0.5)};
constexpr double norm = 1, clipped = 0.5 / norm;   // of a gradient, for clipping: as long as said here, whatever it is

Tensor one_double(double value, Device device) {
  std::vector<real> bits(sizeof value / sizeof(real));
  std::memcpy(bits.data(), &value, sizeof value);
  return Tensor::from({int(bits.size())}, bits).to(device);
}

const double* in_double(const Tensor& x) { return reinterpret_cast<const double*>(x.data()); }

// p, m and v after one step, one after the other
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
    y(e) = x[0](e) - double(step.lr) * (m / double(step.correction1)) / (std::sqrt(v / double(step.correction2)) + double(step.epsilon));
    y(n + e) = m, y(2 * n + e) = v;
  }
  return y;
}

const Cases optimizer([](std::vector<OpCase>& all) {
  for (const int n : {1, 31, 257, 40000}) {
    OpCase adam{"adam", to_string(Shape{n}), {{n}, {n}, {n}, {n}}, adam_step, adam_reference, {}, {{}, {}, {0, 1}, {}}};
    adam.differentiable = false;
    all.push_back(adam);
    OpCase squares{"squares", to_string(Shape{n}), {{n}},
                   [](auto& x) { return sum_of_squares(x[0]); },
                   [](Arrays x) {
                     Array y({1});
                     for (const double v : x[0].at) y.at[0] += v * v;
                     return y;
                   }};
    squares.differentiable = false;
    all.push_back(squares);
  }
});

const Cases speed([](std::vector<OpCase>& all) {
  const auto multiply = [&](Shape a, Shape b) {
    all.push_back({"matmul", to_string(a) + " " + to_string(b), {a, b}, [](auto& x) { return matmul(x[0], x[1]); }, {}});
    all.back().flops = 2. * double(size_of(a)) * b.back();
  };
  multiply({1024, 40, 8}, {1024, 8, 40});
  multiply({1024, 40, 40}, {1024, 40, 8});
  multiply({512, 512}, {512, 512});
  for (const auto& [in, out] : {std::pair{64, 64}, {64, 256}, {256, 64}}) {
    all.push_back({"linear", fmt::format("(5120, {}) ({}, {}) bias", in, in, out), {{5120, in}, {in, out}, {out}},
                   [](auto& x) { return linear(x[0], x[1], x[2]); }, {}});
    all.back().flops = 2. * 5120 * in * out;
  }
  all.push_back({"feed_forward", "(5120, 64) middle 256", {{5120, 64}, {64, 256}, {256}, {256, 64}, {64}},
                 [](auto& x) { return feed_forward(x[0], x[1], x[2], x[3], x[4]); }, {}});
  all.back().flops = 4. * 5120 * 64 * 256;
  const Ids tokens({128, 40}, random_ids(5120, 12, 6));
  all.push_back({"gather", "(12, 64) ids (128, 40)", {{12, 64}}, [tokens](auto& x) { return gather(x[0], tokens); }, {}});
  for (const Pairing pairing : {Pairing::interleaved, Pairing::half})
    all.push_back({"rotate", pairing == Pairing::half ? "half" : "interleaved", {{128, 40, 8, 8}},
                   [=](auto& x) { return rotate(x[0], Tensor::full({1, 40, 4}, 1), pairing); }, {}});
  const auto optimizer = [&](const char* kernel, std::vector<Shape> shapes, std::function<Tensor(const Tensors&)> op) {
    all.push_back({kernel, "(300000)", shapes, op, {}});
    all.back().differentiable = false;
  };
  optimizer("adam", {{300000}, {300000}, {300000}, {300000}}, [](auto& x) {
    const Tensor squares = one_double(norm * norm, x[0].device());
    kernels(x[0].device()).adam(x[0].data(), x[1].data(), x[2].data(), x[3].data(), 300000, in_double(squares), step);
    return x[0];
  });
  optimizer("squares", {{300000}}, [](auto& x) { return sum_of_squares(x[0]); });
}, For::bench);

}  // namespace
}  // namespace poslab::test
