// Step 11: ALiBi, relative keys, and the shift. encodings/by_distance.cpp, alibi.cpp, relative.cpp,
// core/cpu/attention/naive.h
#include "core/cpu/attention/naive.h"
#include "encodings/by_distance.h"
#include "encodings/sinusoid.h"
#include "schemes.h"

using namespace poslab;
using namespace course;

CASE("ALiBi's slopes") {
  const auto powers = [](int heads, double from, double times) {
    Values m;
    for (int h = 1; h <= heads; ++h) m.push_back(std::exp2(times * (h - from) / heads));
    return m;
  };
  check("m_h = 2^(-8h / H), h = 1 .. 8", alibi_slopes(8), powers(8, 0, -8),
        {{"the first head is h = 1, and has the slope 1/2", powers(8, 1, -8)},
         {"the exponent has the wrong sign: slopes are below 1", powers(8, 0, 8)},
         {"the exponent is -8 h / H, and here it is -h / H", powers(8, 0, -1)}});
  check("of 4 heads", alibi_slopes(4), powers(4, 0, -8));
  check("slopes of 6 heads: the slopes of 4, then every other slope of 8", alibi_slopes(6),
        {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125},
        {{"2^(-8h / H) holds for powers of two alone", powers(6, 0, -8)}});
}

CASE("ALiBi's biases") {
  const int H = 2, T = 3, D = 2;
  const Layer layer("alibi:mode=differences", {.layers = 1, .heads = H, .d_model = H * D});
  const Values none(size_t(T * H * D)), p = {0, 1, 5};
  const auto by = [&](const std::function<double(double d, double slope)>& f) {
    Values s;
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < T; ++i)
        for (int j = 0; j < T; ++j) s.push_back(f(p[size_t(j)] - p[size_t(i)], h == 0 ? 1. / 16 : 1. / 256));
    return s;
  };
  check("bias_ij = m_h (-|d| + 0.5 [d < 0]), d = p_j - p_i", layer.logits(none, none, Positions::of_tokens(1, p)),
        by([](double d, double m) { return m * (-std::abs(d) + (d < 0 ? 0.5 : 0)); }),
        {{"far keys get more than near ones: the minus is missing",
          by([](double d, double m) { return m * (std::abs(d) + (d < 0 ? 0.5 : 0)); })},
         {"the 0.5 that tells left from right is missing", by([](double d, double m) { return -m * std::abs(d); })},
         {"the 0.5 is on the right side; it should be for keys before the query, d < 0",
          by([](double d, double m) { return m * (-std::abs(d) + (d > 0 ? 0.5 : 0)); })},
         {"|d| is missing: keys after the query get a lower bias, those before it a higher one",
          by([](double d, double m) { return m * (-d + (d < 0 ? 0.5 : 0)); })},
         {"the slope is missing", by([](double d, double) { return -std::abs(d) + (d < 0 ? 0.5 : 0); })}});
}

namespace {

constexpr int queries = 2, keys = 4;  // the last two of four slots are queries

AttentionArgs some_args(int offset) {
  AttentionArgs x{};
  x.batch = 1, x.queries = queries, x.keys = keys, x.heads = 1, x.kv_heads = 1, x.head_dim = 2, x.value_dim = 2;
  x.offset = offset;
  return x;
}

}  // namespace

