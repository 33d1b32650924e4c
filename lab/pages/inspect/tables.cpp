#include <fmt/format.h>

#include <cmath>

#include "lab/pages/inspect/figures.h"

namespace poslab::inspect {

namespace {

std::string pca_csv(const std::string& run, const Inside& inside) {
  const Pca& p = inside.pca;
  std::string text;
  for (size_t layer = 0; layer < p.layers.size(); ++layer)
    for (size_t n = 0; n < p.lengths.size(); ++n) {
      const PcaLayer& at = p.layers[layer];
      text += fmt::format("{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f}\n", run, layer + 1, p.lengths[n],
                          at.clouds[n].at.size() / 2, p.accuracy[n], at.clouds[n].outside, at.map.share[0],
                          at.map.share[1]);
    }
  return text;
}

std::string dispersion_csv(const std::string& run, const Inside& inside) {
  const Dispersed& d = inside.dispersed;
  std::string text;
  for (size_t n = 0; n < d.lengths.size(); ++n)
    for (int layer = 0; layer < d.at[n].layers; ++layer)
      for (int head = 0; head < d.at[n].heads; ++head) {
        const RowMeans& m = d.at[n].of(layer, head);
        text += fmt::format("{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g}\n", run, layer + 1, head + 1, d.lengths[n],
                            d.at[n].keys, m.largest_weight, m.entropy, m.largest_logit, m.variance);
      }
  return text;
}

std::string logits_csv(const std::string& run, const Inside& inside) {
  const Dispersed& d = inside.dispersed;
  std::string text;
  for (size_t n = 0; n < d.sorted.size(); ++n)
    for (size_t k = 0; k < d.sorted[n].size(); ++k)
      text += fmt::format("{},{},{:.6g},{:.6g}\n", run, d.shown[n],
                          normal_quantile((double(k) + 0.5) / double(d.sorted[n].size())), d.sorted[n][k]);
  return text;
}

// The biases of visible keys.
std::string biases_csv(const std::string& run, const Inside& inside) {
  const Biases& b = inside.biases;
  std::string text;
  for (size_t e = 0; e < b.of.size(); ++e)
    if (!std::isnan(b.of[e]))
      text += fmt::format("{},{},{},{},{:.6g}\n", run, int(e) / b.keys + 1, b.query, int(e) % b.keys, b.of[e]);
  return text;
}

std::string coverage_csv(const std::string& run, const Inside& inside) {
  const Coverage& c = inside.coverage;
  std::string text;
  const char* kind = c.counted == Reads::positions ? "position" : "distance";
  const auto add = [&](const std::string& where, const Histogram& counts) {
    for (const auto& [value, n] : counts)
      text += fmt::format("{},{},{},{},{},{}\n", run, kind, where, value, n, int(c.trained.count(value)));
  };
  add("training", c.trained);
  for (const Coverage::Test& test : c.tests) add(fmt::format("length {}", test.length), test.met);
  return text;
}

}  // namespace

const std::vector<Csv> csv_files = {
    {"dispersion.csv", "run,layer,head,length,keys,largest_weight,entropy,largest_logit,variance", dispersion_csv},
    {"logits.csv", "run,length,normal,logit", logits_csv},  // quantiles of the sorted logits of layer 1
    {"biases.csv", "run,head,query,key,bias", biases_csv},  // in layer 1
    {"pca.csv", "run,layer,length,points,accuracy,outside,share1,share2", pca_csv, true},
    {"coverage.csv", "run,kind,met_in,value,count,seen_in_training", coverage_csv, true}};

std::vector<Array> pca_arrays(const std::string& run, const Pca& p) {
  std::vector<Array> all;
  for (size_t layer = 0; layer < p.layers.size(); ++layer) {
    const auto& [map, clouds] = p.layers[layer];
    const int C = int(map.mean.size());
    const auto add = [&](const std::string& name, const Shape& shape, const std::vector<double>& values) {
      all.push_back({fmt::format("{}/layer{}/{}", run, layer + 1, name), shape, {values.begin(), values.end()}});
    };
    for (size_t n = 0; n < clouds.size(); ++n)
      add(fmt::format("length{}", p.lengths[n]), {int(clouds[n].at.size() / 2), 2}, clouds[n].at);
    add("mean", {C}, map.mean), add("axes", {2, C}, map.axes), add("share", {C}, map.share);
  }
  return all;
}

std::vector<Array> attention_arrays(const std::string& run, const std::vector<AttentionMaps>& all) {
  std::vector<Array> arrays;
  for (const AttentionMaps& maps : all)
    for (size_t layer = 0; layer < maps.layers.size(); ++layer)
      arrays.push_back({fmt::format("{}/layer{}/length{}", run, layer + 1, maps.length),
                        {maps.slots, maps.slots},
                        maps.layers[layer]});
  return arrays;
}

}  // namespace poslab::inspect
