// Which answers are right: tables 2 (encodings), 4 (retrieval) and 6 (documents).
#include <fmt/format.h>

#include "experiment/t5/t5.h"
#include "lab/papers/chi2023/cells.h"

namespace poslab::reproduce::chi2023 {
namespace {

// By seed, the mean over tasks and lengths, of the seeds that have all of them. model: "" for the one that learned each
// task.
BySeed over_all(const Results& r, const std::string& model, const std::vector<std::string>& tasks,
                const std::vector<int>& lengths, Mode mode) {
  std::vector<BySeed> all;
  for (const std::string& task : tasks)
    for (const int length : lengths)
      all.push_back(r.accuracy({model.empty() ? r.setup().model_of(task) : model, task, mode, true}, length));
  return gap_shift::average(all);
}

}  // namespace

Section encodings(const Results& r) {
  Section s;
  const Setup& setup = r.setup();
  const std::vector<std::string> tasks = setup.learned_together();
  s.data = data_of({"encoding", "task", "mode", "length"});
  Grid grid{"Answers that are right, in %: as trained, and aligned by maximum probability",
            {"task, encoding, mode"},
            {}};
  add_heads(grid, setup.lengths(), setup.length());
  for (const std::string& task : tasks)
    for (const auto& [model, name] : encoding_models())
      for (const Mode mode : {Mode::original, Mode::pmax}) {
        std::vector<Cell> row = {{fmt::format("{}, {}, {}", short_task(task), name, name_of(mode))}};
        for (const int length : setup.lengths()) {
          const auto of = [&, &model = model](Mode m) { return r.accuracy({model, task, m, true}, length); };
          row.push_back(accuracy_cell(mode, of));
          add_data(s.data, {name, short_task(task), name_of(mode), length}, of(mode));
        }
        grid.rows.push_back(std::move(row));
      }
  for (const auto& [model, name] : encoding_models()) {
    const auto mean_of = [&, &model = model](const std::vector<int>& lengths, Mode mode) {
      return over_all(r, model, tasks, lengths, mode);
    };
    const BySeed learned = mean_of({setup.length()}, Mode::original), plain = mean_of(setup.longer(), Mode::original),
                 ours = mean_of(setup.longer(), Mode::pmax);
    if (!learned.empty() && !plain.empty() && !ours.empty())
      s.readings.push_back(fmt::format("{}: {} % at the trained length, {} % beyond it, aligned {}.", name,
                                       points(mean(learned)), points(mean(plain)),
                                       added_words(difference(ours, plain))));
  }
  s.grids = {grid};
  s.notes = {
      "Encoder and decoder have the same encoding. The source's table says which models have which; here the same "
      "small model is trained with each.",
      poslab::about_intervals(setup.seeds)};
  return s;
}

Section retrieval(const Results& r) {
  Section s;
  const Setup& setup = r.setup();
  const std::vector<std::string> tasks = setup.tasks();
  s.data = data_of({"task", "mode", "length"});
  Grid grid{"Answers that are right, in %, and how many more than without alignment", {"task, mode"}, {}};
  add_heads(grid, setup.lengths(), setup.length());
  for (const std::string& task : tasks) {
    const std::string model = setup.model_of(task);
    for (const Mode mode : {Mode::original, Mode::log, Mode::pmax, Mode::entropy}) {
      std::vector<Cell> row = {{fmt::format("{}, {}", short_task(task), name_of(mode))}};
      for (const int length : setup.lengths()) {
        const auto of = [&](Mode m) { return r.accuracy({model, task, m, true}, length); };
        row.push_back(accuracy_cell(mode, of));
        add_data(s.data, {short_task(task), name_of(mode), length}, of(mode));
      }
      grid.rows.push_back(std::move(row));
    }
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
  return s;
}

Section documents(const Results& r) {
  Section s;
  const Setup& setup = r.setup();
  const std::string model = "documents", task = model;
  s.data = data_of({"mode", "length", "place"});
  for (const int length : setup.lengths()) {
    Grid grid{fmt::format("{} tokens: answers that are right, in %, by where the answer stands, first eighth to last",
                          length),
              {"mode"},
              {}};
    for (int p = 0; p < t5::places; ++p) grid.head.push_back(fmt::format("{}/8", p + 1));
    grid.head.push_back("all");
    for (const Mode mode : {Mode::original, Mode::pmax, Mode::entropy}) {
      std::vector<Cell> row = {{name_of(mode)}};
      for (int p = 0; p <= t5::places; ++p) {
        const int part = p == t5::places ? -1 : p;
        const auto of = [&](Mode m) { return r.accuracy({model, task, m, true}, length, part); };
        row.push_back(accuracy_cell(mode, of));
        add_data(s.data, {name_of(mode), length, part < 0 ? nlohmann::json("all") : nlohmann::json(p)}, of(mode));
      }
      grid.rows.push_back(std::move(row));
    }
    s.grids.push_back(std::move(grid));
  }
  Grid theirs{"The source's, by the place of the document with the answer", {"Flan-T5, mode, documents"}, {}};
  const std::vector<int> places = {0, 4, 9, 14, 19, 24, 29};
  add_heads(theirs, places);
  for (const char* size : {"large", "xl", "xxl"})
    for (const char* mode : {"original", "pmax", "entropy"})
      for (const int n : {10, 20, 30})
        theirs.rows.push_back(source_row(fmt::format("{}, {}, {}", size, mode, n), "chi2023_documents",
                                         fmt::format("{} {} {}", size, mode, n), places, 1));
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

}  // namespace poslab::reproduce::chi2023
