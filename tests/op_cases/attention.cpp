// attention, attention_weights and attention_statistics: every term and option, alone and combined, against a formula
// that is computed pair by pair.
#include <fmt/format.h>

#include "tests/op_cases/op_case.h"

namespace poslab::test {
namespace {

struct Sizes {
  int batch, queries, keys, heads, head_dim, rel_dim;
};
enum class Pairs { by_distance, shared, per_sequence };
enum class Offset { last, zero, beyond };  // the queries are the last slots; are the first; begin 2 after the last
struct Form {
  int from = -far, to = far, first = 0, end = far;
};  // of a piece

struct Variant {
  Sizes n;
  bool causal = false, relative = false, bias = false;
  Pairs pairs = Pairs::by_distance;
  std::vector<Form> pieces = {{}};
  bool gain = false;
  int temperature = 0;              // 0: none; 1: shared; bit 1: one per sequence; bit 2: one per head
  int kv_heads = 0, value_dim = 0;  // 0: heads, head_dim
  Offset offset = Offset::last;
  bool lengths = false;  // key lengths: all keys of a sequence, one, none, some

  int G() const { return kv_heads ? kv_heads : n.heads; }
  int Dv() const { return value_dim ? value_dim : n.head_dim; }
  int first_slot() const {
    return offset == Offset::last ? n.keys - n.queries : offset == Offset::zero ? 0 : n.keys + 2;
  }
  int last_slot() const { return std::max(first_slot() + n.queries, n.keys) - 1; }
  int rows() const { return pairs == Pairs::by_distance ? last_slot() + n.keys : n.keys + 3; }
  Ids table() const {
    if (pairs == Pairs::by_distance || !(relative || bias || gain)) return {};
    const int count = pairs == Pairs::shared ? 1 : n.batch;
    return Ids({count, n.queries, n.keys}, random_ids(int64_t(count) * n.queries * n.keys, rows(), 7));
  }
  int length(int b) const {
    const int some[] = {n.keys, (n.keys + 1) / 2, 0, n.keys - 1};
    return lengths ? some[b % 4] : n.keys;
  }
  Span span() const {
    Span s{.causal = causal, .offset = first_slot()};
    std::vector<int> all;
    for (int b = 0; b < n.batch; ++b) all.push_back(length(b));
    if (lengths) s.key_lengths = Ids({n.batch}, all);
    return s;
  }
  std::string name() const {
    std::string text = fmt::format("B {} Tq {} Tk {} H {} D {}", n.batch, n.queries, n.keys, n.heads, n.head_dim);
    const auto add = [&](bool there, const std::string& what) {
      if (there) text += " " + what;
    };
    add(G() != n.heads, fmt::format("G {}", G())), add(Dv() != n.head_dim, fmt::format("Dv {}", Dv()));
    add(causal, "causal"), add(offset == Offset::zero, "offset 0"), add(offset == Offset::beyond, "offset Tk + 2"),
        add(lengths, "lengths");
    add(relative, "r"), add(gain, "gain"), add(bias, "bias"),
        add(temperature > 0, fmt::format("temperature {}", temperature));
    add(pairs == Pairs::shared, "pairs"), add(pairs == Pairs::per_sequence, "pairs per sequence");
    if (pieces.size() > 1 || pieces[0].from > -far || pieces[0].to < far)
      add(true, fmt::format("{} pieces", pieces.size()));
    add(pieces.size() == 1 && pieces[0].first > 0, "not the first keys");
    add(pieces.size() == 1 && pieces[0].end < far, "not the last keys");
    return text;
  }

