#include "experiment/dispersion.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "autograd/tape.h"
#include "core/stop.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"

namespace poslab {
namespace {

// The first query that counts.
int first_row(bool causal, int queries) { return causal ? queries - std::max(1, queries / 8) : 0; }

void add_rows(Dispersion& to, int layer, const Tensor& statistics, bool causal) {
  const std::vector<real> y = statistics.values();  // (B, H, T, statistics_per_row)
  const int B = statistics.dim(0), H = statistics.dim(1), T = statistics.dim(2);
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < H; ++h) {
      RowMeans& sum = to.all[size_t(layer * H + h)];
      for (int i = first_row(causal, T); i < T; ++i) {
        const real* row = y.data() + ((int64_t(b) * H + h) * T + i) * statistics_per_row;
        if (row[0] == 0) continue;  // this query sees no key
        sum.add({double(row[0]), double(row[1]), double(row[2]), double(row[3]), double(row[4]), 1});
      }
    }
}

// Adds to `sums` the quantiles of n finite logits, minus their mean. s is sorted.
void add_quantiles(std::vector<double>& sums, std::vector<double>& s) {
  std::sort(s.begin(), s.end());
  double mean = 0;
  for (const double x : s) mean += x / double(s.size());
  const double last = double(s.size()) - 1;
  for (size_t k = 0; k < sums.size(); ++k) {
    const double at = std::clamp((double(k) + 0.5) / double(sums.size()) * double(s.size()) - 0.5, 0., last);
    const auto below = size_t(at);
    const double part = at - double(below);
    sums[k] += (1 - part) * s[below] + part * s[std::min(below + 1, s.size() - 1)] - mean;
  }
}

}  // namespace

void Look::observe(const std::function<void(Trace*)>& pass, bool stoppable) const {
  Stoppable whole(stoppable);
  Trace trace(names);
  trace.queries = queries;
  pass(&trace);
  whole.complete();
  done(trace);
}

std::string Probed::block(int layer) const { return fmt::format("{}block{}", prefix, layer); }

Probed probed(const State& state, int samples) {
  const RunSpec& c = state.config;
  const auto run = [&state, samples](const Look& look) {
    const RunSpec& c = state.config;
    const Inference as_this_run(c);
    const Transformer net = look.temperature ? state.net.at_temperature(*look.temperature) : state.test_net();
    const int all = look.samples ? look.samples : samples;
    const int cut = look.one_by_one ? 1 : sub_batch(slots(c, look.length));
    for (int first = 0; first < all; first += cut) {
      const int count = std::min(cut, all - first);
      const Batch batch = test_batch(c, look.length, first, count, look.strings);
      const int T = batch.tokens.shape()[1];
      const PositionSample positions = test_draw(c, look.length, first, count, T, batch.tokens);
      look.observe([&](Trace* trace) { net(batch.tokens, T, {positions, {}, trace}); },
                   state.params.device() == Device::cpu);
    }
  };
  return {.layers = c.whole("layers"),
          .heads = c.whole("heads"),
          .causal = c.on("causal"),
          .keys = [&c](int length) { return test_batch(c, length, 0, 1).tokens.shape()[1]; },
          .run = run,
          .forward = [&c, samples](int length) { return string_forward(c, length, samples, true); },
          .inputs = samples};
}

void RowMeans::add(const RowMeans& o) {
  const double all = rows + o.rows;
  if (all == 0) return;
  const double share = o.rows / all;
  for (double RowMeans::*x :
       {&RowMeans::largest_weight, &RowMeans::entropy, &RowMeans::largest_logit, &RowMeans::mean, &RowMeans::variance})
    this->*x = rows == 0 ? o.*x : this->*x + (o.*x - this->*x) * share;
  rows = all;
}

RowMeans Dispersion::of_layer(int layer) const {
  RowMeans sum;
  for (int h = 0; h < heads; ++h) sum.add(of(layer, h));
  return sum;
}

RowMeans Dispersion::of_model() const {
  RowMeans sum;
  for (const RowMeans& one : all) sum.add(one);
  return sum;
}

Dispersion dispersion(const Probed& model, int length, const std::optional<Chosen<TemperaturePolicy>>& temperature,
                      Purpose strings) {
  Dispersion made{model.layers, model.heads, model.keys(length), {}};
  made.all.resize(size_t(model.layers * model.heads));
  model.run({.length = length,
             .temperature = temperature,
             .names = {model.prefix + "block*.attention.statistics"},
             .strings = strings,
             .done = [&](const Trace& trace) {
               for (int layer = 0; layer < model.layers; ++layer)
                 add_rows(made, layer, trace.captured.at(model.block(layer) + ".attention.statistics"), model.causal);
             }});
  return made;
}

