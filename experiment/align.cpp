#include "experiment/align.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/checksum.h"

namespace poslab {
namespace {

using Taus = std::vector<double>;  // layers x heads

Chosen<TemperaturePolicy> policy_of(const AlignedTemperatures& a) {
  return choose_temperature("aligned:of=" + text_of(a));
}

Chosen<TemperaturePolicy> plain() { return choose_temperature("none"); }

// The mean over the layers and heads that share a temperature.
RowMeans of_group(const Dispersion& d, AlignPer per, int layer, int head) {
  return per == AlignPer::model ? d.of_model() : per == AlignPer::layer ? d.of_layer(layer) : d.of(layer, head);
}

// The statistic that a rule reads at both lengths; the log rule reads none.
double RowMeans::*read_by(AlignMode mode) {
  return mode == AlignMode::pmax      ? &RowMeans::largest_weight
         : mode == AlignMode::entropy ? &RowMeans::entropy
                                      : &RowMeans::variance;
}
// For one temperature of the whole model, the propositions read the first layer.
AlignPer read_per(const Aligning& how) {
  return how.mode >= AlignMode::prop1 && how.per == AlignPer::model ? AlignPer::layer : how.per;
}

// The statistic. Throws BadInput if it is not a number.
double figure(const Aligning& how, const Dispersion& d, int layer, int head) {
  double RowMeans::*which = read_by(how.mode);
  const RowMeans of = of_group(d, read_per(how), layer, head);
  if (!std::isnan(of.*which)) return of.*which;
  if (read_per(how) == AlignPer::model)
    while (layer + 1 < d.layers && !std::isnan(d.of_layer(layer).*which)) ++layer;
  const std::string where =
      fmt::format("align --mode {}: layer {} of {}", align_modes()[size_t(how.mode)], layer + 1, d.layers);
  if (!std::isnan(of.entropy)) bad_input("{} has weights but no logits; choose pmax, entropy or log", where);
  bad_input(
      "{}: its attention over {} keys is nan; align a run that has not diverged, or leave low temperatures out "
      "of --grid", where, d.keys);
}

int rounds_of(const Probed& model, const Aligning& how) { return how.per == AlignPer::model ? 1 : model.layers; }
// The number of passes at a long length in each round of layers.
int in_round(const Aligning& how) {
  const bool grid = how.mode == AlignMode::pmax || how.mode == AlignMode::entropy;
  return grid ? int(how.grid.size()) : how.mode == AlignMode::log ? 0 : 1;
}
int groups_of(const Probed& model, const Aligning& how) { return how.per == AlignPer::head ? model.heads : 1; }

// Alignment at one length, as if it were the only long one: the result does not depend on the other lengths.
class AtOne {
 public:
  AtOne(const Probed& model, const Aligning& how, const Alignment& so_far, int length,
        const std::function<void()>& pass)
      : model_(model),
        how_(how),
        target_(so_far.target),
        temperatures_(so_far.temperatures),
        length_(length),
        pass_(pass),
        taus_(size_t(model.layers * model.heads), 1.) {
    temperatures_.layers = model.layers, temperatures_.heads = model.heads, temperatures_.weights = "0";
    temperatures_.lengths = {{double(model.keys(length)), {}}};
  }

  AlignedAt find() {
    AlignedAt made{
        length_, {double(model_.keys(length_)), {}}, 0, dispersion(model_, length_, plain(), aligned_on), {}};
    pass_();
    const bool at_once = how_.per == AlignPer::model;
    for (int layer = 0; layer < rounds_of(model_, how_); ++layer) {
      const int groups = groups_of(model_, how_);
      const Taus best = of_layer(layer, groups, made.unreachable);
      for (int l = at_once ? 0 : layer; l < (at_once ? model_.layers : layer + 1); ++l)
        for (int h = 0; h < model_.heads; ++h) taus_[size_t(l * model_.heads + h)] = best[size_t(groups == 1 ? 0 : h)];
      made.found.tau.insert(made.found.tau.end(), best.begin(), best.end());
    }
    made.after = measured(taus_);
    return made;
  }