  // indices of inputs: q, k of each piece; v; q_rel, r; gain; bias; temperature. Absent ones are left out
  int v() const { return 2 * int(pieces.size()); }
  int at_r() const { return v() + 2; }
  int at_gain() const { return v() + 1 + 2 * relative; }
  int at_bias() const { return at_gain() + gain; }
  int at_temperature() const { return at_bias() + bias; }
  std::vector<Shape> shapes() const {
    std::vector<Shape> all;
    for (size_t p = 0; p < pieces.size(); ++p)
      all.insert(all.end(), {{n.batch, n.queries, n.heads, n.head_dim}, {n.batch, n.keys, G(), n.head_dim}});
    all.push_back({n.batch, n.keys, G(), Dv()});
    if (relative) all.insert(all.end(), {{n.batch, n.queries, n.heads, n.rel_dim}, {rows(), n.heads, n.rel_dim}});
    for (int table = 0; table < gain + bias; ++table) all.push_back({rows(), n.heads});
    if (temperature) all.push_back({temperature & 2 ? n.batch : 1, n.queries, temperature & 4 ? n.heads : 1});
    return all;
  }
  Scores scores(const Tensors& x, const Ids& table) const {
    Scores s{.pieces = {}, .scale = real(0.4)};
    for (size_t p = 0; p < pieces.size(); ++p)
      s.pieces.push_back({x[2 * p], x[2 * p + 1], pieces[p].from, pieces[p].to, pieces[p].first, pieces[p].end});
    if (relative) s.q_rel = x[size_t(v()) + 1], s.r = x[size_t(at_r())];
    if (gain) s.gain = x[size_t(at_gain())];
    if (bias) s.bias = x[size_t(at_bias())];
    if (temperature) s.temperature = x[size_t(at_temperature())];
    s.pairs = table;
    return s;
  }