CASE("the shift: which row of the table a pair reads") {
  const AttentionArgs x = some_args(2);
  const naive::Row row{x, 0, 0};
  Values got, expected, no_offset, late, mirrored;
  for (int i = 0; i < queries; ++i)
    for (int j = 0; j < keys; ++j) {
      got.push_back(double(row.pair(i, j)));
      expected.push_back(j - (2 + i) + 3), no_offset.push_back(j - i + 3), late.push_back(j - (2 + i) + 4);
      mirrored.push_back((2 + i) - j + 3);
    }
  check("row j - t + slots - 1,  t = offset + i,  slots = max(offset + queries, keys)", {queries, keys}, got, expected,
        {{"the query's slot is offset + i, and here the offset is missing", no_offset},
         {"off by one: distance 0 is row slots - 1, the middle one", late},
         {"the rows run the other way round: j - t grows with the key", mirrored}});
  std::vector<int> table = {5, 4, 3, 2, 1, 0, 7, 6, 1, 2, 4, 8, 3, 5, 7, 9};  // two sequences
  AttentionArgs listed = x;
  listed.pairs = table.data();
  const naive::Row other{listed, 0, 0};
  Values read;
  for (int i = 0; i < queries; ++i)
    for (int j = 0; j < keys; ++j) read.push_back(double(other.pair(i, j)));
  check("where x.pairs has a list, row pairs[i][j]", {queries, keys}, read, {5, 4, 3, 2, 1, 0, 7, 6},
        {{"x.pairs is not read: the row is that of the slots", expected}});
  listed.batch = 2;
  for (const int lists : {2, 1}) {
    listed.pairs_batch = lists;
    const naive::Row second{listed, 1, 0};
    Values got_there;
    for (int i = 0; i < queries; ++i)
      for (int j = 0; j < keys; ++j) got_there.push_back(double(second.pair(i, j)));
    const Values own = {1, 2, 4, 8, 3, 5, 7, 9};
    if (lists == 2)
      check("for the second of two sequences, pairs[1][i][j]", {queries, keys}, got_there, own,
            {{"it has the list of the first sequence: pairs[b][i][j]", read}});
    else
      check("which is pairs[0][i][j] where x.pairs_batch is 1", {queries, keys}, got_there, read,
            {{"there is one list for all sequences, and the second one's is read", own}});
  }
}

CASE("the product of a query with a distance") {
  AttentionArgs x = some_args(2);
  const Values q = some(queries * 3, 1), r = some(7 * 3, 2);
  const std::vector<real> rq(q.begin(), q.end()), rr(r.begin(), r.end());
  x.q_rel = rq.data(), x.r = rr.data(), x.rel_dim = 3, x.rows = 7;
  const naive::Row row{x, 0, 0};
  const auto by = [&](const std::function<int(int i, int j)>& at) {
    Values all;
    for (int i = 0; i < queries; ++i)
      for (int j = 0; j < keys; ++j) {
        double sum = 0;
        for (int c = 0; c < 3; ++c) sum += q[size_t(i * 3 + c)] * r[size_t(at(i, j) * 3 + c)];
        all.push_back(sum);
      }
    return all;
  };
  Values got;
  for (int i = 0; i < queries; ++i)
    for (int j = 0; j < keys; ++j) got.push_back(row.relative(i, j));
  check("q_rel_i . r[pair(i, j)]", {queries, keys}, got, by([](int i, int j) { return j - (2 + i) + 3; }),
        {{"this is the row of the key; take that of the pair", by([](int, int j) { return j; })},
         {"the rows run the other way round", by([](int i, int j) { return (2 + i) - j + 3; })}});
  AttentionArgs absent = some_args(2);
  check("0 where there is no table r", naive::Row{absent, 0, 0}.relative(0, 0), 0);
}

CASE("relative keys of Transformer-XL") {
  const int H = 2, D = 4, T = 3, C = H * D;
  const Layer layer("relative:mode=differences", {.layers = 1, .heads = H, .d_model = C});
  const Values q = some(T * C, 1), k = some(T * C, 2), p = {0, 1, 5};
  const auto of = [&](const char* name) { return values(layer.params.at("encoding.layer0." + std::string(name))); };
  const Values u = of("u"), v = of("v"), w = of("w");
  const auto by = [&](double sign, bool relative, bool projected) {
    Values s;
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < T; ++i)
        for (int j = 0; j < T; ++j) {
          const Values wave = values(sinusoid(std::vector<double>{sign * (p[size_t(j)] - p[size_t(i)])}, C));
          double sum = 0;
          for (int d = 0; d < D; ++d) {
            const size_t own = size_t(h * D + d), at = size_t(i * C) + own;
            double row = 0;
            for (int c = 0; c < C; ++c) row += wave[size_t(c)] * w[size_t(c * C) + own];
            if (!projected) row = wave[own];
            sum += (q[at] + u[own]) * k[size_t(j * C) + own] + (relative ? (q[at] + v[own]) * row : 0);
          }
          s.push_back(sum / std::sqrt(double(D)));
        }
    return s;
  };
  check("s_ij = ((q_i + u) . k_j + (q_i + v) . W sinusoid(p_j - p_i)) / sqrt(D)",
        layer.logits(q, k, Positions::of_tokens(1, p)), by(1, true, true),
        {{"the distance is p_j - p_i, and here it is p_i - p_j", by(-1, true, true)},
         {"the term of the distance is missing", by(1, false, true)},
         {"W is missing: the sines and cosines are not projected", by(1, true, false)}});
}
