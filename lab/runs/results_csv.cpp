#include "lab/runs/results_csv.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "core/checksum.h"
#include "lab/files/csv.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_model.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/other_test.h"

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

}  // namespace

std::string header_of(const Kind& kind) { return header_of(*kind.columns); }

std::string to_csv(const Results& all) {
  std::string text = header_of(all.front().columns()) + "\n";
  for (const Row& row : all)
    for (size_t n = 0; n < row.cells().size(); ++n)
      text += row.text(n) + (n + 1 < row.cells().size() ? "," : "\n");
  return text;
}

std::string checksum_of(const Results& all) {
  const std::string text = to_csv(all);
  Checksum sum;
  sum.add(text.data(), text.size());
  return sum.digits();
}

Results read_results(const std::string& path, const Kind& kind) {
  if (const std::filesystem::path at(path); !std::filesystem::exists(at))
    bad_input("{} has no {}; make it with `poslab {} {}`", at.parent_path().string(), at.filename().string(),
              kind.command("eval"), shell_path(at.parent_path()));
  Results all;
  for (const std::string& line : read_lines_below(path, header_of(kind))) {
    const std::vector<std::string> texts = split(line, ',');
    std::vector<Row::Cell> cells(texts.size());
    bool whole = texts.size() == kind.columns->size();
    for (size_t n = 0; whole && n < texts.size(); ++n) whole = read_as((*kind.columns)[n], texts[n], cells[n]);
    if (!whole) damaged_line(path, all.size() + 2, line);
    Row row(kind.columns, std::move(cells));
    for (const Row& before : all)
      if (before.same_key(row)) damaged_line(path, all.size() + 2, line);
    all.push_back(std::move(row));
  }
  return all;
}

namespace {

void check_rows(const Results& rows, const Choices& tested, const std::string& csv) {
  for (const Row& row : rows)
    if (row["samples"] != tested.number("eval_samples"))
      failure("{} has {} samples at length {}, and its test {}", csv, row["samples"], row.length(),
              tested["eval_samples"]);
  std::vector<int> wanted = kind_of(tested).tested_lengths(tested), found;
  for (const Row& row : rows) found.push_back(row.length());
  std::sort(wanted.begin(), wanted.end()), std::sort(found.begin(), found.end());
  if (found == wanted) return;
  const auto [missing, extra] = std::mismatch(wanted.begin(), wanted.end(), found.begin(), found.end());
  const bool lacks = missing != wanted.end() && (extra == found.end() || *missing < *extra);
  failure("{} has {} and its test {}: it {} length {}", csv, counted(found.size(), "row"), wanted.size(),
          lacks ? "lacks" : "should not have", lacks ? *missing : *extra);
}

// The table has six digits of each accuracy.
void check_score(const char* name, std::optional<double> recorded, double found, const std::string& csv,
                 const std::string& json) {
  if (recorded && !(std::abs(*recorded - found) < 1e-6))
    failure("the {} of {} is {:.6f}, and that of {} is {:.6f}", name, json, *recorded, csv, found);
}

void check_table(const RecordedTest& t, const std::string& csv, const std::string& json) {
  if (const std::string is = checksum_of(t.rows); t.record.table && *t.record.table != is)
    failure("{} has the checksum {}, and {} is of a table with {}: one of them was changed or is of another run", csv,
            is, json, *t.record.table);
}

// Absent of a record without options, and of a class that this process lacks.
std::optional<Choices> options_of(const RunRecord& record, const Kind& kind) {
  if (record.config.empty()) return {};
  try {
    return config_of(kind, record.config);
  } catch (const BadInput&) { return {}; }
}

// The options that were recorded are those of config.toml, under those of the test. A run may move to another device.
void check_same_run(const std::string& folder, const Choices& recorded, const Values& of_test,
                    const std::string& json) {
  const Kind& kind = kind_of(recorded);
  const std::string path = folder + "/config.toml";
  Choices own = kind.configure(read_toml(read_file(path), path, kind));
  for (const auto& [option, value] : of_test) own.set(option, value);
  for (const Option& o : kept_options(kind))
    if (o.name != "device" && own[o.name] != recorded[o.name])
      bad_input("{0}/config.toml says {1} = {2}, and {3} {1} = {4}: one of them was changed or is of another run; "
                "restore it, or train anew with another --out",
                folder, o.name, own[o.name], json, recorded[o.name]);
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
  const Row scores = kind_of(tested).scores(tested, t.rows);
  const auto check = [&](const char* name, std::optional<double> recorded) {
    if (scores.has(name)) check_score(name, recorded, scores[name], csv, json);
  };
  if (const RunRecord& r = t.record; r.seconds && r.steps && r.steps_per_second)
    if (const double rate = double(*r.steps) / *r.seconds; !(std::abs(*r.steps_per_second / rate - 1) < 1e-6))
      failure("the steps_per_second of {} is {:.6g}, and its steps in its seconds are {:.6g}", json,
              *r.steps_per_second, rate);
  check("paper_score", t.record.paper_score), check("released_score", t.record.released_score);
  if (const auto& b = t.record.baselines)
    check("chance", b->chance), check("majority", b->majority), check("content_only", b->content_only);
  check_table(t, csv, json);
}

RecordedTest read_test(const std::string& folder, const std::string& name) {
  const Kind& kind = kind_of_folder(folder);
  const RecordedTest test = read_both(folder, name, kind);
  const std::optional<Choices> recorded = options_of(test.record, kind);
  if (!recorded) {
    check_table(test, folder + "/" + csv_of_test(name), folder + "/" + json_of_test(name));
    return test;
  }
  if (!is_hf_folder(folder)) check_same_run(folder, *recorded, test.record.test, folder + "/" + json_of_test(name));
  check_files(test, *recorded, folder, name);
  return test;
}

RecordedTest read_test(const std::string& folder, const Choices& config) {
  const RecordedTest test = read_both(folder, "", kind_of(config));
  check_files(test, config, folder, "");
  return test;
}

}  // namespace poslab