  // The logit of a visible pair.
  double logit(Arrays& x, const Ids& table, size_t piece, int b, int h, int i, int j) const {
    const int64_t sequence = pairs == Pairs::per_sequence ? b : 0;
    const int pair = table ? table[(sequence * n.queries + i) * n.keys + j] : j - (first_slot() + i) + last_slot();
    const int g = h / (n.heads / G());
    double s = 0;
    for (int d = 0; d < n.head_dim; ++d) s += x[2 * piece](b, i, h, d) * x[2 * piece + 1](b, j, g, d);
    for (int d = 0; relative && d < n.rel_dim; ++d) s += x[size_t(v()) + 1](b, i, h, d) * x[size_t(at_r())](pair, h, d);
    s *= double(real(0.4));
    if (gain) s *= x[size_t(at_gain())](pair, h);
    if (bias) s += x[size_t(at_bias())](pair, h);
    return temperature ? s * x[size_t(at_temperature())](temperature & 2 ? b : 0, i, temperature & 4 ? h : 0) : s;
  }
  bool sees(const Form& f, int i, int j) const {
    const int away = j - (first_slot() + i);
    return f.from <= away && away < f.to && f.first <= j && j < f.end && !(causal && away > 0);
  }
  double seen() const {  // visible pairs in one head of one sequence, padding included
    double count = 0;
    for (const Form& f : pieces)
      for (int i = 0; i < n.queries; ++i)
        for (int j = 0; j < n.keys; ++j) count += sees(f, i, j);
    return count;
  }
  // a_ij, 0 where masked                                                                 (batch, heads, queries, keys)
  Array weights(Arrays& x, const Ids& table) const {
    Array a({n.batch, n.heads, n.queries, n.keys});
    for (int b = 0; b < n.batch; ++b)
      for (int h = 0; h < n.heads; ++h)
        for (int i = 0; i < n.queries; ++i) {
          std::vector<std::pair<int, double>> seen_keys;  // key and logit
          for (int j = 0; j < length(b); ++j)
            for (size_t p = 0; p < pieces.size(); ++p)
              if (sees(pieces[p], i, j)) seen_keys.emplace_back(j, logit(x, table, p, b, h, i, j));
          double most = -INFINITY, z = 0;
          for (const auto& [j, s] : seen_keys) most = std::max(most, s);
          for (const auto& [j, s] : seen_keys) z += std::exp(s - most);
          for (const auto& [j, s] : seen_keys) a(b, h, i, j) = std::exp(s - most) / z;
        }
    return a;
  }
  // max_j a_ij, -sum_j a_ij ln a_ij, max_j s_ij, mean and variance of s_ij  (batch, heads, queries, 5)
  Array statistics(Arrays& x, const Ids& table) const {
    Array a = weights(x, table), y({n.batch, n.heads, n.queries, 5});
    for (int b = 0; b < n.batch; ++b)
      for (int h = 0; h < n.heads; ++h)
        for (int i = 0; i < n.queries; ++i) {
          std::vector<double> s;
          for (int j = 0; j < length(b); ++j)
            for (size_t p = 0; p < pieces.size(); ++p)
              if (sees(pieces[p], i, j)) s.push_back(logit(x, table, p, b, h, i, j));
          for (int j = 0; j < n.keys; ++j) {
            const double e = a(b, h, i, j);
            y(b, h, i, 0) = std::max(y(b, h, i, 0), e);
            if (e > 0) y(b, h, i, 1) -= e * std::log(e);
          }
          if (s.empty()) continue;
          y(b, h, i, 2) = *std::max_element(s.begin(), s.end());
          for (const double e : s) y(b, h, i, 3) += e / double(s.size());
          for (const double e : s) y(b, h, i, 4) += std::pow(e - y(b, h, i, 3), 2) / double(s.size());
        }
    return y;
  }
  Array outputs(Arrays& x, const Ids& table) const {
    Array a = weights(x, table), o({n.batch, n.queries, n.heads, Dv()});
    Array& values = x[size_t(v())];
    const int group = n.heads / G();
    for (int b = 0; b < n.batch; ++b)
      for (int h = 0; h < n.heads; ++h)
        for (int i = 0; i < n.queries; ++i)
          for (int j = 0, g = h / group; j < n.keys; ++j) {
            const double weight = a(b, h, i, j);
            for (int d = 0; weight != 0 && d < Dv(); ++d) o(b, i, h, d) += weight * values(b, j, g, d);
          }
    return o;
  }
};

void add(std::vector<OpCase>& all, const Variant& v) {
  const Ids table = v.table();
  const size_t values = size_t(v.v());
  OpCase attention{"attention",
                   v.name(),
                   v.shapes(),
                   [=](const Tensors& x) { return poslab::attention(v.scores(x, table), x[values], v.span()); },
                   [=](Arrays x) { return v.outputs(x, table); },
                   [=](const Tensors& x) { return composed::attention(v.scores(x, table), x[values], v.span()); }};
  attention.flops = 2. * v.n.batch * v.n.heads * v.seen() * (v.n.head_dim + v.Dv() + (v.relative ? v.n.rel_dim : 0));
  all.push_back(attention);
  OpCase weights{"attention_weights", v.name(), v.shapes(),
                 [=](const Tensors& x) { return poslab::attention_weights(v.scores(x, table), v.span()); },
                 [=](Arrays x) { return v.weights(x, table); }};
  weights.differentiable = false;
  all.push_back(weights);
  OpCase statistics{"attention_statistics", v.name(), v.shapes(),
                    [=](const Tensors& x) { return poslab::attention_statistics(v.scores(x, table), v.span()); },
                    [=](Arrays x) { return v.statistics(x, table); }};
  statistics.differentiable = false;
  all.push_back(statistics);
}

// With query biases: for the content only, for the relative term only, for both, and, as in Transformer-XL, with the
// query itself as q_rel.
enum class Biased { content, relative, both, one_query };
void add_biased(std::vector<OpCase>& all, const Variant& v, Biased how) {
  const Ids table = v.table();
  const size_t values = size_t(v.v()), rel = values + 1, of_q = v.shapes().size();
  const bool biased_q = how != Biased::relative, biased_rel = how != Biased::content;
  const size_t of_rel = of_q + biased_q;
  std::vector<Shape> shapes = v.shapes();
  if (biased_q) shapes.push_back({v.n.heads, v.n.head_dim});
  if (biased_rel) shapes.push_back({v.n.heads, v.n.rel_dim});
  if (how == Biased::one_query) shapes.erase(shapes.begin() + int64_t(rel));
  const auto all_of = [=](auto x) {
    if (how == Biased::one_query) x.insert(x.begin() + int64_t(rel), x[0]);
    return x;
  };
  OpCase c{"attention", v.name() + " biases " + std::to_string(int(how)), shapes};
  c.op = [=](const Tensors& own) {
    const Tensors x = all_of(own);
    const QueryBiases add{biased_q ? x[of_q] : Tensor(), biased_rel ? x[of_rel] : Tensor()};
    return poslab::attention(v.scores(x, table), x[values], v.span(), add);
  };
  c.reference = [=](const Arrays& own) {
    Arrays x = all_of(own);
    const auto add = [&](Array& q, Array& b) {
      for (size_t e = 0; e < q.at.size(); ++e) q.at[e] += b.at[e % b.at.size()];
    };
    if (biased_q) add(x[0], x[of_q]);
    if (biased_rel) add(x[rel], x[of_rel]);
    return v.outputs(x, table);
  };
  c.twin = [=](const Tensors& own) {
    const Tensors x = all_of(own);
    Scores s = v.scores(x, table);
    if (biased_q) s.pieces[0].q = s.pieces[0].q + x[of_q];
    if (biased_rel) s.q_rel = s.q_rel + x[of_rel];
    return composed::attention(s, x[values], v.span());
  };
  all.push_back(c);
}

// ReRoPE's two and three products, a window, and the three parts of a Lambda mask.
const std::vector<Form> inside_and_outside = {{-3, 4}, {-far, -3}, {4, far}}, past_only = {{-3, far}, {-far, -3}},
                        window = {{-4, 1}}, window_and_sinks = {{-4, 1}, {-far, -4, 0, 2}},
                        far_and_sinks = {{-4, 1}, {-9, -4, 2}, {-far, -4, 0, 2}, {1, 3}};

const Cases plain([](std::vector<OpCase>& all) {
  const std::vector<Sizes> sizes = {{2, 1, 1, 1, 8, 8},   {2, 5, 5, 2, 8, 8},     {1, 31, 31, 2, 6, 5},
                                    {2, 33, 33, 3, 8, 8}, {1, 70, 70, 2, 64, 64}, {2, 3, 10, 2, 8, 8},
                                    {3, 1, 17, 2, 8, 3},  {2, 33, 65, 2, 8, 8},   {9, 16, 16, 4, 8, 8},
                                    {2, 9, 13, 12, 8, 8}, {1, 10, 20, 8, 8, 8}};
  for (const Sizes& n : sizes)
    for (const bool causal : {false, true}) {
      add(all, {n, causal, false, false, Pairs::by_distance});
      for (const auto& [relative, bias] : {std::pair{true, false}, {false, true}, {true, true}})
        for (const Pairs pairs : {Pairs::by_distance, Pairs::shared, Pairs::per_sequence})
          add(all, {n, causal, relative, bias, pairs});
    }
  const Sizes several_tiles = {1, 257, 257, 1, 8, 8};
  add(all, {several_tiles, false, false, false, Pairs::by_distance});
  add(all, {several_tiles, true, true, true, Pairs::by_distance});
  add(all, {several_tiles, false, true, false, Pairs::shared});
});

const Cases biased([](std::vector<OpCase>& all) {
  for (const Pairs pairs : {Pairs::by_distance, Pairs::shared, Pairs::per_sequence}) {
    add_biased(all, {.n = {3, 33, 33, 3, 8, 8}, .relative = true, .pairs = pairs}, Biased::one_query);
    add_biased(all, {.n = {2, 9, 13, 2, 8, 5}, .causal = true, .relative = true, .pairs = pairs}, Biased::both);
  }
  add_biased(all, {.n = {2, 9, 13, 2, 8, 5}, .causal = true, .relative = true}, Biased::relative);
  add_biased(all, {.n = {2, 5, 9, 2, 64, 20}, .relative = true, .kv_heads = 1}, Biased::both);    // several lanes a row
  add_biased(all, {.n = {1, 3, 4, 2, 264, 3}, .relative = true}, Biased::both);                   // the general kernel
  add_biased(all, {.n = {2, 140, 140, 1, 8, 8}, .relative = true}, Biased::one_query);            // several tiles
  add_biased(all, {.n = {4, 13, 13, 4, 6, 0}, .pieces = {{-3, 4}, {-far, -3}, {4, far}}, .lengths = true},
             Biased::content);
});

const Cases forms([](std::vector<OpCase>& all) {
  const Sizes n = {4, 13, 13, 4, 8, 8}, cross = {4, 7, 19, 4, 8, 8}, wide = {2, 5, 9, 2, 64, 20},
              small = {2, 6, 6, 2, 4, 4};
  for (const auto& pieces : {inside_and_outside, past_only, window, window_and_sinks, far_and_sinks})
    for (const bool causal : {false, true}) {
      add(all, {.n = n, .causal = causal, .pieces = pieces});
      add(all, {.n = small, .causal = causal, .pieces = pieces, .value_dim = 3});
    }
  add(all, {.n = n,
            .relative = true,
            .bias = true,
            .pieces = inside_and_outside,
            .gain = true,
            .temperature = 1,
            .kv_heads = 2,
            .value_dim = 5,
            .lengths = true});
  add(all, {.n = n,
            .causal = true,
            .relative = true,
            .pairs = Pairs::shared,
            .pieces = past_only,
            .gain = true,
            .temperature = 6,
            .kv_heads = 1});
  add(all, {.n = cross,
            .bias = true,
            .pairs = Pairs::per_sequence,
            .pieces = inside_and_outside,
            .gain = true,
            .temperature = 2,
            .offset = Offset::zero,
            .lengths = true});
  for (const Pairs pairs : {Pairs::by_distance, Pairs::shared, Pairs::per_sequence}) {
    add(all, {.n = n, .pairs = pairs, .gain = true});
    add(all, {.n = n, .causal = true, .bias = true, .pairs = pairs, .gain = true, .temperature = 4});
    add(all, {.n = n, .relative = true, .pairs = pairs, .gain = true});
  }
  for (const int temperature : {1, 2, 4, 6}) add(all, {.n = n, .temperature = temperature});
  for (const int kv_heads : {1, 2})
    for (const bool causal : {false, true})
      add(all, {.n = n, .causal = causal, .relative = causal, .kv_heads = kv_heads, .value_dim = 12});
  for (const bool relative : {false, true}) {
    add(all, {.n = cross, .relative = relative, .bias = relative, .offset = Offset::zero, .lengths = true});
    add(all, {.n = cross, .causal = true, .relative = relative, .offset = Offset::zero});
    add(all, {.n = cross,
              .causal = true,
              .relative = relative,
              .bias = relative,
              .offset = Offset::beyond,
              .lengths = true});
    add(all, {.n = wide, .relative = relative, .kv_heads = 1, .value_dim = 65, .offset = Offset::beyond});
  }
  add(all, {.n = {1, 19, 7, 2, 8, 8}, .bias = true, .kv_heads = 1, .offset = Offset::zero});  // more queries than keys
  add(all, {.n = n, .pieces = {{20, far}}}),
      add(all, {.n = n, .pieces = {{3, far}, {-far, -2}}});  // above, no query sees a key; here, some do
  add(all, {.n = {2, 21, 21, 2, 8, 8}, .causal = true, .pieces = {{-far, far, 2}}});  // only key slots are limited
  add(all, {.n = {2, 21, 21, 2, 8, 8}, .pieces = {{-far, far, 0, 9}}});
  add(all,
      {.n = {1, 9, 5, 2, 8, 8}, .causal = true, .pieces = {{-2, 1}}, .offset = Offset::zero});  // the last see no key
  add(all,
      {.n = {1, 3, 2200, 1, 4, 4}, .relative = true, .bias = true, .offset = Offset::zero});  // several tiles of keys
  add(all, {.n = {1, 3, 2200, 1, 4, 4},
            .bias = true,
            .pieces = {{-far, -700, 0, 40}, {-700, 1}},
            .gain = true,
            .temperature = 1});
});

// Heads for core/cpu/attention/wide_heads.h, whose blocks are 64 queries by 48 keys: sizes that are not multiples.
const Cases wide_heads([](std::vector<OpCase>& all) {
  for (const int D : {16, 32, 64, 128})
    for (const bool causal : {false, true})
      add(all, {.n = {1, 67, 67, 2, D, 0},
                .causal = causal,
                .kv_heads = D == 64 ? 1 : 0,
                .value_dim = D == 16 ? 33 : 0});
  const Sizes several = {2, 70, 131, 2, 32, 0};
  add(all, {.n = several, .causal = true});  // the queries are in the last slots, as with a cache
  add(all, {.n = several, .causal = true, .kv_heads = 1, .offset = Offset::beyond});
  add(all, {.n = several, .offset = Offset::zero, .lengths = true});
  for (const bool causal : {false, true}) {
    add(all, {.n = several, .causal = causal, .pieces = {{-30, 40}, {-far, -30}, {40, far}}});   // ReRoPE's products
    add(all, {.n = several, .causal = causal, .pieces = {{-50, 1}, {-far, -50, 0, 5}}, .kv_heads = 1});
  }
  add(all, {.n = several, .gain = true});  // a term that another kernel computes
  // cuda/attention_wide.cu has blocks of 64 rows and tiles of 32 or 16, and computes all terms but r.
  for (const Pairs pairs : {Pairs::by_distance, Pairs::shared, Pairs::per_sequence})
    add(all, {.n = {2, 35, 35, 2, 20, 0},
              .causal = true,
              .bias = true,
              .pairs = pairs,
              .gain = true,
              .temperature = 6});
  add(all, {.n = {2, 33, 66, 4, 72, 0},
            .bias = true,
            .pieces = inside_and_outside,
            .temperature = 2,
            .kv_heads = 2,
            .value_dim = 12,
            .lengths = true});
  add(all, {.n = {4, 2, 2, 2, 24, 0}, .temperature = 1, .lengths = true});              // 2, 1, 0 and 1 keys
  add(all, {.n = {2, 1, 150, 4, 16, 0}, .causal = true, .bias = true, .kv_heads = 2});  // as when generating a token
  add(all, {.n = {1, 2, 150, 2, 12, 0},
            .causal = true,
            .pieces = {{-100, 1}, {-far, -100}},
            .offset = Offset::beyond});
  add(all, {.n = {1, 40, 200, 1, 16, 0},   // no pair has a key between the first ones and the window
            .causal = true,
            .pieces = {{-20, 1}, {-far, -20, 0, 5}}});
  add(all, {.n = {1, 64, 97, 1, 16, 0},  // some queries see the last key in one piece, others in the next
            .pieces = {{-far, 65}, {65, far}},
            .offset = Offset::zero});
  add(all, {.n = {1, 100, 65, 1, 16, 0},
            .causal = true,
            .pieces = {{-20, 1}},
            .offset = Offset::zero});  // some queries see no key
});

const Cases attention_speed(
    [](std::vector<OpCase>& all) {
      for (const int slots : {40, 200}) {
        const Sizes n{128 * 40 / slots, slots, slots, 8, 8, 8};
        add(all, {n, false, false, false, Pairs::by_distance});
        add(all, {n, true, false, false, Pairs::by_distance});
        add(all, {n, false, false, true, Pairs::by_distance});
        add(all, {n, false, true, true, Pairs::by_distance});
        add(all, {n, false, true, true, Pairs::shared});
        add(all, {n, false, true, true, Pairs::per_sequence});
        add(all, {.n = n, .pieces = {{-8, far}, {-far, -8}}});
        add(all, {.n = n, .kv_heads = 2});
        add(all, {.n = n, .offset = Offset::zero, .lengths = true});
        add(all, {.n = n, .gain = true});
        add(all, {.n = n, .temperature = 6});
      }
      for (const int D : {32, 64}) add(all, {.n = {16, 256, 256, 8, D, 0}, .causal = true});
      for (const int slots : {2048, 4096})
        add(all, {.n = {1, slots, slots, 8, 64, 64}, .causal = true, .pieces = {{-256, 1}}});  // O(T w)
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
