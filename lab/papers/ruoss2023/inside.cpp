// Measurements of the trained models of figures 2, 5 and 6, and the coverage of positions.
#include <algorithm>

#include "experiment/lengths.h"
#include "lab/files/files.h"
#include "lab/pages/inspect/figures.h"
#include "lab/papers/measured.h"
#include "lab/papers/ruoss2023/ruoss2023.h"
#include "lab/runs/run_folder.h"

namespace poslab::reproduce::ruoss2023 {
namespace {

using namespace inspect;

constexpr int strings = 30;  // 30 x 40 answer slots: 1200 points

// `measure` adds the arrays of each model to FOLDER/FILE, and returns its numbers.
template <class Measure>
Json of_models(const Outcomes& outcomes, const std::string& file, const Measure& measure) {
  std::vector<Array> arrays;
  Json all = Json::array();
  for (const Outcome& o : outcomes.done()) {
    Json one = measure(RunFolder::open(o.folder).load("cpu"), arrays);
    one["id"] = o.trial->id;
    all.push_back(std::move(one));
  }
  if (!arrays.empty()) write_file(file, npz(arrays));
  return {{"models", all}};
}

}  // namespace

// tests.jsonl of each run (lab/runs/curve.h).
Json curves(const Outcomes& outcomes, const Choices&, const std::string&) {
  Json all = Json::object();
  for (const Outcome& o : outcomes.done()) all[o.trial->id] = read_steps(o.folder + "/tests.jsonl", {"seconds"});
  return {{"tests", all}};
}

Json clouds(const Outcomes& outcomes, const Choices&, const std::string& folder) {
  return of_models(outcomes, folder + "/fig5.npz", [](const State& state, std::vector<Array>& arrays) {
    const Pca p = pca(state, paper_lengths(state.config), strings);
    for (Array& array : pca_arrays(state.config["positions"], p)) arrays.push_back(std::move(array));
    Json layers = Json::array();
    for (const PcaLayer& layer : p.layers) {
      Json outside = Json::array();
      for (const Cloud& cloud : layer.clouds) outside.push_back(cloud.outside);
      layers.push_back({{"outside", outside}, {"share", {layer.map.share[0], layer.map.share[1]}}});
    }
    return Json{{"lengths", p.lengths}, {"accuracy", p.accuracy}, {"layers", layers}};
  });
}

Json maps(const Outcomes& outcomes, const Choices&, const std::string& folder) {
  return of_models(outcomes, folder + "/fig6.npz", [](const State& state, std::vector<Array>& arrays) {
    const std::vector<int> lengths = paper_lengths(state.config);
    for (Array& array : attention_arrays(state.config["positions"], attention_maps(state, lengths)))
      arrays.push_back(std::move(array));
    return Json{{"lengths", lengths}};
  });
}

Json coverage(const Outcomes&, const Choices& defaults, const std::string&) {
  Json all = Json::array();
  for (const char* positions : {"sequential", "randomized"})
    for (const char* encoding : {"sincos", "relative", "alibi", "rope", "learned"}) {
      Choices c = defaults;
      c.set("task", "reverse_string"), c.set("encoding", encoding), c.set("positions", positions);
      std::vector<int> lengths = paper_lengths(RunSpec(c));
      lengths.push_back(c.lengths("eval_lengths").to);
      std::sort(lengths.begin(), lengths.end());
      lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
      const Coverage met = poslab::coverage(RunSpec(c), lengths);
      Json one = {{"encoding", encoding},
                  {"positions", positions},
                  {"kind", met.counted == Reads::distances ? "distance" : "position"},
                  {"steps", met.steps},
                  {"tests", Json::array()}};
      const bool drawn = c["encoding"] == "relative";
      if (drawn) one["trained"] = counts(met.trained);
      for (const Coverage::Test& t : met.tests) {
        one["tests"].push_back({{"length", t.length}, {"seen", t.seen}});
        if (drawn) one["tests"].back()["met"] = counts(t.met);
      }
      all.push_back(std::move(one));
    }
  return {{"schemes", all}};
}

}  // namespace poslab::reproduce::ruoss2023
