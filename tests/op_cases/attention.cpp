// attention and attention_weights: every door, causal or not, queries fewer than keys, tables of pairs shared or not.
#include <fmt/format.h>

#include "tests/op_case.h"

namespace poslab::test {
namespace {

struct Sizes { int batch, queries, keys, heads, head_dim, rel_dim; };
enum class Pairs { by_offset, shared, per_sequence };

struct Variant {
  Sizes n;
  bool causal, relative, bias;
  Pairs pairs;

  int rows() const { return pairs == Pairs::by_offset ? 2 * n.keys - 1 : n.keys + 3; }
  Ids table() const {
    const int count = pairs == Pairs::shared ? 1 : n.batch;
    return pairs == Pairs::by_offset ? Ids() : Ids({count, n.queries, n.keys}, random_ids(int64_t(count) * n.queries * n.keys, rows(), 7));
  }
  Mask mask() const { return causal ? Mask::causal : Mask::none; }
  std::string name() const {
    return fmt::format("B {} Tq {} Tk {} H {} D {}{}{}{}{}", n.batch, n.queries, n.keys, n.heads, n.head_dim, causal ? " causal" : "",
                       relative ? " r" : "", bias ? " bias" : "",
                       pairs == Pairs::by_offset ? "" : pairs == Pairs::shared ? " pairs" : " pairs per sequence");
  }
  // q k v, then q_rel r if relative, then bias if bias
  std::vector<Shape> shapes() const {
    std::vector<Shape> all = {{n.batch, n.queries, n.heads, n.head_dim}, {n.batch, n.keys, n.heads, n.head_dim}, {n.batch, n.keys, n.heads, n.head_dim}};
    if (relative) all.insert(all.end(), {{n.batch, n.queries, n.heads, n.rel_dim}, {rows(), n.heads, n.rel_dim}});
    if (bias) all.push_back({rows(), n.heads});
    return all;
  }
  Scores scores(const Tensors& x, const Ids& table) const {
    Scores s{.q = x[0], .k = x[1], .scale = real(0.4), .q_rel = {}, .r = {}, .bias = {}, .pairs = table};
    if (relative) s.q_rel = x[3], s.r = x[4];
    if (bias) s.bias = x.back();
    return s;
  }

  // a_ij, 0 where masked                                                                 (batch, heads, queries, keys)
  Array weights(Arrays& x, const Ids& table) const {
    Array a({n.batch, n.heads, n.queries, n.keys});
    for (int b = 0; b < n.batch; ++b)
      for (int h = 0; h < n.heads; ++h)
        for (int i = 0; i < n.queries; ++i) {
          const int slot = n.keys - n.queries + i, seen = causal ? slot + 1 : n.keys;
          double z = 0;
          for (int j = 0; j < seen; ++j) {
            const int64_t sequence = pairs == Pairs::per_sequence ? b : 0;
            const int pair = table ? table[(sequence * n.queries + i) * n.keys + j] : j - slot + n.keys - 1;
            double s = 0;
            for (int d = 0; d < n.head_dim; ++d) s += x[0](b, i, h, d) * x[1](b, j, h, d);
            for (int d = 0; relative && d < n.rel_dim; ++d) s += x[3](b, i, h, d) * x[4](pair, h, d);
            s *= double(real(0.4));
            if (bias) s += x.back()(pair, h);
            z += a(b, h, i, j) = std::exp(s);
          }
          for (int j = 0; j < seen; ++j) a(b, h, i, j) /= z;
        }
    return a;
  }
  Array outputs(Arrays& x, const Ids& table) const {
    Array a = weights(x, table), o(x[0].shape);
    for (int b = 0; b < n.batch; ++b)
      for (int h = 0; h < n.heads; ++h)
        for (int i = 0; i < n.queries; ++i)
          for (int j = 0; j < n.keys; ++j)
            for (int d = 0; d < n.head_dim; ++d) o(b, i, h, d) += a(b, h, i, j) * x[2](b, j, h, d);
    return o;
  }
};

void add(std::vector<OpCase>& all, const Variant& v) {
  const Ids table = v.relative || v.bias ? v.table() : Ids();
  OpCase attention{"attention", v.name(), v.shapes(), [=](const Tensors& x) { return poslab::attention(v.scores(x, table), x[2], v.mask()); },
                   [=](Arrays x) { return v.outputs(x, table); },
                   [=](const Tensors& x) { return composed::attention(v.scores(x, table), x[2], v.mask()); }};
  const double hidden = v.causal ? 0.5 * v.n.queries * (v.n.queries - 1) : 0, seen = double(v.n.queries) * v.n.keys - hidden;
  attention.flops = 2. * v.n.batch * v.n.heads * seen * (2 * v.n.head_dim + (v.relative ? v.n.rel_dim : 0));
  all.push_back(attention);
  OpCase weights{"attention_weights", v.name(), v.shapes(), [=](const Tensors& x) { return poslab::attention_weights(v.scores(x, table), v.mask()); },
                 [=](Arrays x) { return v.weights(x, table); }};
  weights.differentiable = false;
  all.push_back(weights);
}

const Cases attentions([](std::vector<OpCase>& all) {
  const std::vector<Sizes> sizes = {{2, 1, 1, 1, 8, 8},   {2, 5, 5, 2, 8, 8},   {1, 31, 31, 2, 6, 5},  {2, 33, 33, 3, 8, 8},
                                    {1, 70, 70, 2, 64, 64}, {2, 3, 10, 2, 8, 8}, {3, 1, 17, 2, 8, 3}, {2, 33, 65, 2, 8, 8}, {9, 16, 16, 4, 8, 8},
                                    {2, 9, 13, 12, 8, 8},  {1, 10, 20, 8, 8, 8}};
  for (const Sizes& n : sizes)
    for (const bool causal : {false, true}) {
      add(all, {n, causal, false, false, Pairs::by_offset});
      for (const auto& [relative, bias] : {std::pair{true, false}, {false, true}, {true, true}})
        for (const Pairs pairs : {Pairs::by_offset, Pairs::shared, Pairs::per_sequence}) add(all, {n, causal, relative, bias, pairs});
    }
  const Sizes several_tiles = {1, 257, 257, 1, 8, 8};
  add(all, {several_tiles, false, false, false, Pairs::by_offset});
  add(all, {several_tiles, true, true, true, Pairs::by_offset});
  add(all, {several_tiles, false, true, false, Pairs::shared});
});

const Cases speed([](std::vector<OpCase>& all) {
  for (const int slots : {40, 200}) {
    const Sizes n{128 * 40 / slots, slots, slots, 8, 8, 8};
    add(all, {n, false, false, false, Pairs::by_offset});
    add(all, {n, true, false, false, Pairs::by_offset});
    add(all, {n, false, false, true, Pairs::by_offset});
    add(all, {n, false, true, true, Pairs::by_offset});
    add(all, {n, false, true, true, Pairs::shared});
    add(all, {n, false, true, true, Pairs::per_sequence});
  }
}, For::bench);

}  // namespace
}  // namespace poslab::test
