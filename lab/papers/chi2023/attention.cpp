// How peaked attention is, and which temperature mends it: tables 1 (dispersion), 5 (temperatures) and 7 (logits).
#include <fmt/format.h>

#include "experiment/align.h"
#include "lab/papers/chi2023/tables.h"
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
  struct At {
    std::string task;
    int length;
  };
  std::vector<At> at;
  for (const std::string& task : setup.tasks())
    for (const int length : {setup.length(), setup.longer().back()}) at.push_back({task, length});
  const auto row = [](const At& a) {
    return Line{{fmt::format("{}, {}", short_task(a.task), a.length)}, {short_task(a.task), a.length}};
  };
  const auto column = [](const Figure& f) { return Line{{f.title}, {f.source}}; };
  s.data = by_seed_table({"task", "length", "figure"});
  add(s, {"Ours, its interval, and the source's at 512 and 15,000 tokens", "task, tokens", lines(at, row),
          lines(figures, column), [&](size_t n, size_t k) {
            const auto& [task, length] = at[n];
            const Figure& f = figures[k];
            const bool is_short = length == setup.length();
            const std::string theirs = fmt::format("{} {}", short_task(task), is_short ? 512 : 15000);
            return with_source(
                r.figure({setup.model_of(task), task, Mode::pmax, false}, is_short ? 0 : length, f.name, first_layer),
                {1, f.digits}, paper_value("chi2023_dispersion", theirs, f.source));
          }});
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

std::vector<Line> of_lengths(const std::vector<int>& all, std::optional<int> trained) {
  return lines(all, [&](int n) { return Line{{fmt::format("{}{}", n, n == trained ? " (trained)" : "")}, {n}}; });
}

std::vector<Line> of_modes(const std::vector<Mode>& all) {
  return lines(all, [](Mode mode) { return Line{{name_of(mode)}, {name_of(mode)}}; });
}

Line of_task(const Test& t) {
  return {{fmt::format("{}, {}", short_task(t.task), name_of(t.mode))}, {short_task(t.task), name_of(t.mode)}};
}

void add_source(Section& s, const std::string& caption, const std::string& corner,
                const std::vector<std::string>& names, const std::vector<int>& columns, const std::string& table,
                const std::vector<std::string>& rows, Unit unit) {
  add(s, {caption, corner, lines(names), lines(columns), [&](size_t row, size_t column) -> Value {
            return {{number_text(paper_value(table, rows[row], fmt::format("{}", columns[column])), unit)}};
          }});
}

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
  const std::vector<int> longer = setup.longer();
  const std::vector<Test> tests = of_tasks(setup, {Mode::pmax, Mode::entropy}, false);
  s.data = by_seed_table({"task", "mode", "length"});
  add(s, {"Temperatures that algorithm 1 finds, mean over the seeds", "task, mode", lines(tests, of_task),
          of_lengths(longer),
          [&](size_t row, size_t column) { return with_source(r.temperature(tests[row], longer[column]), {}); }});
  const double lowest = grid().back();
  int compared = 0, falling = 0, ordered = 0, cells = 0, at_end = 0;
  for (const Test& test : tests) {
    double before = 1;
    bool falls = true;
    for (const int length : longer) {
      const double tau = mean(r.temperature(test, length));
      falls &= !(tau > before + 1e-9), before = tau;
      cells += !std::isnan(tau), at_end += tau <= lowest + 1e-9;
      if (test.mode != Mode::entropy || std::isnan(tau)) continue;
      const Test pmax{test.model, test.task, Mode::pmax, false};
      ++compared, ordered += tau <= mean(r.temperature(pmax, length)) + 1e-9;
    }
    falling += falls;
  }
  std::vector<std::string> theirs, names;
  for (const char* size : {"large", "xl", "xxl"})
    for (const char* task : {"topic", "line", "passkey"})
      for (const char* mode : {"pmax", "entropy"})
        theirs.push_back(fmt::format("{} {} {}", size, mode, task)),
            names.push_back(fmt::format("Flan-T5-{}, {}, {}", size, task, mode));
  add_source(s, "The source's, for inputs that grow from left to right", "model, task, mode", names, {1, 2, 3, 4, 5, 6},
             "chi2023_temperatures", theirs, {});
  s.readings = {
      fmt::format("The source's order: temperatures fall with the length, and entropy asks for lower ones than "
                  "maximum probability. Here they never rise in {} of {} rows, and entropy's are not above "
                  "those of maximum probability in {} of {} cells.",
                  falling, tests.size(), ordered, compared)};
  if (at_end)
    s.readings.push_back(fmt::format("In {} of {} cells it is {}, the lowest of the grid: these might be lower still.",
                                     at_end, cells, lowest));
  s.notes = {
      "The grid is 1.0, 0.95, ..., 0.1, where the source's ends at 0.5, and the same temperature acts in all layers "
      "and heads of the encoder.",
      "The source's lengths: 5 to 25 topics, 200 to 680 lines, 20,000 to 55,000 characters of filler; 15,000 "
      "tokens at most. One of its numbers is lost."};
  return s;
}

}  // namespace poslab::reproduce::chi2023
