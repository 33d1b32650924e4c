#include "lab/runs/sweep/collect.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/ascii.h"
#include "core/error.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/run_record.h"

namespace poslab::sweep {
namespace {

using nlohmann::json;

// 0.2 in place of 0.20000000000000012, the mean of many 0.2.
double tidy(double x) { return ascii::number(fmt::format("{:.12g}", x)); }

json cell(double x) { return tidy(x); }
json cell(const std::string& text) { return text; }
template <class T>
json cell(const std::optional<T>& value) {
  return value ? cell(*value) : json();
}

// An option's value: numbers as numbers, others as spelled.
json cell(const Choices& c, const Option& o) {
  const std::string& value = c[o.name];
  return o.kind == Option::Kind::toggle ? json(value) : json(typed(o, value));
}

std::vector<json> cells_of(const Row& row) {
  std::vector<json> all;
  for (const Column& c : row.columns()) {
    if (c.type == Column::Type::word)
      all.push_back(row.word(c.name));
    else if (const double x = row[c.name]; std::isnan(x))
      all.push_back(json());
    else
      all.push_back(c.type == Column::Type::whole ? json(int64_t(x)) : cell(x));
  }
  return all;
}

// The scores of a trial, preferably from result.json, which keeps all digits.
std::vector<json> scores_of(const Kind& kind, const Trial& t, const RunRecord& r, const Results& tested) {
  const Row scores = kind.scores(t.run, tested);
  std::vector<json> all = cells_of(scores);
  if (!scores.has("paper_score")) return all;
  const std::optional<Baselines>& b = r.baselines;
  const std::vector<json> recorded = {cell(r.paper_score), cell(r.released_score), b ? cell(b->chance) : json(),
                                      b ? cell(b->majority) : json(), b ? cell(b->content_only) : json()};
  std::copy(recorded.begin(), recorded.end(), all.begin());
  return all;
}

// The columns of a test that go into tables of sweeps.
std::vector<json> collected(const Kind& kind, const Row& row) {
  const std::vector<json> cells = cells_of(row);
  std::vector<json> all;
  for (const std::string& name : kind.collected)
    for (size_t n = 0; n < cells.size(); ++n)
      if (row.columns()[n].name == name) all.push_back(cells[n]);
  return all;
}

std::vector<std::string> score_names(const Kind& kind) {
  std::vector<std::string> names;
  for (const Column& c : *kind.score_columns) names.push_back(c.name);
  return names;
}

struct Result {
  RunRecord record;
  std::vector<json> scores;
  std::vector<std::vector<json>> lengths;  // without the columns that identify the trial
  std::string reason;                      // the reason for a missing result
};

Result result_of(const Trial& t, TrialState state, const SweepFolder& folder, const Kind& kind) {
  const std::vector<json> none(kind.score_columns->size());
  if (state != TrialState::done) return {{}, none, {}, folder.reason(t, state)};
  try {
    const auto [tested, record] = read_test(folder.run(t), t.run);
    Result all{record, {}, {}, ""};
    all.scores = scores_of(kind, t, all.record, tested);
    for (const Row& row : tested) all.lengths.push_back(collected(kind, row));
    return all;
  } catch (const std::exception& e) { return {{}, none, {}, e.what()}; }
}

std::string text_of(const json& cell) {
  if (cell.is_null()) return "";
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_number_float()) return fmt::format("{}", cell.get<double>());  // the shortest that reads back equal
  return cell.dump();
}

}  // namespace

Collected collect(const Plan& plan, const SweepFolder& folder) {
  if (!std::filesystem::is_directory(folder.path()))
    bad_input("there is no folder {}; `poslab sweep run` makes it", folder.path());
  check_inputs(plan, folder);
  const Kind& kind = kind_of(plan);
  const std::vector<std::string> differing = naming(plan).differing();
  const Naming names = naming(plan, {"task", "seed"});
  std::vector<const Option*> studied, others;
  for (const Option& o : kept_options(kind))
    (std::count(differing.begin(), differing.end(), o.name) ? studied : others).push_back(&o);

  Collected all{{{"id", "name", "state"}, {}}, {{"id"}, {}}};
  const auto add = [](std::vector<std::string>& columns, const std::vector<std::string>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
  };
  std::vector<std::string>& columns = all.trials.columns;
  for (const Option* o : studied) columns.push_back(o->name);
  add(columns, score_names(kind)), add(columns, {"seconds", "commit", "reason"});
  for (const Option* o : others) columns.push_back(o->name);
  add(columns, {"isa", "numerics", "processor", "date"});
  const bool of_task = plan.empty() || plan.front().run.has("task");
  if (of_task) add(all.lengths.columns, {"task"});
  add(all.lengths.columns, {"name", "seed"}), add(all.lengths.columns, kind.collected);

  const std::vector<TrialState> known = states(plan, folder);
  for (size_t i = 0; i < plan.size(); ++i) {
    const Trial& t = plan[i];
    folder.must_fit(t);
    const auto& [r, scores, lengths, reason] = result_of(t, known[i], folder, kind);
    const bool lost = known[i] == TrialState::done && !reason.empty();
    const std::string name = names.name(values_of(t.run));
    std::vector<json> row = {t.id, name, name_of(lost ? TrialState::failed : known[i])};
    for (const Option* o : studied) row.push_back(cell(t.run, *o));
    row.insert(row.end(), scores.begin(), scores.end());
    for (const json& value : {cell(r.seconds), cell(r.commit), reason.empty() ? json() : json(reason)})
      row.push_back(value);
    for (const Option* o : others) row.push_back(cell(t.run, *o));
    for (const json& value : {cell(r.isa), cell(r.numerics), cell(r.processor), cell(r.date)}) row.push_back(value);
    all.trials.rows.push_back(std::move(row));
    for (const std::vector<json>& at : lengths) {
      std::vector<json> line = {t.id};
      if (of_task) line.push_back(t.run["task"]);
      line.push_back(name), line.push_back(typed(kept_option(kind, "seed"), t.run["seed"]));
      line.insert(line.end(), at.begin(), at.end());
      all.lengths.rows.push_back(std::move(line));
    }
  }
  return all;
}

std::string to_csv(const Table& table) {
  std::string text = fmt::format("{}\n", fmt::join(table.columns, ","));
  for (const auto& row : table.rows)
    for (size_t i = 0; i < row.size(); ++i) {
      std::string cell = text_of(row[i]);
      if (cell.find_first_of(",\"\n") != std::string::npos) {
        for (size_t quote = 0; (quote = cell.find('"', quote)) != std::string::npos; quote += 2)
          cell.insert(quote, 1, '"');
        cell = '"' + cell + '"';
      }
      text += cell + (i + 1 < row.size() ? "," : "\n");
    }
  return text;
}

std::string to_json_lines(const Table& table) {
  std::string text;
  for (const auto& row : table.rows) {
    nlohmann::ordered_json line;
    for (size_t i = 0; i < row.size(); ++i) line[table.columns[i]] = row[i];
    text += line.dump() + "\n";
  }
  return text;
}

}  // namespace poslab::sweep