constexpr int64_t most_logits = 1 << 24;  // in memory

std::vector<double> sorted_logits(const Probed& model, int length, int points, int samples) {
  std::vector<double> sums(size_t(points), 0.);
  double count = 0;
  const std::string name = model.block(0) + ".attention.logits";
  const int64_t of_query = int64_t(model.heads) * model.keys(length);
  model.run({.length = length,
             .names = {name},
             .samples = samples,
             .one_by_one = true,
             .queries = int(std::clamp<int64_t>(most_logits / of_query, 1, far)),
             .done = [&](const Trace& trace) {
               const Tensor& logits = trace.captured.at(name);  // (1, H, n, T)
               const std::vector<real> s = logits.values();
               const int n = logits.dim(2), keys = logits.dim(3);
               for (int h = 0; h < logits.dim(1); ++h)
                 for (int i = model.causal ? std::max(0, n - std::max(1, keys / 8)) : 0; i < n; ++i) {
                   std::vector<double> row;
                   const real* from = s.data() + (int64_t(h) * n + i) * keys;
                   for (int j = 0; j < keys; ++j)
                     if (std::isfinite(from[j])) row.push_back(double(from[j]));
                   if (row.size() < 2) continue;
                   add_quantiles(sums, row), count += 1;
                 }
             }});
  for (double& x : sums) x /= std::max(1., count);
  return sums;
}

namespace {

constexpr int of_sorted = 4;  // the sorted logits of a few sequences are smooth enough

// The requested lengths, and some between the first and the last of them.
std::set<int> measured_at(const std::vector<int>& lengths) {
  constexpr int steps = 6;
  std::set<int> all(lengths.begin(), lengths.end());
  const double from = *all.begin(), to = *all.rbegin();
  for (int n = 1; n < steps - 1; ++n) all.insert(int(std::lround(from * std::pow(to / from, n / (steps - 1.)))));
  return all;
}

}  // namespace

Taken dispersed_take(const Probed& model, const std::vector<int>& lengths) {
  Taken all;
  for (const int length : measured_at(lengths)) all.then(model.forward(length).seen(model.inputs));
  for (const int length : lengths) {
    const Forward f = model.forward(length);
    const double rows = std::max(1., std::min<double>(f.slots, double(most_logits) / f.heads / f.slots));
    all.then({f.bytes / f.inputs + 2. * sizeof(real) * f.heads * rows * f.slots,  // logits, and a copy to be sorted
              std::min(model.inputs, of_sorted) * f.flops});
  }
  return all;
}

Dispersed dispersed(const Probed& model, const std::vector<int>& lengths, int samples) {
  constexpr int points = 99;
  Dispersed made;
  made.shown = lengths;
  std::sort(made.shown.begin(), made.shown.end());
  for (const int length : measured_at(lengths)) {
    made.lengths.push_back(length);
    made.at.push_back(dispersion(model, length));
  }
  if (std::isnan(made.at[0].of_layer(0).variance)) return made;
  for (const int length : made.shown)
    made.sorted.push_back(sorted_logits(model, length, points, std::min(samples, of_sorted)));
  return made;
}

Biases biases(const Encoding& encoding, const ModelShape& m, const Positions& p, Device device) {
  const NoGrad no_grad;
  const int T = p.time(), H = m.heads, query = m.causal ? T - 1 : T / 2;
  const Tensor zero = Tensor::full({1, T, H, m.head_dim()}, 0, device), x = Tensor::full({1, T, m.d_model}, 0, device);
  const Heads content{zero, zero, x, x};
  const std::vector<real> figures = encoding.statistics(content, p, {.causal = m.causal}).values();
  if (std::any_of(figures.begin(), figures.end(), [](real f) { return std::isnan(f); })) return {};  // no logits
  const std::vector<real> logits = encoding.logits(content, p, {.causal = m.causal}).values();       // (1, H, T, T)
  Biases made{query, T, H, {}};
  double least = INFINITY, most = -INFINITY;
  for (int h = 0; h < H; ++h) {
    const real* row = logits.data() + (int64_t(h) * T + query) * T;
    double sum = 0, count = 0;
    for (int j = 0; j < T; ++j)
      if (std::isfinite(row[j])) sum += double(row[j]), count += 1;
    for (int j = 0; j < T; ++j) {
      made.of.push_back(std::isfinite(row[j]) ? double(row[j]) - sum / count : NAN);
      if (!std::isnan(made.of.back())) least = std::min(least, made.of.back()), most = std::max(most, made.of.back());
    }
  }
  return most - least > 1e-9 ? made : Biases{};
}

double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int n = 0; n < 60; ++n) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.)) / 2 < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace poslab
