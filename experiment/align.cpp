#include "experiment/align.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace poslab {
namespace {

using Taus = std::vector<double>;  // layers x heads

Chosen<TemperaturePolicy> policy_of(const AlignedTemperatures& a) {
  return choose_temperature("aligned:of=" + text_of(a));
}

Chosen<TemperaturePolicy> plain() { return choose_temperature("none"); }

// Of the layers and heads that share a temperature.
RowMeans of_group(const Dispersion& d, AlignPer per, int layer, int head) {
  return per == AlignPer::model ? d.of_model() : per == AlignPer::layer ? d.of_layer(layer) : d.of(layer, head);
}

// Alignment at one length, the shorter ones done.
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
    temperatures_.lengths.push_back({double(model.keys(length)), {}});
  }

  AlignedAt find() {
    AlignedAt made{length_, {double(model_.keys(length_)), {}}, 0, dispersion(model_, length_, plain()), {}};
    pass_();
    const bool at_once = how_.per == AlignPer::model;
    for (int layer = 0; layer < (at_once ? 1 : model_.layers); ++layer) {
      const int groups = how_.per == AlignPer::head ? model_.heads : 1;
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
    if (known != seen_.end()) return known->second;
    const Dispersion& made = seen_[key] = dispersion(model_, length_, policy);
    pass_();
    return made;
  }

  // This layer, or all if they share a temperature, at tau; what was found stays.
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
      const double RowMeans::*figure = how_.mode == AlignMode::pmax ? &RowMeans::largest_weight : &RowMeans::entropy;
      Taus least(size_t(groups), INFINITY);
      for (const double tau : how_.grid) {
        const Dispersion& d = measured_at(tau, layer);
        for (int g = 0; g < groups; ++g) {
          const double off =
              std::abs(of_group(d, how_.per, layer, g).*figure - of_group(target_, how_.per, layer, g).*figure);
          if (off < least[size_t(g)]) least[size_t(g)] = off, best[size_t(g)] = tau;
        }
      }
    } else {
      const Dispersion& d = measured_at(1, layer);
      for (int g = 0; g < groups; ++g) {
        // of the whole model: its first layer, as the propositions have it
        const AlignPer per = how_.per == AlignPer::model ? AlignPer::layer : how_.per;
        const RowMeans from = of_group(target_, per, layer, g), to = of_group(d, per, layer, g);
        if (how_.mode == AlignMode::prop2) {
          best[size_t(g)] = proposition2(short_keys, from.variance, long_keys, to.variance);
        } else {
          const Proposition1 p = proposition1(from.largest_weight, short_keys, from.variance, long_keys, to.variance);
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

void check(const Probed& model, const Aligning& how) {
  int before = how.shortest;
  if (how.longer.empty()) bad_input("align: no long length; name one or more, as in --long 256,1024");
  for (const int length : how.longer) {
    if (length <= before)
      bad_input("align: the long length {} is not above {}; let lengths rise from the short one", length, before);
    before = length;
  }
  if (how.shortest < 1 || model.keys(how.shortest) < 2)
    bad_input("align: the short length {} has fewer than 2 keys; take a trained one", how.shortest);
  for (const double tau : how.grid)
    if (!(tau >= 0.001 && tau <= 1000)) bad_input("align: {} in the grid; temperatures are 0.001 to 1000", tau);
  if (how.grid.empty()) bad_input("align: the grid has no temperature; leave it out for 1.0, 0.95, ..., 0.5");
}

}  // namespace

const std::vector<std::string>& align_modes() {
  static const std::vector<std::string> names = {"pmax", "entropy", "log", "prop1", "prop2"};
  return names;
}
const std::vector<std::string>& align_groups() {
  static const std::vector<std::string> names = {"model", "layer", "head"};
  return names;
}

Alignment align(const Probed& model, const Aligning& asked, const std::function<void(int, int, int)>& step) {
  check(model, asked);
  Aligning how = asked;
  std::sort(how.grid.rbegin(), how.grid.rend());  // of two that are as near, the larger one
  const bool grid = how.mode == AlignMode::pmax || how.mode == AlignMode::entropy;
  const int rounds = how.per == AlignPer::model ? 1 : model.layers;
  const int passes = 1 + int(how.longer.size()) * (2 + rounds * (grid ? int(how.grid.size()) : 1));
  int done = 0, length = how.shortest;
  const std::function<void()> pass = [&] {
    if (++done; step) step(done, passes, length);
  };

  Alignment made;
  made.target = dispersion(model, how.shortest, plain());
  made.temperatures = {model.layers, model.heads, {}, double(model.keys(how.shortest)), {}};
  pass();
  if (how.mode >= AlignMode::prop1 && std::isnan(made.target.of_model().variance))
    bad_input("align --mode {}: the run's encoding has weights of its own and no logits; choose pmax or entropy",
              align_modes()[size_t(how.mode)]);
  for (const int next : how.longer) {
    length = next;
    made.lengths.push_back(AtOne(model, how, made, length, pass).find());
    made.temperatures.lengths.push_back(made.lengths.back().found);
  }
  return made;
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
  uint32_t hash = 0x811c9dc5;
  for (const Params::Entry& entry : params.entries())
    for (const real x : entry.tensor.values()) {
      const auto value = float(x);
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (bits >> 8 * byte & 255)) * 0x01000193;
    }
  return fmt::format("{:08x}", hash);
}

void check_aligned(const Chosen<TemperaturePolicy>& policy, const Params& params) {
  if (policy.thing.name != "aligned") return;
  const std::string of = read_aligned(policy.choices["of"]).weights, here = weights_checksum(params);
  if (!of.empty() && of != here)
    bad_input("temperature aligned: it is of weights {}, and this model has {}; align this one by `poslab align`", of,
              here);
}

}  // namespace poslab
