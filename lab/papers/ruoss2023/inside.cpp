// Figures 5 and 6, and the coverage of positions: what two trained models look like inside (lab/inspect/).
#include <fmt/format.h>

#include <algorithm>

#include "experiment/lengths.h"
#include "lab/pages/inspect/inspect.h"
#include "lab/papers/ruoss2023/ruoss2023.h"
#include "lab/runs/run_folder.h"

namespace poslab::reproduce::ruoss2023 {
namespace {

using namespace inspect;

constexpr int strings = 30;  // 30 x 40 answer slots: 1200 points

std::string name_of(const Choices& c) {
  for (const Column& column : columns())
    if (c["encoding"] == column.encoding && c["positions"] == column.positions) return column.name;
  return c["encoding"];
}

std::string lengths_text(const Choices& c) {
  const std::vector<int> lengths = paper_lengths(c);
  return fmt::format("Lengths {} and {}: the longest trained and 15/4 of it, as the paper's 40 and 150.", lengths[0],
                     lengths[1]);
}

}  // namespace

Section fig5(const Outcomes& outcomes, const Choices&) {
  Section s;
  std::vector<Array> arrays;
  s.data = {{"encoding", "positions", "layer", "length", "accuracy", "outside", "share1", "share2"}, {}};
  for (const Outcome& o : outcomes.done()) {
    const State state = RunFolder::open(o.folder).load("cpu");
    const Choices& c = state.config;
    const Pca p = pca(state, paper_lengths(c), strings);
    s.pictures.push_back({pca_figure(p, name_of(c))});
    for (Array& array : pca_arrays(c["positions"], p)) arrays.push_back(std::move(array));
    for (size_t layer = 0; layer < p.layers.size(); ++layer)
      for (size_t i = 0; i < p.lengths.size(); ++i)
        s.data.rows.push_back({c["encoding"], c["positions"], layer + 1, p.lengths[i], p.accuracy[i],
                               p.layers[layer].clouds[i].outside, p.layers[layer].map.share[0],
                               p.layers[layer].map.share[1]});
    const auto beyond_chance = [](const PcaLayer& l) { return l.clouds.back().outside - l.clouds.front().outside; };
    const auto farthest = std::max_element(p.layers.begin(), p.layers.end(),
                                           [&](auto& a, auto& b) { return beyond_chance(a) < beyond_chance(b); });
    s.readings.push_back(fmt::format(
        "{}: accuracy {} % at length {}, {} % at {}. The long strings leave the short ones' cloud most in layer {}: "
        "{} % of their points (by chance {} %).",
        name_of(c), points(p.accuracy.front()), p.lengths.front(), points(p.accuracy.back()), p.lengths.back(),
        farthest - p.layers.begin() + 1, points(farthest->clouds.back().outside),
        points(farthest->clouds.front().outside)));
    if (s.notes.empty()) s.notes.push_back(lengths_text(c));
  }
  s.notes.push_back(
      "Paper: the activations of Relative leave the cloud in layers 3 and 4. Its accuracies, recalled and not in our "
      "copy of it: R-Relative 100 % at length 40 and 99.4 % at 150, Relative 100 % and 59.6 %.");
  s.notes.push_back(how_many(outcomes));
  if (!arrays.empty()) s.arrays = npz(arrays);
  return s;
}

Section fig6(const Outcomes& outcomes, const Choices&) {
  Section s;
  std::vector<Array> arrays;
  s.data = {{"encoding", "positions", "layer", "length", "strongest", "mean_of_strongest_in_a_row"}, {}};
  for (const Outcome& o : outcomes.done()) {
    const State state = RunFolder::open(o.folder).load("cpu");
    const Choices& c = state.config;
    const std::vector<AttentionMaps> maps = attention_maps(state, paper_lengths(c));
    Picture picture{.id = fmt::format("attention-{}-{}", c["encoding"], c["positions"]),
                    .panels = attention_panels(maps)};
    picture.html = attention_figure(maps, name_of(c), picture.id, picture.data);
    s.pictures.push_back(std::move(picture));
    for (Array& array : attention_arrays(c["positions"], maps)) arrays.push_back(std::move(array));
    for (const AttentionMaps& m : maps)
      for (size_t layer = 0; layer < m.layers.size(); ++layer) {
        const std::vector<float>& a = m.layers[layer];
        double sum = 0;
        for (int i = 0; i < m.slots; ++i)
          sum += *std::max_element(a.begin() + i * m.slots, a.begin() + (i + 1) * m.slots);
        s.data.rows.push_back({c["encoding"], c["positions"], layer + 1, m.length,
                               double(*std::max_element(a.begin(), a.end())), sum / m.slots});
      }
    if (s.notes.empty()) s.notes.push_back(lengths_text(c));
  }
  s.notes.push_back(how_many(outcomes));
  if (!arrays.empty()) s.arrays = npz(arrays);
  return s;
}

Section coverage(const Outcomes&, const Choices& defaults) {
  Section s;
  s.data = {{"encoding", "positions", "kind", "length", "seen"}, {}};
  Grid grid{
      "Share in % of the test's slots (sin/cos, learned) or pairs of slots (relative, ALiBi, RoPE) whose position or "
      "distance came up in training",
      {"encoding"},
      {}};
  for (const Column& column : columns()) {
    if (column.encoding == "none") continue;
    Choices c = defaults;
    c.set("task", "reverse_string"), c.set("encoding", column.encoding), c.set("positions", column.positions);
    std::vector<int> lengths = paper_lengths(c);
    lengths.push_back(c.lengths("eval_lengths").to);
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    const Coverage met = coverage(c, lengths);
    std::vector<Cell> row = {{column.name}};
    for (const Coverage::Test& t : met.tests) {
      if (grid.head.size() <= met.tests.size()) grid.head.push_back(fmt::format("length {}", t.length));
      row.push_back({points(t.seen)});
      s.data.rows.push_back({column.encoding, column.positions,
                             met.counted == Reads::distances ? "distance" : "position", t.length, t.seen});
    }
    grid.rows.push_back(std::move(row));
    if (column.encoding == "relative") {
      Picture picture{.id = "coverage-" + column.positions};
      picture.panels = {coverage_chart(met, column.name, picture.id)};
      picture.html = coverage_figure(met, column.name, picture.id, picture.data);
      s.pictures.push_back(std::move(picture));
    }
  }
  s.grids = {grid};
  s.notes = {
      "Reverse String. Nothing is trained for this table: lengths and positions are drawn as in training. 2,000 steps "
      "are counted, spread over the training. The shares of a longer training are at least these."};
  return s;
}

}  // namespace poslab::reproduce::ruoss2023