 private:
  const Dispersion& measured(const Taus& taus) {
    temperatures_.lengths.back().tau = taus;
    const Chosen<TemperaturePolicy> policy = policy_of(temperatures_);
    const std::string key = policy.choices["of"];
    const auto known = seen_.find(key);
    const Dispersion& made =
        known != seen_.end() ? known->second : seen_[key] = dispersion(model_, length_, policy, aligned_on);
    pass_();
    return made;
  }

  // Runs this layer, or all if they share a temperature, at tau; the temperatures found so far stay.
  const Dispersion& measured_at(double tau, int layer) {
    Taus all = taus_;
    const bool shared = how_.per == AlignPer::model;
    for (int h = 0; h < int(all.size()); ++h)
      if (shared || h / model_.heads == layer) all[size_t(h)] = tau;
    return measured(all);
  }

  Taus of_layer(int layer, int groups, int& unreachable) {
    Taus best(size_t(groups), 1.);
    const double short_keys = target_.keys, long_keys = model_.keys(length_);
    if (how_.mode == AlignMode::log) {
      std::fill(best.begin(), best.end(), log_rule(short_keys, long_keys));
    } else if (how_.mode == AlignMode::pmax || how_.mode == AlignMode::entropy) {
      Taus least(size_t(groups), INFINITY);
      for (const double tau : how_.grid) {
        const Dispersion& d = measured_at(tau, layer);
        for (int g = 0; g < groups; ++g) {
          const double off = std::abs(figure(how_, d, layer, g) - figure(how_, target_, layer, g));
          if (off < least[size_t(g)]) least[size_t(g)] = off, best[size_t(g)] = tau;
        }
      }
    } else {
      const Dispersion& d = measured_at(1, layer);
      for (int g = 0; g < groups; ++g) {
        const double from = figure(how_, target_, layer, g), to = figure(how_, d, layer, g);
        if (how_.mode == AlignMode::prop2) {
          best[size_t(g)] = proposition2(short_keys, from, long_keys, to);
        } else {
          const double weight = of_group(target_, read_per(how_), layer, g).largest_weight;
          const Proposition1 p = proposition1(weight, short_keys, from, long_keys, to);
          best[size_t(g)] = p.tau, unreachable += !p.reachable;
        }
        best[size_t(g)] = std::clamp(best[size_t(g)], 0.001, 1000.);
      }
    }
    return best;
  }

