// How peaked attention is, and which temperature mends it: tables 1 (dispersion), 5 (temperatures) and 7 (logits).
#include <fmt/format.h>

#include "experiment/align.h"
#include "lab/papers/chi2023/cells.h"
#include "lab/papers/paper.h"

namespace poslab::reproduce::chi2023 {
namespace {

// The trained length and the longest, of each task.
struct Figure {
  const char *name, *source, *title;  // in the files of alignments; the source's column
  int digits;
};
Section at_both_ends(const Results& r, const std::vector<Figure>& figures, bool first_layer) {
  Section s;
  const Setup& setup = r.setup();
  const int longest = setup.longer().back();
  s.data = data_of({"task", "length", "figure"});
  Grid grid{"Ours, its interval, and the source's at 512 and 15,000 tokens", {"task, tokens"}, {}};
  for (const Figure& f : figures) grid.head.push_back(f.title);
  for (const std::string& task : setup.tasks())
    for (const int length : {setup.length(), longest}) {
      const bool is_short = length == setup.length();
      std::vector<Cell> row = {{fmt::format("{}, {}", short_task(task), length)}};
      for (const Figure& f : figures) {
        const BySeed ours =
            r.figure({setup.model_of(task), task, Mode::pmax, false}, is_short ? 0 : length, f.name, first_layer);
        const double theirs =
            paper_value("chi2023_dispersion", fmt::format("{} {}", short_task(task), is_short ? 512 : 15000), f.source);
        row.push_back(figure_cell(ours, f.digits, theirs));
        add_data(s.data, {short_task(task), length, f.source}, ours, theirs);
      }
      grid.rows.push_back(std::move(row));
    }
  s.grids = {grid};
  s.notes = {poslab::about_intervals(setup.seeds)};
  return s;
}

// "falls in all tasks" and so on, from the means.
std::string change_of(const Results& r, const char* name, bool first_layer) {
  int up = 0, down = 0;
  for (const std::string& task : r.setup().tasks()) {
    const Test t{r.setup().model_of(task), task, Mode::pmax, false};
    const double a = mean(r.figure(t, 0, name, first_layer)),
                 b = mean(r.figure(t, r.setup().longer().back(), name, first_layer));
    up += b > a, down += b < a;
  }
  return fmt::format("rises in {} of {} tasks and falls in {}", up, r.setup().tasks().size(), down);
}

}  // namespace

Section dispersed(const Results& r) {
  Section s = at_both_ends(
      r, {{"largest_weight", "pmax", "maximum probability", 3}, {"entropy", "entropy", "entropy, nats", 2}}, false);
  s.readings = {fmt::format("From {} to {} tokens the maximum probability {}, and the entropy {}.", r.setup().length(),
                            r.setup().longer().back(), change_of(r, "largest_weight", false),
                            change_of(r, "entropy", false))};
  s.notes.push_back("Means over all layers, heads and queries of the encoder's self-attention.");
  return s;
}

Section largest_logits(const Results& r) {
  Section s = at_both_ends(r, {{"largest_logit", "lmax", "largest logit", 2}}, true);
  s.readings = {fmt::format("From {} to {} tokens the largest logit of the first layer {}.", r.setup().length(),
                            r.setup().longer().back(), change_of(r, "largest_logit", true))};
  s.notes.push_back(
      "Mean over the heads and queries of the first layer, of the largest logit of each. The source's is "
      "the largest of the averaged sorted logits, less their mean.");
  return s;
}

Section temperatures(const Results& r) {
  Section s;
  const Setup& setup = r.setup();
  s.data = data_of({"task", "mode", "length"});
  Grid grid{"Temperatures that algorithm 1 finds, mean over the seeds", {"task, mode"}, {}};
  add_heads(grid, setup.longer());
  const double lowest = Aligning().grid.back();
  int columns = 0, falling = 0, ordered = 0, cells = 0, at_end = 0;
  for (const std::string& task : setup.tasks()) {
    const std::string model = setup.model_of(task);
    for (const Mode mode : {Mode::pmax, Mode::entropy}) {
      std::vector<Cell> row = {{fmt::format("{}, {}", short_task(task), name_of(mode))}};
      double before = 1;
      bool falls = true;
      for (const int length : setup.longer()) {
        const BySeed ours = r.temperature({model, task, mode, false}, length);
        row.push_back(figure_cell(ours, 2));
        add_data(s.data, {short_task(task), name_of(mode), length}, ours);
        falls &= !(mean(ours) > before + 1e-9), before = mean(ours);
        cells += !ours.empty(), at_end += mean(ours) <= lowest + 1e-9;
        if (mode == Mode::entropy && !ours.empty())
          ++columns, ordered += mean(ours) <= mean(r.temperature({model, task, Mode::pmax, false}, length)) + 1e-9;
      }
      falling += falls;
      grid.rows.push_back(std::move(row));
    }
  }
  Grid theirs{"The source's, for inputs that grow from left to right", {"model, task, mode"}, {}};
  const std::vector<int> lengths = {1, 2, 3, 4, 5, 6};
  add_heads(theirs, lengths);
  for (const char* size : {"large", "xl", "xxl"})
    for (const char* task : {"topic", "line", "passkey"})
      for (const char* mode : {"pmax", "entropy"})
        theirs.rows.push_back(source_row(fmt::format("Flan-T5-{}, {}, {}", size, task, mode), "chi2023_temperatures",
                                         fmt::format("{} {} {}", size, mode, task), lengths, 2));
  s.readings = {
      fmt::format("The source's order: temperatures fall with the length, and entropy asks for lower ones than "
                  "maximum probability. Here they never rise in {} of {} rows, and entropy's are not above "
                  "those of maximum probability in {} of {} cells.",
                  falling, grid.rows.size(), ordered, columns)};
  if (at_end)
    s.readings.push_back(fmt::format("In {} of {} cells it is {}, the lowest of the grid: these might be lower still.",
                                     at_end, cells, lowest));
  s.grids = {grid, theirs};
  s.notes = {"The grid is 1.0, 0.95, ..., 0.5, and the same temperature acts in all layers and heads of the encoder.",
             "The source's lengths: 5 to 25 topics, 200 to 680 lines, 20,000 to 55,000 characters of filler; 15,000 "
             "tokens at most. One of its numbers is lost."};
  return s;
}

}  // namespace poslab::reproduce::chi2023
