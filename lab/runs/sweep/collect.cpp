#include "lab/runs/sweep/collect.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/error.h"
#include "lab/files/statistics.h"
#include "lab/runs/eval_csv.h"
#include "lab/runs/language/run.h"
#include "lab/runs/run_record.h"
#include "lab/runs/t5/run.h"

namespace poslab::sweep {
namespace {

using nlohmann::json;

// 0.2 for the 0.20000000000000012 that a mean of many 0.2 comes to.
double tidy(double x) { return std::stod(fmt::format("{:.12g}", x)); }

json cell(double x) { return tidy(x); }
json cell(const std::string& text) { return text; }
template <class T>
json cell(const std::optional<T>& value) {
  return value ? cell(*value) : json();
}

// An option's value: a number as one, all else as it is spelled.
json cell(const Choices& c, const Option& o) {
  const std::string value = c[o.name];
  return o.kind == Option::Kind::toggle ? json(value) : json(typed(o, value));
}

// What a kind of runs has in the two tables: names of columns, and the cells of a trial that is done.
struct Cells {
  std::vector<json> scores;
  std::vector<std::vector<json>> lengths;  // without what tells which trial it is
};
struct Columns {
  std::vector<std::string> scores, lengths;
  std::string key;  // of the lengths
  Cells (*cells)(const Trial&, const SweepFolder&, const RunRecord&);
};

Cells cells_of_task(const Trial& t, const SweepFolder& folder, const RunRecord& r) {
  const std::optional<Baselines>& b = r.baselines;
  Cells all{{cell(r.paper_score), cell(r.released_score), b ? cell(b->chance) : json(), b ? cell(b->majority) : json(),
             b ? cell(b->content_only) : json()},
            {}};
  for (const AtLength& at : read_eval_csv(folder.run(t)))
    all.lengths.push_back({at.length, cell(at.accuracy), at.samples, cell(at.baselines.chance),
                           cell(at.baselines.majority), cell(at.baselines.content_only)});
  return all;
}

Cells cells_of_language(const Trial& t, const SweepFolder& folder, const RunRecord&) {
  const std::vector<language::AtLength> tested = language::read_csv(folder.last_file(t));
  const language::AtLength *trained = nullptr, *longest = nullptr;
  Cells all;
  for (const language::AtLength& at : tested) {
    all.lengths.push_back({at.length, at.repeated ? "repeated" : "plain", cell(at.accuracy), cell(at.loss),
                           cell(at.bits_per_byte), at.samples});
    if (at.repeated) continue;
    if (std::to_string(at.length) == t.run["train_length"]) trained = &at;
    if (!longest || at.length > longest->length) longest = &at;
  }
  for (const language::AtLength* at : {trained, longest})
    for (const auto value :
         {&language::AtLength::loss, &language::AtLength::accuracy, &language::AtLength::bits_per_byte})
      all.scores.push_back(at ? cell(at->*value) : json());
  all.scores.insert(all.scores.begin() + 3, longest ? json(longest->length) : json());
  return all;
}

// Means over the tasks, at the trained length and at the longest.
Cells cells_of_t5(const Trial& t, const SweepFolder& folder, const RunRecord&) {
  Cells all;
  std::map<int, std::vector<double>> accuracy;  // by length
  for (const t5::AtLength& at : t5::read_csv(folder.last_file(t))) {
    all.lengths.push_back({at.task, at.length, cell(at.accuracy), cell(at.loss), at.samples});
    accuracy[at.length].push_back(at.accuracy);
  }
  const auto trained = accuracy.find(std::stoi(t.run["train_length"]));
  const auto& [longest, of_longest] = *accuracy.rbegin();
  all.scores = {trained == accuracy.end() ? json() : cell(mean(trained->second)), json(longest),
                cell(mean(of_longest))};
  return all;
}

const Columns of_task = {{"paper_score", "released_score", "guess", "majority", "content_only"},
                         {"length", "accuracy", "samples", "guess", "majority", "content_only"},
                         "id, length",
                         cells_of_task};
const Columns of_language = {
    {"loss", "accuracy", "bits_per_byte", "longest", "longest_loss", "longest_accuracy", "longest_bits_per_byte"},
    {"length", "set", "accuracy", "loss", "bits_per_byte", "samples"},
    "id, length, \"set\"",
    cells_of_language};

const Columns of_t5 = {{"accuracy", "longest", "longest_accuracy"},
                       {"task", "length", "accuracy", "loss", "samples"},
                       "id, task, length",
                       cells_of_t5};

const Columns& columns_of(const Kind& kind) {
  return kind == strings_kind() ? of_task : kind == language_kind() ? of_language : of_t5;
}

struct Result {
  RunRecord record;
  Cells cells;
  std::string reason;  // why there is none
};

Result result_of(const Trial& t, TrialState state, const SweepFolder& folder, const Columns& of_kind) {
  const Cells none{std::vector<json>(of_kind.scores.size()), {}};
  if (state != TrialState::done) return {{}, none, folder.reason(t, state)};
  try {
    const std::string path = folder.result(t);  // absent in language models of earlier versions
    const RunRecord record = std::filesystem::exists(path) ? read_record(path) : RunRecord();
    return {record, of_kind.cells(t, folder, record), ""};
  } catch (const std::exception& e) { return {{}, none, e.what()}; }
}

std::string text_of(const json& cell) {
  if (cell.is_null()) return "";
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_number_float()) return fmt::format("{}", cell.get<double>());  // the shortest that reads back the same
  return cell.dump();
}

}  // namespace

