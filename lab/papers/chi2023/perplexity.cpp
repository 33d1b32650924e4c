// Table 3: the perplexity of the language model.
#include <fmt/format.h>

#include <cmath>

#include "experiment/language/options.h"
#include "lab/papers/chi2023/cells.h"

namespace poslab::reproduce::chi2023 {

Section perplexity(const Results& r) {
  Section s;
  const Choices c = language::configure(r.setup().lm);
  s.data = data_of({"mode", "length"});
  Grid grid{"Perplexity, exp of the loss", {"mode"}, {}};
  const std::vector<int> lengths = language::eval_lengths(c);
  add_heads(grid, lengths, c.whole("train_length"));
  std::vector<BySeed> longest;
  for (const Mode mode : {Mode::original, Mode::pmax, Mode::entropy}) {
    std::vector<Cell> row = {{name_of(mode)}};
    for (const int length : lengths) {
      BySeed ours = r.loss({"lm", "", mode, true}, length);
      for (auto& [seed, x] : ours) x = std::exp(x);
      row.push_back(figure_cell(ours, 2));
      add_data(s.data, {name_of(mode), length}, ours);
      if (length == lengths.back()) longest.push_back(ours);
    }
    grid.rows.push_back(std::move(row));
  }
  if (!longest[0].empty() && !longest[1].empty())
    s.readings = {
        fmt::format("At {} tokens the perplexity is {:.2f} without alignment, {:.2f} aligned by maximum "
                    "probability, and {:.2f} by entropy.",
                    lengths.back(), mean(longest[0]), mean(longest[1]), mean(longest[2]))};
  s.grids = {grid};
  s.notes = {
      fmt::format("The source has LM-adapted T5, whose encoder reads a text and whose decoder goes on. Here it is a "
                  "causal decoder with T5's biases, {} layers of width {}, {} steps of {} windows of {} tokens; "
                  "text: {}.",
                  c["layers"], c["d_model"], c["steps"], c["batch"], c["train_length"],
                  c["text"].empty() ? "the C++ headers of the compiler" : c["text"]),
      "The source's numbers did not survive; its perplexity explodes without alignment, and is lowest with maximum "
      "probability.",
      poslab::about_intervals(r.setup().seeds)};
  return s;
}

}  // namespace poslab::reproduce::chi2023
