// The tables: ours, its interval over the seeds, and the source's number.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiment/language/options.h"
#include "experiment/t5/t5.h"
#include "lab/reproduce/chi2023.h"
#include "lab/reproduce/paper.h"
#include "tasks/retrieval/retrieval.h"

namespace poslab::reproduce::chi2023 {
namespace {

std::string short_task(const std::string& spelled) { return choose_retrieval(spelled).thing.name; }

// With `digits` behind the point.
std::string figure_text(double x, int digits) { return std::isnan(x) ? "–" : fmt::format("{:.{}f}", x, digits); }
std::string interval_of(const BySeed& all, int digits) {
  const Interval i = bootstrap(values(all));
  return std::isnan(i.low) ? "" : fmt::format("[{:.{}f}, {:.{}f}]", i.low, digits, i.high, digits);
}
Cell figure_cell(const BySeed& ours, double source, int digits) {
  std::string below = interval_of(ours, digits);
  if (!std::isnan(source)) below += fmt::format("{}source {:.2f}", below.empty() ? "" : "\n", source);
  return {figure_text(mean(ours), digits), below};
}
Cell share_cell(const BySeed& ours) { return {points(mean(ours)), interval_text(bootstrap(values(ours)), false)}; }

std::vector<nlohmann::json> with_interval(std::vector<nlohmann::json> row, const BySeed& ours, double source) {
  const Interval i = bootstrap(values(ours));
  for (const nlohmann::json& x :
       {nlohmann::json(ours.size()), number(mean(ours)), number(i.low), number(i.high), number(source)})
    row.push_back(x);
  return row;
}
Table data_with(std::vector<std::string> columns) {
  for (const char* c : {"seeds", "value", "interval_low", "interval_high", "source"}) columns.push_back(c);
  return {columns, {}};
}

// The trained length and the longest, of each task.
struct Figure {
  const char *name, *source, *title;  // in the files of alignments; the source's column
  int digits;
};
Section at_both_ends(const Results& r, const std::vector<Figure>& figures, bool first_layer) {
  Section s;
  const Setup& setup = r.setup();
  const int longest = setup.longer().back();
  s.data = data_with({"task", "length", "figure"});
  Grid grid{"Ours, its interval, and the source's at 512 and 15,000 tokens", {"task, tokens"}, {}};
  for (const Figure& f : figures) grid.head.push_back(f.title);
  for (const std::string& task : setup.tasks())
    for (const int length : {setup.length(), longest}) {
      const bool is_short = length == setup.length();
      std::vector<Cell> row = {{fmt::format("{}, {}", short_task(task), length)}};
      for (const Figure& f : figures) {
        const BySeed ours =
            r.figure({model_of(task), task, Mode::pmax, false}, is_short ? 0 : length, f.name, first_layer);
        const double theirs =
            paper_value("chi2023_dispersion", fmt::format("{} {}", short_task(task), is_short ? 512 : 15000), f.source);
        row.push_back(figure_cell(ours, theirs, f.digits));
        s.data.rows.push_back(with_interval({short_task(task), length, f.source}, ours, theirs));
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
    const Test t{model_of(task), task, Mode::pmax, false};
    const double a = mean(r.figure(t, 0, name, first_layer)),
                 b = mean(r.figure(t, r.setup().longer().back(), name, first_layer));
    up += b > a, down += b < a;
  }
  return fmt::format("rises in {} of {} tasks and falls in {}", up, r.setup().tasks().size(), down);
}

// How much a mode adds to the unaligned model, paired by seed.
Cell against(const BySeed& ours, const BySeed& original) {
  const Paired more = paired(ours, original);
  if (!more.seeds) return {points(mean(ours))};
  return {points(mean(ours)), fmt::format("{} {}", signed_points(more.mean), interval_text(more.interval, true)),
          more.interval.excludes(0)};
}

std::string added_words(const BySeed& more) {
  const Interval i = bootstrap(values(more));
  return fmt::format("{} points{}{}{}", signed_points(mean(more)), std::isnan(i.low) ? "" : " ", interval_text(i, true),
                     i.low > 0    ? ", better"
                     : i.high < 0 ? ", worse"
                                  : ", which cannot be told from nothing");
}

// Mean over tasks and lengths, by seed, of those that all have.
// model: "" for the T5 of each task
BySeed over_all(const Results& r, const std::string& model, const std::vector<std::string>& tasks,
                const std::vector<int>& lengths, Mode mode) {
  std::vector<BySeed> all;
  for (const std::string& task : tasks)
    for (const int length : lengths)
      all.push_back(r.accuracy({model.empty() ? model_of(task) : model, task, mode, true}, length));
  return gap_shift::average(all);
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
  s.data = data_with({"task", "mode", "length"});
  Grid grid{"Temperatures that algorithm 1 finds, mean over the seeds", {"task, mode"}, {}};
  for (const int length : setup.longer()) grid.head.push_back(fmt::format("{}", length));
  int columns = 0, falling = 0, ordered = 0;
  for (const std::string& task : setup.tasks())
    for (const Mode mode : {Mode::pmax, Mode::entropy}) {
      std::vector<Cell> row = {{fmt::format("{}, {}", short_task(task), name_of(mode))}};
      double before = 1;
      bool falls = true;
      for (const int length : setup.longer()) {
        const BySeed ours = r.temperature({model_of(task), task, mode, false}, length);
        row.push_back({figure_text(mean(ours), 2), interval_of(ours, 2)});
        s.data.rows.push_back(with_interval({short_task(task), name_of(mode), length}, ours, std::nan("")));
        falls &= !(mean(ours) > before + 1e-9), before = mean(ours);
        if (mode == Mode::entropy && !ours.empty())
          ++columns,
              ordered += mean(ours) <= mean(r.temperature({model_of(task), task, Mode::pmax, false}, length)) + 1e-9;
      }
      falling += falls;
      grid.rows.push_back(std::move(row));
    }
  Grid theirs{"The source's, for inputs that grow from left to right", {"model, task, mode"}, {}};
  for (int n = 1; n <= 6; ++n) theirs.head.push_back(fmt::format("{}", n));
  for (const char* model : {"large", "xl", "xxl"})
    for (const char* task : {"topic", "line", "passkey"})
      for (const char* mode : {"pmax", "entropy"}) {
        std::vector<Cell> row = {{fmt::format("Flan-T5-{}, {}, {}", model, task, mode)}};
        for (int n = 1; n <= 6; ++n)
          row.push_back({figure_text(
              paper_value("chi2023_temperatures", fmt::format("{} {} {}", model, mode, task), fmt::format("{}", n)),
              2)});
        theirs.rows.push_back(std::move(row));
      }
  s.readings = {
      fmt::format("The source's order: temperatures fall with the length, and entropy asks for lower ones than "
                  "maximum probability. Here they never rise in {} of {} rows, and entropy's are not above "
                  "those of maximum probability in {} of {} cells.",
                  falling, grid.rows.size(), ordered, columns)};
  s.grids = {grid, theirs};
  s.notes = {"The grid is 1.0, 0.95, ..., 0.5, and the same temperature acts in all layers and heads of the encoder.",
             "The source's lengths: 5 to 25 topics, 200 to 680 lines, 20,000 to 55,000 characters of filler; 15,000 "
             "tokens at most. One of its numbers is lost."};
  return s;
}

Section retrieval(const Results& r) {
  Section s;
  const Setup& setup = r.setup();
  const std::vector<std::string> tasks = setup.tasks();
  const std::vector<Mode> modes = {Mode::original, Mode::log, Mode::pmax, Mode::entropy};
  s.data = data_with({"task", "mode", "length"});
  Grid grid{"Answers that are right, in %, and how many more than without alignment", {"task, mode"}, {}};
  std::vector<int> lengths = {setup.length()};
  for (const int length : setup.longer()) lengths.push_back(length);
  for (const int length : lengths)
    grid.head.push_back(fmt::format("{}{}", length, length == lengths[0] ? " (trained)" : ""));
  for (const std::string& task : tasks)
    for (const Mode mode : modes) {
      std::vector<Cell> row = {{fmt::format("{}, {}", short_task(task), name_of(mode))}};
      for (const int length : lengths) {
        const BySeed ours = r.accuracy({model_of(task), task, mode, true}, length),
                     plain = r.accuracy({model_of(task), task, Mode::original, true}, length);
        row.push_back(mode == Mode::original ? share_cell(ours) : against(ours, plain));
        s.data.rows.push_back(with_interval({short_task(task), name_of(mode), length}, ours, std::nan("")));
      }
      grid.rows.push_back(std::move(row));
    }
  const BySeed plain = over_all(r, "", tasks, setup.longer(), Mode::original);
  if (!plain.empty()) {
    s.readings.push_back(
        fmt::format("Without alignment {} % of the answers are right at the trained length, and {} % "
                    "beyond it, mean over tasks and lengths.",
                    points(mean(over_all(r, "", tasks, {setup.length()}, Mode::original))), points(mean(plain))));
    for (const Mode mode : {Mode::log, Mode::pmax, Mode::entropy})
      if (const BySeed ours = over_all(r, "", tasks, setup.longer(), mode); !ours.empty())
        s.readings.push_back(fmt::format("{}: {}.", name_of(mode), added_words(difference(ours, plain))));
  }
  s.grids = {grid};
  s.notes = {poslab::about_intervals(setup.seeds) + " Bold: the interval of the difference excludes zero.",
             "The source prints most of its table in a form that did not survive; with maximum probability its models "
             "are mostly near 100 %."};
  if (!setup.note.empty()) s.notes.push_back(setup.note);
  return s;
}

Section encodings(const Results& r) {
  Section s;
  const Setup& setup = r.setup();
  s.data = data_with({"encoding", "task", "mode", "length"});
  Grid grid{"Answers that are right, in %: as trained, and aligned by maximum probability", {"encoding, mode"}, {}};
  std::vector<int> lengths = {setup.length()};
  for (const int length : setup.longer()) lengths.push_back(length);
  for (const int length : lengths)
    grid.head.push_back(fmt::format("{}{}", length, length == lengths[0] ? " (trained)" : ""));
  const std::vector<std::pair<const char*, const char*>> all = {
      {"t5", "T5's biases"}, {"rope", "RoPE"}, {"alibi", "ALiBi"}, {"learned", "learned positions"}};
  for (const auto& [model, name] : all) {
    for (const Mode mode : {Mode::original, Mode::pmax}) {
      std::vector<Cell> row = {{fmt::format("{}, {}", name, name_of(mode))}};
      for (const int length : lengths) {
        const BySeed ours = over_all(r, model, setup.learned_together(), {length}, mode),
                     plain = over_all(r, model, setup.learned_together(), {length}, Mode::original);
        row.push_back(mode == Mode::original ? share_cell(ours) : against(ours, plain));
        for (const std::string& task : setup.learned_together())
          s.data.rows.push_back(with_interval({name, short_task(task), name_of(mode), length},
                                              r.accuracy({model, task, mode, true}, length), std::nan("")));
      }
      grid.rows.push_back(std::move(row));
    }
    const BySeed plain = over_all(r, model, setup.learned_together(), setup.longer(), Mode::original),
                 ours = over_all(r, model, setup.learned_together(), setup.longer(), Mode::pmax);
    if (!plain.empty() && !ours.empty())
      s.readings.push_back(fmt::format("{}: {} % beyond the trained length, aligned {}.", name, points(mean(plain)),
                                       added_words(difference(ours, plain))));
  }
  s.grids = {grid};
  s.notes = {
      "Mean over the tasks. Encoder and decoder have the same encoding. The source's table says which models have "
      "which; here the same small model is trained with each.",
      poslab::about_intervals(setup.seeds)};
  return s;
}

Section documents(const Results& r) {
  Section s;
  const Setup& setup = r.setup();
  const std::string model = "documents", task = model;
  s.data = data_with({"mode", "length", "place"});
  const std::vector<Mode> modes = {Mode::original, Mode::pmax, Mode::entropy};
  std::vector<int> lengths = {setup.length()};
  for (const int length : setup.longer()) lengths.push_back(length);
  for (const int length : lengths) {
    Grid grid{fmt::format("{} tokens: answers that are right, in %, by where the answer stands, first eighth to last",
                          length),
              {"mode"},
              {}};
    for (int p = 0; p < t5::places; ++p) grid.head.push_back(fmt::format("{}/8", p + 1));
    grid.head.push_back("all");
    for (const Mode mode : modes) {
      std::vector<Cell> row = {{name_of(mode)}};
      for (int p = 0; p <= t5::places; ++p) {
        const int part = p == t5::places ? -1 : p;
        const BySeed ours = r.accuracy({model, task, mode, true}, length, part),
                     plain = r.accuracy({model, task, Mode::original, true}, length, part);
        row.push_back(mode == Mode::original ? share_cell(ours) : against(ours, plain));
        s.data.rows.push_back(with_interval(
            {name_of(mode), length, part < 0 ? nlohmann::json("all") : nlohmann::json(p)}, ours, std::nan("")));
      }
      grid.rows.push_back(std::move(row));
    }
    s.grids.push_back(std::move(grid));
  }
  Grid theirs{"The source's, by the place of the document with the answer", {"Flan-T5, mode, documents"}, {}};
  const std::vector<int> places = {0, 4, 9, 14, 19, 24, 29};
  for (const int p : places) theirs.head.push_back(fmt::format("{}", p));
  for (const char* model : {"large", "xl", "xxl"})
    for (const char* mode : {"original", "pmax", "entropy"})
      for (const int n : {10, 20, 30}) {
        std::vector<Cell> row = {{fmt::format("{}, {}, {}", model, mode, n)}};
        for (const int p : places)
          row.push_back({figure_text(
              paper_value("chi2023_documents", fmt::format("{} {} {}", model, mode, n), fmt::format("{}", p)), 1)});
        theirs.rows.push_back(std::move(row));
      }
  s.grids.push_back(std::move(theirs));
  const auto at = [&](int part) {
    return mean(r.accuracy({model, task, Mode::original, true}, setup.longer().back(), part));
  };
  const double ends = (at(0) + at(t5::places - 1)) / 2, middle = (at(t5::places / 2 - 1) + at(t5::places / 2)) / 2;
  if (!std::isnan(ends + middle))
    s.readings.push_back(
        fmt::format("At {} tokens {} % are right where the answer stands at either end, and {} % where it "
                    "stands in the middle.",
                    setup.longer().back(), points(ends), points(middle)));
  s.notes = {
      "Here a document is a pair of name and number among others, and the question names one of them. "
      "The source has documents of Natural Questions, and the place is that of the one with the answer.",
      poslab::about_intervals(setup.seeds)};
  return s;
}

Section perplexity(const Results& r) {
  Section s;
  const Choices c = language::configure(r.setup().lm);
  s.data = data_with({"mode", "length"});
  Grid grid{"Perplexity, exp of the loss", {"mode"}, {}};
  const std::vector<int> lengths = language::eval_lengths(c);
  for (const int length : lengths)
    grid.head.push_back(fmt::format("{}{}", length, length == c.whole("train_length") ? " (trained)" : ""));
  std::vector<BySeed> longest;
  for (const Mode mode : {Mode::original, Mode::pmax, Mode::entropy}) {
    std::vector<Cell> row = {{name_of(mode)}};
    for (const int length : lengths) {
      BySeed ours = r.loss({"lm", "", mode, true}, length);
      for (auto& [seed, x] : ours) x = std::exp(x);
      row.push_back({figure_text(mean(ours), 2), interval_of(ours, 2)});
      s.data.rows.push_back(with_interval({name_of(mode), length}, ours, std::nan("")));
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
