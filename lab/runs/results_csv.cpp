#include "lab/runs/results_csv.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "lab/files/csv.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_model.h"
#include "lab/runs/other_test.h"
#include "lab/runs/own_files.h"

namespace poslab {
namespace {

std::string header_of(const std::vector<Column>& columns) {
  std::string text;
  for (const Column& c : columns) text += (text.empty() ? "" : ",") + c.name;
  return text;
}

// Whether the text is a value of the column. A number may be nan or inf.
bool read_as(const Column& c, const std::string& text, Row::Cell& cell) {
  if (c.type == Column::Type::word) return cell = text, !text.empty();
  double x;
  if (!read_cell(text, x)) return false;
  cell = x;
  if (c.type == Column::Type::whole) return x >= 1 && x == std::floor(x) && x < 1e15;
  return !c.fraction || (x >= 0 && x <= 1);
}

// Indices of this header's columns among the columns of the kind.
std::vector<size_t> places_of(const std::string& header, const Kind& kind, const std::string& path) {
  const std::vector<std::string> names = split(header, ',');
  for (const Column& c : *kind.columns)
    if (c.key && std::find(names.begin(), names.end(), c.name) == names.end())
      failure("{} is damaged: it lacks the column {}", path, c.name);
  std::vector<size_t> places;
  for (const std::string& name : names) {
    const auto found =
        std::find_if(kind.columns->begin(), kind.columns->end(), [&](const Column& c) { return c.name == name; });
    if (found == kind.columns->end()) failure("{} is damaged: no test has a column \"{}\"", path, name);
    places.push_back(size_t(found - kind.columns->begin()));
  }
  return places;
}

}  // namespace

std::string header_of(const Kind& kind) { return header_of(*kind.columns); }

std::string to_csv(const Results& all) {
  std::string text = header_of(all.front().columns()) + "\n";
  for (const Row& row : all)
    for (size_t n = 0; n < row.cells().size(); ++n)
      text += row.text(n) + (n + 1 < row.cells().size() ? "," : "\n");
  return text;
}

Results read_results(const std::string& path, const Kind& kind, bool in_part) {
  if (const std::filesystem::path at(path); !std::filesystem::exists(at))
    bad_input("{} has no {}; make it with `poslab {} {}`", at.parent_path().string(), at.filename().string(),
              kind.command("eval"), shell_path(at.parent_path()));
  Results all;
  const std::string header = in_part ? first_line(path) : header_of(kind);
  const std::vector<size_t> places = places_of(header, kind, path);
  for (const std::string& line : read_lines_below(path, header)) {
    const std::vector<std::string> texts = split(line, ',');
    std::vector<Row::Cell> cells(kind.columns->size(), std::nan(""));
    bool whole = texts.size() == places.size();
    for (size_t n = 0; whole && n < texts.size(); ++n)
      whole = read_as((*kind.columns)[places[n]], texts[n], cells[places[n]]);
    if (!whole) damaged_line(path, all.size() + 2, line);
    Row row(kind.columns, std::move(cells));
    for (const Row& before : all)
      if (before.same_key(row)) damaged_line(path, all.size() + 2, line);
    all.push_back(std::move(row));
  }
  return all;
}

void check_rows(const Results& rows, const Choices& tested, const std::string& csv) {
  for (const Row& row : rows)
    if (!std::isnan(row["samples"]) && row["samples"] != tested.number("eval_samples"))
      failure("{} has {} samples at length {}, but its test has {}", csv, row["samples"], row.length(),
              tested["eval_samples"]);
  std::vector<int> wanted = kind_of(tested).tested_lengths(tested), found;
  for (const Row& row : rows) found.push_back(row.length());
  std::sort(wanted.begin(), wanted.end()), std::sort(found.begin(), found.end());
  if (found == wanted) return;
  const auto [missing, extra] = std::mismatch(wanted.begin(), wanted.end(), found.begin(), found.end());
  const bool lacks = missing != wanted.end() && (extra == found.end() || *missing < *extra);
  failure("{} has {}, but its test has {}: it {} length {}", csv, counted(found.size(), "row"), wanted.size(),
          lacks ? "lacks" : "should not have", lacks ? *missing : *extra);
}

namespace {

// The table has six digits of each accuracy.
void check_score(const char* name, std::optional<double> recorded, double found, const std::string& csv,
                 const std::string& json) {
  if (recorded && !(std::abs(*recorded - found) < 1e-6))
    failure("the {} of {} is {:.6f}, and that of {} is {:.6f}", name, json, *recorded, csv, found);
}

void check_table(const RecordedTest& t, const std::string& csv, const std::string& json) {
  const std::string table = to_csv(t.rows), is = checksum_of_bytes(table);
  if (!t.record.table || *t.record.table == is) return;
  const std::filesystem::path path(csv);
  const std::string other =
      std::filesystem::exists(path) ? run_beside(path.parent_path(), path.filename(), table) : "";
  failure("{} has the checksum {}, but {} describes a table with {}: {}", csv, is, json, *t.record.table,
          other.empty() ? "one of them was changed or belongs to another run" : "the table is that of " + other);
}

// Absent for a record without options, or with a class that this process lacks.
std::optional<Choices> options_of(const RunRecord& record, const Kind& kind) {
  if (record.config.empty()) return {};
  try {
    return config_of(kind, record.config);
  } catch (const BadInput&) { return {}; }
}

// Throws unless the recorded options are config.toml's, overridden by the test's.
void check_same_run(const std::string& folder, const std::string& name, const Choices& recorded,
                    const RunRecord& record) {
  const Kind& kind = kind_of(recorded);
  const auto as_tested = [&](Witness w) {
    for (const auto& [option, value] : record.test) w.config.set(option, value);
    return w;
  };
  const Witness own = as_tested(witness_of_config(folder, kind)),
                other = {folder + "/" + json_of_test(name), recorded,
                         fmt::format("restore it and {} from a copy, or test again with `{}`", csv_of_test(name),
                                     test_command(kind, folder, {name, record.test}))};
  check_same_run(folder, own, other, [&]() -> std::optional<Witness> {
    if (const std::optional<Witness> saved = witness_of_checkpoint(folder, kind)) return as_tested(*saved);
    return {};
  });
}

RecordedTest read_both(const std::string& folder, const std::string& name, const Kind& kind) {
  return {read_results(folder + "/" + csv_of_test(name), kind), read_record(folder + "/" + json_of_test(name))};
}

void check_files(const RecordedTest& test, const Choices& tested, const std::string& folder, const std::string& name) {
  try {
    check_test(test, tested, folder + "/" + csv_of_test(name), folder + "/" + json_of_test(name));
  } catch (const Failure& e) {
    failure("{}; restore them from a copy, or test again with `{}`", e.what(),
            test_command(kind_of(tested), folder, {name, test.record.test}));
  }
}

}  // namespace

void check_test(const RecordedTest& t, const Choices& tested, const std::string& csv, const std::string& json) {
  check_rows(t.rows, tested, csv);
  check_table(t, csv, json);
  const Row scores = kind_of(tested).scores(tested, t.rows);
  const auto check = [&](const char* name, std::optional<double> recorded) {
    if (scores.has(name)) check_score(name, recorded, scores[name], csv, json);
  };
  if (const RunRecord& r = t.record; r.seconds && r.steps && r.steps_per_second)
    if (const double rate = double(*r.steps) / *r.seconds; !(std::abs(*r.steps_per_second / rate - 1) < 1e-6))
      failure("the steps_per_second of {} is {:.6g}, but its steps divided by its seconds give {:.6g}", json,
              *r.steps_per_second, rate);
  check("paper_score", t.record.paper_score), check("released_score", t.record.released_score);
  if (const auto& b = t.record.baselines)
    check("chance", b->chance), check("majority", b->majority), check("content_only", b->content_only);
}

void write_test(const std::string& folder, const std::string& name, const Results& all, RunRecord record,
                const Choices& tested) {
  const std::string table = to_csv(all), json = folder + "/" + json_of_test(name);
  record.table = checksum_of_bytes(table);
  const bool record_last = name.empty() && kind_of(tested).last_file == "result.json";
  const std::string text = name.empty() ? to_json(record, tested) : with_own_checksum(to_json(record, tested));
  if (!record_last) write_file(json, text);
  write_file(folder + "/" + csv_of_test(name), table);
  if (record_last) write_file(json, text);
}

RecordedTest read_test(const std::string& folder, const std::string& name) {
  const Kind& kind = kind_of_folder(folder);
  const RecordedTest test = read_both(folder, name, kind);
  const std::optional<Choices> recorded = options_of(test.record, kind);
  if (!recorded) check_table(test, folder + "/" + csv_of_test(name), folder + "/" + json_of_test(name));
  if (recorded && !is_hf_folder(folder)) check_same_run(folder, name, *recorded, test.record);
  if (recorded) check_files(test, *recorded, folder, name);
  if (name.empty()) check_own_files(folder, test.record);
  return test;
}

RecordedTest read_test(const std::string& folder, const Choices& config) {
  const Kind& kind = kind_of(config);
  const bool recorded = kind.last_file == "result.json" || std::filesystem::exists(folder + "/result.json");
  const RecordedTest test =
      recorded ? read_both(folder, "", kind) : RecordedTest{read_results(folder + "/eval.csv", kind), {}};
  if (std::filesystem::exists(folder + "/config.toml"))
    if (const std::optional<Choices> options = options_of(test.record, kind))
      check_same_run(folder, "", *options, test.record);
  check_files(test, config, folder, "");
  check_own_files(folder, test.record);
  return test;
}

}  // namespace poslab