Collected collect(const Plan& plan, const SweepFolder& folder) {
  if (!std::filesystem::is_directory(folder.path()))
    bad_input("there is no folder {}; `poslab sweep run` makes it", folder.path());
  const Kind& kind = kind_of(plan);
  const Columns& of_kind = columns_of(kind);
  const std::vector<std::string> differing = naming(plan).differing();
  const Naming names = naming(plan, {"task", "seed"});
  std::vector<const Option*> studied, others;
  for (const Option& o : kept_options(kind))
    (std::count(differing.begin(), differing.end(), o.name) ? studied : others).push_back(&o);

  Collected all{{{"id", "name", "state"}, {}, "id"}, {{"id"}, {}, of_kind.key}};
  const auto add = [](std::vector<std::string>& columns, const std::vector<std::string>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
  };
  std::vector<std::string>& columns = all.trials.columns;
  for (const Option* o : studied) columns.push_back(o->name);
  add(columns, of_kind.scores), add(columns, {"seconds", "commit", "reason"});
  for (const Option* o : others) columns.push_back(o->name);
  add(columns, {"isa", "numerics", "processor", "date"});
  if (kind == strings_kind()) add(all.lengths.columns, {"task"});
  add(all.lengths.columns, {"name", "seed"}), add(all.lengths.columns, of_kind.lengths);

  const std::vector<TrialState> known = states(plan, folder);
  for (size_t i = 0; i < plan.size(); ++i) {
    const Trial& t = plan[i];
    const auto& [r, cells, reason] = result_of(t, known[i], folder, of_kind);
    const bool lost = known[i] == TrialState::done && !reason.empty();
    const std::string name = names.name(values_of(t.run));
    std::vector<json> row = {t.id, name, name_of(lost ? TrialState::failed : known[i])};
    for (const Option* o : studied) row.push_back(cell(t.run, *o));
    row.insert(row.end(), cells.scores.begin(), cells.scores.end());
    for (const json& value : {cell(r.seconds), cell(r.commit), reason.empty() ? json() : json(reason)})
      row.push_back(value);
    for (const Option* o : others) row.push_back(cell(t.run, *o));
    for (const json& value : {cell(r.isa), cell(r.numerics), cell(r.processor), cell(r.date)}) row.push_back(value);
    all.trials.rows.push_back(std::move(row));
    for (const std::vector<json>& at : cells.lengths) {
      std::vector<json> line = {t.id};
      if (kind == strings_kind()) line.push_back(t.config()["task"]);
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
