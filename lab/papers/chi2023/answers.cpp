// Which answers are right: tables 2 (encodings), 4 (retrieval) and 6 (documents), and the perplexity of table 3.
#include <fmt/format.h>

#include "experiment/language/options.h"
#include "experiment/t5/t5.h"
#include "lab/papers/chi2023/tables.h"

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

std::string added_words(const BySeed& more) {
  const Interval i = bootstrap(values(more));
  return ahead_text(mean(more), i, " points") + (i.low > 0    ? ", better"
                                                 : i.high < 0 ? ", worse"
                                                              : ", which is inconclusive");
}

// Answers with a mode, beside those without one.
Value answers(Mode mode, const std::function<BySeed(Mode)>& of) {
  if (mode == Mode::original) return accuracy(of(mode));
  const BySeed original = of(Mode::original);
  return accuracy(of(mode), &original);
}

// Of each row at each length.
void add_answers(Section& s, const Results& r, const std::string& caption, const std::string& corner,
                 const std::vector<Test>& rows, const std::function<Line(const Test&)>& line) {
  const std::vector<int> lengths = r.setup().lengths();
  add(s, {caption, corner, lines(rows, line), of_lengths(lengths, r.setup().length()), [&](size_t row, size_t column) {
            return answers(rows[row].mode, [&](Mode mode) {
              return r.accuracy({rows[row].model, rows[row].task, mode, true}, lengths[column]);
            });
          }});
}

}  // namespace

Section encodings(const Results& r) {
  Section s;
  const Setup& setup = r.setup();
  const std::vector<std::string> tasks = setup.learned_together();
  s.data = by_seed_table({"encoding", "task", "mode", "length"});
  std::vector<Test> rows;
  for (const std::string& task : tasks)
    for (const auto& [model, name] : encoding_models())
      for (const Mode mode : {Mode::original, Mode::pmax}) rows.push_back({model, task, mode, true});
  add_answers(s, r, "Answers that are right, in %: as trained, and aligned by maximum probability",
              "task, encoding, mode", rows, [](const Test& t) {
                const std::string task = short_task(t.task), mode = name_of(t.mode), name = encoding_name(t.model);
                return Line{{fmt::format("{}, {}, {}", task, name, mode)}, {name, task, mode}};
              });
  for (const auto& [model, name] : encoding_models()) {
    const BySeed learned = over_all(r, model, tasks, {setup.length()}, Mode::original),
                 plain = over_all(r, model, tasks, setup.longer(), Mode::original),
                 ours = over_all(r, model, tasks, setup.longer(), Mode::pmax);
    if (!learned.empty() && !plain.empty() && !ours.empty())
      s.readings.push_back(fmt::format("{}: {} % at the trained length, {} % beyond it, aligned {}.", name,
                                       points(mean(learned)), points(mean(plain)),
                                       added_words(difference(ours, plain))));
  }
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
  s.data = by_seed_table({"task", "mode", "length"});
  const std::vector<Test> rows = of_tasks(setup, {Mode::original, Mode::log, Mode::pmax, Mode::entropy}, true);
  add_answers(s, r, "Answers that are right, in %, and how many more than without alignment", "task, mode", rows,
              of_task);
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
  s.notes = {poslab::about_intervals(setup.seeds) + " Bold: the interval of the difference excludes zero.",
             "The source prints most of its table in a form that did not survive; with maximum probability its models "
             "are mostly near 100 %."};
  return s;
}

Section documents(const Results& r) {
  Section s;
  const Setup& setup = r.setup();
  const auto of = [&](Mode mode, int length, int part) {
    return r.accuracy({"documents", "documents", mode, true}, length, part);
  };
  s.data = by_seed_table({"mode", "length", "place"});
  for (const int length : setup.lengths()) {
    std::vector<Line> places;
    for (int p = 0; p < t5::places; ++p) places.push_back({{fmt::format("{}/8", p + 1)}, {length, p}});
    places.push_back({{"all"}, {length, "all"}});
    const std::vector<Mode> modes = {Mode::original, Mode::pmax, Mode::entropy};
    add(s, {fmt::format("{} tokens: answers that are right, in %, by where the answer stands, first eighth to last",
                        length),
            "mode", of_modes(modes), places, [&](size_t row, size_t column) {
              const int part = column == t5::places ? -1 : int(column);
              return answers(modes[row], [&](Mode m) { return of(m, length, part); });
            }});
  }
  std::vector<std::string> theirs, names;
  for (const char* size : {"large", "xl", "xxl"})
    for (const char* mode : {"original", "pmax", "entropy"})
      for (const int n : {10, 20, 30})
        theirs.push_back(fmt::format("{} {} {}", size, mode, n)),
            names.push_back(fmt::format("{}, {}, {}", size, mode, n));
  add_source(s, "The source's, by the place of the document with the answer", "Flan-T5, mode, documents", names,
             {0, 4, 9, 14, 19, 24, 29}, "chi2023_documents", theirs, {1, 1});
  const auto at = [&](int part) { return mean(of(Mode::original, setup.longer().back(), part)); };
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
  const std::vector<int> lengths = language::eval_lengths(c);
  const std::vector<Mode> modes = {Mode::original, Mode::pmax, Mode::entropy};
  const auto of = [&](Mode mode, int length) {
    BySeed ours = r.loss({"lm", "", mode, true}, length);
    for (auto& [seed, x] : ours) x = std::exp(x);
    return ours;
  };
  s.data = by_seed_table({"mode", "length"});
  add(s, {"Perplexity, exp of the loss", "mode", of_modes(modes), of_lengths(lengths, c.whole("train_length")),
          [&](size_t row, size_t column) { return with_source(of(modes[row], lengths[column]), {}); }});
  const auto at_longest = [&](Mode mode) { return mean(of(mode, lengths.back())); };
  if (!std::isnan(at_longest(Mode::original) + at_longest(Mode::pmax)))
    s.readings = {
        fmt::format("At {} tokens the perplexity is {:.2f} without alignment, {:.2f} aligned by maximum "
                    "probability, and {:.2f} by entropy.",
                    lengths.back(), at_longest(Mode::original), at_longest(Mode::pmax), at_longest(Mode::entropy))};
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
