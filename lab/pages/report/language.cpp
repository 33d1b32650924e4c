// The reports of language models and T5s. A group consists of the runs that were trained on one text, or on one task of
// retrieval.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "experiment/language/options.h"
#include "lab/pages/report/report.h"
#include "lab/pages/report/sections.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/sweep/collect.h"
#include "tasks/retrieval/retrieval.h"

namespace poslab {
extern const std::string_view language_txt, t5_txt;
}

namespace poslab::report {
namespace {

using namespace page;

bool of_text(const Group& g) { return g.has("bits_per_byte"); }

const Row* tested_at(const Line& line, int length, bool repeated) {
  for (const Row& at : line.all)
    if (at.length() == length && repeats(at) == repeated) return &at;
  return nullptr;
}

const Row& farthest(const Line& line) { return *tested_at(line, line.longest(), false); }

// The result in bits per byte, which compares tokens of different lengths.
std::string bits_of(const Line& line) {
  const Row& far = farthest(line);
  return fmt::format("{} needs {:.3f} bits per byte at {} tokens", colored(line), far["bits_per_byte"], far.length());
}

std::string scores_of(const Line& line) {
  const Row &far = farthest(line), *near = tested_at(line, line.train_length(), false);
  const bool text = far.has("bits_per_byte");
  std::string said = colored(line);
  said += text ? fmt::format(" gets {} of the next tokens right at {} tokens, with a loss of {:.3f} nats a token",
                             percent(far["accuracy"]), far.length(), far["loss"])
               : fmt::format(" answers {} of the questions at {} tokens", percent(far["accuracy"]), far.length());
  if (!near || near == &far) return said;
  return said + fmt::format(", against {}{} at the trained length, {}", percent((*near)["accuracy"]),
                            text ? fmt::format(" and {:.3f}", (*near)["loss"]) : "", near->length());
}

json value_at(const Row* at, const Measure& m) { return at ? json((*at)[m.column]) : json(); }

json column_of(const Measure& m, const char* kind = "", const char* group = "") {
  return column(m.name, m.percent ? json("percent") : json(4), kind, group);
}

bool all_as_first(const Group& g, bool (*alike)(const Line&, const Line&)) {
  return std::all_of(g.lines.begin(), g.lines.end(), [&](const Line& line) { return alike(g.lines[0], line); });
}

// Reasons not to compare the lines of a chart, for its caption.
std::string caveat(const Group& g, const Measure& m, bool repeated) {
  const auto as_long = [](const Line& a, const Line& b) { return a.train_length() == b.train_length(); };
  std::string text;
  if (&m != &measures[2] && !all_as_first(g, same_tokens))
    text += " The models read different tokens, so only bits per byte can be compared.";
  if (repeated && !all_as_first(g, as_long))
    text += " A repeated unit has twice the trained length, so these texts differ.";
  return text;
}

// The summary in numbers: the best line, the worst, and whether they can be compared.
std::string language_reading(const Group& g) {
  const bool alike = all_as_first(g, same_tokens);
  const char* measure = !of_text(g) ? "accuracy" : alike ? "loss" : "bits per byte";
  const auto cost = [&](const Line* line) {
    const Row& far = farthest(*line);
    return !of_text(g) ? -far["accuracy"] : far[alike ? "loss" : "bits_per_byte"];
  };
  std::vector<const Line*> all;
  for (const Line& line : g.lines) all.push_back(&line);
  std::stable_sort(all.begin(), all.end(), [&](auto* a, auto* b) { return cost(a) < cost(b); });
  const auto words_of = alike ? scores_of : bits_of;
  std::string text = fmt::format("**{}.** ", heading(g));
  if (!alike) text += "The models read different tokens, so only bits per byte can be compared. ";
  text += words_of(*all.front());
  if (all.size() > 1) text += "; " + words_of(*all.back());
  if (!all_as_first(g, same_test))
    return text + "; the tests count other tokens (eval_tail, documents), so these cannot be compared.";
  if (lengths_differ(g)) return text + "; the lengths differ, so the numbers cannot be compared.";
  if (all.size() == 3) text += fmt::format("; the other is between them in {}", measure);
  if (all.size() > 3) text += fmt::format("; the {} others are between them in {}", all.size() - 2, measure);
  return text + ".";
}

// The results at the trained and at the longest length.
json language_table(const std::vector<Group>& groups) {
  const auto number = [](const auto& x) { return x ? json(*x) : json(); };
  std::vector<Field> fields = {
      {column("parameters", 0), [=](const Line& l) { return number(l.first().record.parameters); }},
      {column("steps/s", 1), [=](const Line& l) { return number(l.first().record.steps_per_second); }}};
  for (const bool longest : {false, true}) {
    const char* group = longest ? "longest length" : "trained length";
    const auto at = [longest](const Line& line) {
      return tested_at(line, longest ? line.longest() : line.train_length(), false);
    };
    const auto add = [&](json column, const std::string& name, auto cell) {
      column["full"] = fmt::format("{}: {}", longest ? "longest" : "trained", name);
      fields.push_back({std::move(column), std::move(cell)});
    };
    add(column("tokens", 0, "quiet", group), "length",
        [=](const Line& line) { return at(line) ? json(at(line)->length()) : json(); });
    for (const Measure& m : measures)
      add(column_of(m, m.percent ? "score" : "", group), m.name,
          [=, &m](const Line& line) { return value_at(at(line), m); });
  }
  fields.push_back({column("repeated", "percent"),
                    [](const Line& line) { return value_at(tested_at(line, line.longest(), true), measures[0]); }});
  return table_of_lines(groups, fields);
}

json lengths_table(const std::vector<Group>& groups) {
  const bool text = of_text(groups[0]);
  json rows = json::array(), columns = columns_of(groups);
  append(columns, {column("tokens", 0), text ? column("set", nullptr, "text") : column("questions", 0)});
  for (const Measure& m : measures)
    if (groups[0].has(m.column)) columns.push_back(column_of(m, !text && m.percent ? "score" : ""));
  for (const Group& g : groups)
    for (const Line& line : g.lines)
      for (const Row& at : line.all) {
        json row = row_of(line, g, groups);
        row[0].erase("below");
        append(row, {at.length(), text ? json(at.word("set")) : json(at["samples"])});
        for (const Measure& m : measures)
          if (g.has(m.column)) row.push_back(at[m.column]);
        rows.push_back(std::move(row));
      }
  const json made = page::table("All lengths", columns, rows);
  return text ? folded("All lengths", made) : made;
}

// The loss, and in brackets the perplexity.
std::string in_words(double loss) {
  const double perplexity = std::exp(loss);
  if (!std::isfinite(perplexity)) return fmt::format("{:.4f} (–)", loss);
  return perplexity < 1e5 ? fmt::format("{:.4f} ({:.2f})", loss, perplexity)
                          : fmt::format("{:.4f} ({:.1e})", loss, perplexity);
}

// The lines of a group side by side.
std::vector<json> compared_tables(const Group& g) {
  std::vector<std::string> names;
  std::vector<const Results*> tests;
  for (const Line& line : g.lines) names.push_back(line.name), tests.push_back(&line.all);
  std::vector<json> tables;
  for (const Grid& grid : compared(names, tests, g.lines[0].tail())) {
    json made = page::table(grid);
    made["style"] = "runs", made["columns"][1]["kind"] = "text";
    for (size_t n = 0; n < names.size(); ++n) made["columns"][n + 2]["color"] = color_class(g.lines[n].color);
    for (json& row : made["rows"])
      for (size_t n = 2; n < row.size(); ++n) {
        const std::string text = row[n], loss = text.substr(0, text.find(' '));
        row[n] = {{"text", loss}, {"beside", text.substr(loss.size() + 1)}};
      }
    tables.push_back(std::move(made));
  }
  return tables;
}

}  // namespace

std::vector<page::Grid> compared(const std::vector<std::string>& names, const std::vector<const Results*>& tests,
                                 int tail) {
  constexpr int parts = language::parts;
  const Results& rows = *tests.front();
  int longest = 0;
  for (const Row& at : rows) longest = std::max(longest, at.length());
  page::Grid lengths{"loss in nats a token, and in brackets the perplexity", {"tokens", "set"}, {}},
      places{fmt::format("the same by place within windows of {} tokens", longest), {"tokens", "set"}, {}};
  for (page::Grid* grid : {&lengths, &places}) grid->head.insert(grid->head.end(), names.begin(), names.end());
  const int counted = tail ? tail : longest, first = longest - counted;
  const auto add = [&](page::Grid& to, const std::string& where, size_t row, const std::string& column) {
    to.rows.push_back({where, rows[row].word("set")});
    for (const Results* test : tests) to.rows.back().push_back(in_words((*test)[row][column]));
  };
  for (size_t n = 0; n < rows.size(); ++n) {
    add(lengths, fmt::format("{}", rows[n].length()), n, "loss");
    if (rows[n].length() != longest) continue;
    const auto begin = [&](int part) { return first + (part * counted + parts - 1) / parts; };
    for (int p = 0; p < parts; ++p)
      add(places, fmt::format("{}-{}", begin(p) + 1, begin(p + 1)), n, fmt::format("loss_{}", p + 1));
  }
  return {lengths, places};
}

std::string language_csv(const std::vector<Group>& groups) {
  sweep::Table all{{"text", "name", "seed", "folder"}, {}};
  for (const Column& c : groups[0].lines[0].all[0].columns()) all.columns.push_back(c.name);
  for (const Group& g : groups)
    for (const Line& line : g.lines)
      for (const TestedRun* run : line.runs)
        for (const Row& row : run->all) {
          all.rows.push_back({g.task, line.name, run->seed, run->place()});
          for (size_t n = 0; n < row.columns().size(); ++n) all.rows.back().push_back(row.text(n));
        }
  return sweep::to_csv(all);
}

json language_document(const std::vector<Group>& groups, const std::string& out) {
  json lead = json::array(), text = json::array(), against = json::array(), position = json::array(),
       trained = json::array(), lengths = json::array();
  const bool texts = of_text(groups[0]);
  size_t runs = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& g = groups[i];
    const TestedRun& first = g.lines[0].first();
    const std::string counted = counted_tokens(g), seeds = about_seeds(g);
    const auto shown = [&](const Chart& chart, const Measure& m, bool repeated, const std::string& about) {
      return captioned(chart, about + caveat(g, m, repeated) + seeds);
    };
    lead.push_back(paragraph(language_reading(g), "reading"));
    text.push_back(fmt::format("**{}**: {}", heading(g),
                               texts ? literal(first.text) + "." : prose(choose_retrieval(g.task)->about)));
    const bool has_repeated = std::any_of(g.lines.begin(), g.lines.end(), [](const Line& line) {
      return std::any_of(line.all.begin(), line.all.end(), repeats);
    });
    for (const Measure& m : measures)
      for (const bool repeated : {false, true}) {
        if (!g.has(m.column) || (repeated && !has_repeated)) continue;  // packed documents have no repeated ones
        const std::string id = fmt::format("{}-{}-{}", i, m.column, int(repeated));
        against.push_back(shown(against_length(g, m, repeated, "length" + id), m, repeated,
                                texts       ? fmt::format("The mean over {} of the windows of each length.", counted)
                                : m.percent ? "The share of the questions of each length."
                                            : "Nats a symbol of the answer."));
        if (&m == &measures[2] || (!texts && (!m.percent || !choose_retrieval(g.task)->placed))) continue;
        const std::string whole = !texts ? "the context" : counted == "all tokens" ? "the window" : counted;
        position.push_back(shown(by_position(g, m, repeated, "position" + id), m, repeated,
                                 fmt::format("A point is an eighth of {}.", whole)));
      }
    for (const Line& line : g.lines) runs += line.runs.size();
    const auto untrained = [](const Line& line) { return line.first().training.empty(); };
    if (std::all_of(g.lines.begin(), g.lines.end(), untrained)) continue;
    if (!texts && i) continue;  // a T5 learns all its tasks in one run
    Chart loss = loss_chart(g, fmt::format("loss{}", i));
    loss.caption = texts ? fmt::format("**{}.** Mean cross-entropy of a training batch. ", heading(g))
                         : "Mean cross-entropy of a training step, whose contexts grow at first. ";
    loss.caption += smoothing_caption(g, texts ? "batches" : "steps");
    append(trained, {chart_json(loss),
                     captioned(training_accuracy_chart(g, fmt::format("training{}", i)),
                               texts ? "The share of a training batch's tokens that the model found most probable."
                                     : "The share of a step's answers that were right.")});
  }
  const TestedRun& first = groups[0].lines[0].first();
  const bool of_one = !first.again.empty() && first.test.empty();  // one model, tested by one command
  if (of_one)
    for (const Group& g : groups) append(lengths, compared_tables(g));
  lengths.push_back(lengths_table(groups));
  return document_of(groups, out,
                     !texts      ? title(groups)
                     : of_one    ? fmt::format("A language model, tested with {}", poslab::counted(runs, "encoding"))
                     : runs == 1 ? "A language model, trained short and tested long"
                                 : fmt::format("{} language models, trained short and tested long", runs),
                     lead, texts ? language_txt : t5_txt,
                     {{"table", texts ? json::array({language_table(groups)}) : json()},
                      {"lengths", lengths},
                      {"text", text},
                      {"against", against},
                      {"position", position},
                      {"training", trained.empty() ? json() : section("loss", "Training", trained)}});
}

}  // namespace poslab::report