  const Probed& model_;
  const Aligning& how_;
  const Dispersion& target_;
  AlignedTemperatures temperatures_;
  int length_;
  const std::function<void()>& pass_;
  Taus taus_;
  std::map<std::string, Dispersion> seen_;
};

}  // namespace

const std::vector<std::string>& align_modes() {
  static const std::vector<std::string> names = {"pmax", "entropy", "log", "prop1", "prop2"};
  return names;
}
const std::vector<std::string>& align_groups() {
  static const std::vector<std::string> names = {"model", "layer", "head"};
  return names;
}

void check(const Probed& model, const Aligning& how) {
  int before = how.shortest;
  if (how.longer.empty()) bad_input("align: no long length; name one or more, as in --long 256,1024");
  for (const int length : how.longer) {
    if (length <= before)
      bad_input("align: the long length {} is not above {}; list lengths in ascending order", length, before);
    if (model.keys(length) <= model.keys(before))
      bad_input("align: the long length {} has {} keys and {} has {}; space lengths further apart", length,
                model.keys(length), before, model.keys(before));
    before = length;
  }
  if (how.shortest < 1 || model.keys(how.shortest) < 2)
    bad_input("align: the short length {} has fewer than 2 keys; take a trained one", how.shortest);
  for (const double tau : how.grid)
    if (!(tau >= 0.001 && tau <= 1000)) bad_input("align: {} in the grid; temperatures are 0.001 to 1000", tau);
  if (how.grid.empty()) bad_input("align: the grid has no temperature; leave it out for 1.0, 0.95, ..., 0.5");
}

Alignment align(const Probed& model, const Aligning& asked, const std::function<void(int, int, int)>& step) {
  check(model, asked);
  Aligning how = asked;
  std::sort(how.grid.rbegin(), how.grid.rend());  // largest first: of two equally near temperatures it wins
  const int passes = 1 + int(how.longer.size()) * (2 + rounds_of(model, how) * in_round(how));
  int done = 0, length = how.shortest;
  const std::function<void()> pass = [&] {
    if (++done; step) step(done, passes, length);
  };

  Alignment made;
  made.target = dispersion(model, how.shortest, plain(), aligned_on);
  made.temperatures = {model.layers, model.heads, {}, double(model.keys(how.shortest)), {}};
  for (int n = 0; how.mode != AlignMode::log && n < rounds_of(model, how) * groups_of(model, how); ++n)
    figure(how, made.target, n / groups_of(model, how), n % groups_of(model, how));  // refused before the long passes
  pass();
  for (const int next : how.longer) {
    length = next;
    made.lengths.push_back(AtOne(model, how, made, length, pass).find());
    made.temperatures.lengths.push_back(made.lengths.back().found);
  }
  return made;
}

// The passes are at temperature 1, in each round, and at the end. On a grid, temperature 1 is already known and, by
// layer or head, so is one temperature of each later round.
Taken alignment_takes(const Probed& model, const Aligning& how) {
  const int rounds = rounds_of(model, how), each = in_round(how);
  const int passes = each > 1 ? 1 + rounds * each - (rounds - 1) : 2 + rounds * each;
  Taken all = model.forward(how.shortest).seen(model.inputs);
  for (const int length : how.longer) all.then(model.forward(length).seen(model.inputs).times(passes));
  return all;
}

double log_rule(double short_keys, double long_keys) { return std::log(short_keys) / std::log(long_keys); }

// tau^2 ln(P L) - tau b + variance / 2 = 0 at the long length. b, the logit of the largest weight, is
// ln(P L) + variance / 2 at the short one. The larger root; without one, P(tau) is largest at variance / b.
Proposition1 proposition1(double weight, double short_keys, double short_variance, double long_keys,
                          double long_variance) {
  const double b = std::log(weight * short_keys) + short_variance / 2, a = std::log(weight * long_keys);
  const double under_root = b * b - 2 * long_variance * a;
  if (under_root < 0) return {long_variance / b, false};
  return {(b + std::sqrt(under_root)) / (2 * a), true};
}

// ln L - variance / (2 tau^2) is the same at both lengths
double proposition2(double short_keys, double short_variance, double long_keys, double long_variance) {
  return std::sqrt(long_variance / (short_variance + 2 * std::log(long_keys / short_keys)));
}

std::string weights_checksum(const Params& params) {
  Checksum sum;
  for (const Params::Entry& entry : params.entries())
    for (const real x : entry.tensor.values()) {
      const auto value = float(x);
      sum.add(&value, sizeof value);
    }
  return sum.digits();
}

void check_aligned(const Chosen<TemperaturePolicy>& policy, const std::function<std::string()>& weights) {
  const std::string of = policy->name == "aligned" ? read_aligned(policy.choices["of"]).weights : "";
  if (of.empty()) return;
  if (const std::string here = weights(); of != here)
    bad_input("temperature aligned: it belongs to weights {}, but this model has {}; align it with `poslab align`", of,
              here);
}

void check_aligned(const Chosen<TemperaturePolicy>& policy, const Params& params) {
  check_aligned(policy, [&] { return weights_checksum(params); });
}

}  // namespace poslab
