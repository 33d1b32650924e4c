#include "lab/pages/report/language.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "lab/pages/report/compared.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/sweep/collect.h"

namespace poslab {
extern const std::string_view language_txt;
}

namespace poslab::report {
namespace {

using namespace page;

const Row* tested_at(const Line& line, int length, bool repeated) {
  for (const Row& at : line.all)
    if (at.length() == length && repeats(at) == repeated) return &at;
  return nullptr;
}

// In bits per byte, which compares tokens of different lengths.
std::string bits_of(const Line& line) {
  const Row& far = *tested_at(line, line.longest(), false);
  return fmt::format("{} has {:.3f} bits per byte at {} tokens", colored(line), far["bits_per_byte"], far.length());
}

std::string scores_of(const Line& line) {
  const Row *far = tested_at(line, line.longest(), false), *near = tested_at(line, line.train_length(), false);
  std::string text = fmt::format("{} gets {} of the next tokens right at {} tokens, with a loss of {:.3f} nats a token",
                                 colored(line), percent((*far)["accuracy"]), far->length(), (*far)["loss"]);
  if (near && near != far)
    text += fmt::format(", against {} and {:.3f} at the trained length, {}", percent((*near)["accuracy"]),
                        (*near)["loss"], near->length());
  return text;
}

json value_at(const Row* at, const Measure& m) { return at ? json((*at)[m.column]) : json(); }

json column_of(const Measure& m, const char* kind = "") {
  return column(m.name, m.percent ? json("percent") : json(4), kind);
}

const char* group_of(const std::vector<Group>& groups) { return groups.size() > 1 ? "text" : ""; }

bool read_same_tokens(const Group& g) {
  return std::all_of(g.lines.begin(), g.lines.end(), [&](auto& line) { return same_tokens(g.lines[0], line); });
}

// Reasons not to compare the lines of a chart, for its caption.
std::string caveat(const Group& g, const Measure& m, bool repeated) {
  const auto trained = [&](auto& line) { return line.train_length() == g.lines[0].train_length(); };
  std::string text;
  if (&m != &measures[2] && !read_same_tokens(g))
    text += " The models read different tokens, so that only bits per byte compare.";
  if (repeated && !std::all_of(g.lines.begin(), g.lines.end(), trained))
    text += " A repeated unit has twice the trained length, so that these texts differ.";
  return text;
}

// The text with the numbers.
std::string language_reading(const Group& g) {
  std::vector<const Line*> all;
  for (const Line& line : g.lines) all.push_back(&line);
  const bool alike = read_same_tokens(g);
  const auto far = [&](const Line* line) {
    return (*tested_at(*line, line->longest(), false))[alike ? "loss" : "bits_per_byte"];
  };
  std::stable_sort(all.begin(), all.end(), [&](auto* a, auto* b) { return far(a) < far(b); });
  const auto words_of = alike ? scores_of : bits_of;
  std::string text = fmt::format("**{}.** ", heading(g));
  if (!alike) text += "The models read different tokens, so that only bits per byte compare. ";
  text += words_of(*all.front());
  if (all.size() > 1) text += fmt::format("; {}", words_of(*all.back()));
  const char* in = alike ? "loss" : "bits per byte";
  if (!std::all_of(all.begin(), all.end(), [&](auto* line) { return same_test(*all[0], *line); }))
    return text + "; the tests count other tokens (eval_tail, documents), so the numbers do not compare.";
  if (lengths_differ(g)) return text + "; the lengths differ, so the numbers do not compare.";
  if (all.size() == 3) text += fmt::format("; the other is between them in {}", in);
  if (all.size() > 3) text += fmt::format("; the {} others are between them in {}", all.size() - 2, in);
  return text + ".";
}

// Trained and longest length.
json language_table(const std::vector<Group>& groups) {
  json rows = json::array(), columns = columns_of(group_of(groups));
  for (const Group& g : groups)
    for (const Line& line : g.lines) {
      const auto& record = line.first().record;
      json row = row_of(line, groups.size() > 1 ? &g : nullptr);
      append(row, {record.parameters ? json(*record.parameters) : json(),
                   record.steps_per_second ? json(*record.steps_per_second) : json()});
      for (const int length : {line.train_length(), line.longest()}) {
        const Row* at = tested_at(line, length, false);
        row.push_back(at ? json(at->length()) : json());
        for (const Measure& m : measures) row.push_back(value_at(at, m));
      }
      row.push_back(value_at(tested_at(line, line.longest(), true), measures[0]));
      rows.push_back(std::move(row));
    }
  append(columns, {column("parameters", 0), column("steps/s", 1)});
  for (const auto& [group, prefix] : {std::pair{"trained length", "trained"}, {"longest length", "longest"}}) {
    std::vector<json> some = {column("tokens", 0, "quiet")};
    some[0]["full"] = fmt::format("{}: length", prefix);
    for (const Measure& m : measures) {
      some.push_back(column_of(m, m.percent ? "score" : ""));
      some.back()["full"] = fmt::format("{}: {}", prefix, m.name);
    }
    append_columns(columns, group, some);
  }
  columns.push_back(column("repeated", "percent"));
  return page::table("Table of runs", columns, rows);
}

// Every length, folded.
json language_lengths(const std::vector<Group>& groups) {
  json rows = json::array(), columns = columns_of(group_of(groups));
  append(columns, {column("tokens", 0), column("set", nullptr, "text")});
  for (const Measure& m : measures) columns.push_back(column_of(m));
  for (const Group& g : groups)
    for (const Line& line : g.lines)
      for (const Row& at : line.all) {
        json row = row_of(line, groups.size() > 1 ? &g : nullptr);
        row[0].erase("below");
        row.push_back(at.length()), row.push_back(at.word("set"));
        for (const Measure& m : measures) row.push_back(value_at(&at, m));
        rows.push_back(std::move(row));
      }
  return folded("All lengths", page::table("All lengths", columns, rows));
}

}  // namespace

std::string language_csv(const std::vector<Group>& groups) {
  sweep::Table all{{"text", "name", "seed", "folder"}, {}};
  for (const Group& g : groups)
    for (const Line& line : g.lines)
      for (const TestedRun* run : line.runs) {
        std::istringstream rows(to_csv(run->all));
        std::string row;
        std::getline(rows, row);
        if (all.rows.empty())
          for (const std::string& column : split(row, ',')) all.columns.push_back(column);
        while (std::getline(rows, row)) {
          all.rows.push_back({g.task, line.name, run->seed, run->place()});
          for (const std::string& cell : split(row, ',')) all.rows.back().push_back(cell);
        }
      }
  return sweep::to_csv(all);
}

json language_document(const std::vector<Group>& groups, const std::string& out) {
  json lead = json::array(), text = json::array(), against = json::array(), position = json::array(),
       trained = json::array(), lengths = json::array();
  size_t runs = 0, trainings = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& g = groups[i];
    const std::string seeds =
        g.has_seeds() ? " Strong: the mean over seeds. Faint: single seeds; the band reaches from the lowest to the "
                        "highest."
                      : "";
    const std::string counted = counted_tokens(g);
    lead.push_back(paragraph(language_reading(g), "reading"));
    text.push_back(fmt::format("**{}**: {}.", heading(g), literal(g.lines.front().first().text)));
    const bool has_repeated = std::any_of(g.lines.begin(), g.lines.end(), [](const Line& line) {
      return std::any_of(line.all.begin(), line.all.end(), repeats);
    });
    const auto sets = has_repeated ? std::vector{false, true} : std::vector{false};   // packed documents have one
    for (const Measure& m : measures)
      for (const bool repeated : sets) {
        const std::string id = fmt::format("length{}-{}-{}", i, &m - measures, int(repeated));
        against.push_back(captioned(against_length(g, m, repeated, id),
                                    fmt::format("The mean over {} of the windows of each length.{}{}", counted,
                                                caveat(g, m, repeated), seeds)));
      }
    for (const Measure& m : {measures[0], measures[1]})
      for (const bool repeated : sets) {
        const std::string id = fmt::format("position{}-{}-{}", i, m.column, int(repeated));
        const std::string whole = counted == "all tokens" ? "the window" : counted;
        const std::string parts = fmt::format("A point is an eighth of {}.{}{}", whole, caveat(g, m, repeated), seeds);
        position.push_back(captioned(by_position(g, m, repeated, id), parts));
      }
    for (const Line& line : g.lines) runs += line.runs.size(), trainings += !line.first().training.empty();
    if (!trainings) continue;
    Chart loss = loss_chart(g, fmt::format("loss{}", i));
    loss.caption = fmt::format("**{}.** Mean cross-entropy of a training batch. {}", heading(g),
                               smoothing_caption(g, "batches"));
    trained.push_back(chart_json(loss));
    trained.push_back(captioned(training_accuracy_chart(g, fmt::format("training{}", i)),
                                "The share of a training batch's tokens that were the most probable one."));
  }
  const TestedRun& first = groups.front().lines.front().first();
  const bool of_one = !first.again.empty() && first.test.empty();  // one model, tested by one command
  if (of_one) lengths = compared_tables(groups);
  lengths.push_back(language_lengths(groups));
  return document_of(groups, out,
                     of_one      ? fmt::format("A language model, tested with {}", counted(runs, "encoding"))
                     : runs == 1 ? "A language model, trained short and tested long"
                                 : fmt::format("{} language models, trained short and tested long", runs),
                     lead, language_txt,
                     {{"table", json::array({language_table(groups)})},
                      {"lengths", lengths},
                      {"text", text},
                      {"against", against},
                      {"position", position},
                      {"training", trainings ? section("loss", "Training", trained) : json()}});
}

}  // namespace poslab::report
