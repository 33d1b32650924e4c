#include "lab/runs/sweep/kept.h"

#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "core/choices.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/shell.h"
#include "lab/runs/own_files.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/text_source.h"

namespace poslab::sweep {
namespace {
namespace fs = std::filesystem;

using ColumnNames = std::map<std::string, std::string>;  // "ID COLUMN" and its cells, or the other way round

// {"length": "1 2 3", ...} of a table; a column that equals one in `known` is replaced by that column's name.
Json transposed(const std::string& csv, const std::string& id, ColumnNames& known) {
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = split(line, ',');
  std::vector<std::string> cells(names.size());
  while (std::getline(lines, line)) {
    const std::vector<std::string> row = split(line, ',');
    if (row.size() != names.size())
      failure("trial {} is damaged: its line \"{}\" has another number of cells; remove its folder", id, line);
    for (size_t i = 0; i < row.size(); ++i) cells[i] += (cells[i].empty() ? "" : " ") + row[i];
  }
  Json all;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto [old, fresh] = known.emplace(cells[i], fmt::format("{} {}", id, names[i]));
    all[names[i]] = fresh ? cells[i] : "= " + old->second;
  }
  return all;
}

// Turns such an object back into a table.
std::string csv_of(const Json& tested, const std::string& id, ColumnNames& known) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;
  for (const auto& [name, said] : tested.items()) {
    if (!said.is_string()) failure("its column {} is not a text", name);
    std::string cells = said.get<std::string>();
    if (cells.starts_with("= ")) {
      const size_t space = cells.rfind(' ');
      const std::string other = cells.substr(2, space - 2), column = cells.substr(space + 1);
      const auto found = known.find(fmt::format("{} {}", other, column));
      if (found == known.end())
        failure("it takes the column {} from trial {}, which no earlier line has", column, other);
      cells = found->second;
    }
    names.push_back(name);
    known[fmt::format("{} {}", id, name)] = cells;
    columns.push_back(split(cells, ' '));
    if (columns.back().size() != columns[0].size()) failure("{} has another number of cells than {}", name, names[0]);
  }
  std::string text = fmt::format("{}\n", fmt::join(names, ","));
  for (size_t row = 0; row < columns[0].size(); ++row)
    for (size_t i = 0; i < columns.size(); ++i) text += columns[i][row] + (i + 1 < columns.size() ? "," : "\n");
  return text;
}

bool is_record(const std::string& file) { return file.ends_with(".json"); }

// The record of a trial's test, without the path that `poslab align` writes, which is that of the run on this machine.
Json record(const std::string& text, const std::string& path, const std::string& id) {
  Json all = try_json(text);
  if (!all.is_object() || all.empty())
    failure("{} is damaged: it is not an object with fields; remove it, and the same command makes it again", path);
  std::string of = all.value("id", Json(id)).get<std::string>();
  if (all.contains("run")) of = fs::path(all["run"].get<std::string>()).filename();
  if (of != id)
    failure("{} belongs to the trial {}, but this is {}; remove it, and the same command makes it again", path, of, id);
  all.erase("run");
  return all;
}

std::string if_there(const std::string& path) { return fs::exists(path) ? read_file(path) : ""; }

std::string checksum_of(const std::string& id, const Kept& kept) {
  std::string all = id + "\n" + kept.result + "\n" + kept.tested;
  for (const auto& [file, csv] : kept.tests) all += file + "\n" + csv;
  return checksum_of_bytes(all);
}

bool in_part(const std::string& csv, const Trial& t) { return !csv.starts_with(header_of(kind_of(t.run)) + "\n"); }

// Checks the options that a result repeats from its run.
void check_options(const RunRecord& r, const Trial& t) {
  const auto check = [&](const char* option, const std::optional<std::string>& found) {
    if (found && t.run.has(option) && *found != t.run[option])
      failure("its \"result\" belongs to another trial: it has {} = {}, not {}", option, *found, t.run[option]);
  };
  check("task", r.task), check("encoding", r.encoding), check("positions", r.positions);
  check("steps", r.steps ? std::optional(fmt::format("{}", *r.steps)) : std::nullopt);
}

// Checks the tests in a trial's folder, its own and the others. A table that a kept line stores in part is checked only
// for the columns that it has.
void check_tests(const Trial& t, const std::string& run, const std::string& csv, const std::string& json) {
  const std::string table = run + "/eval.csv";
  const bool some = in_part(read_file(table), t);
  RecordedTest test{read_results(table, kind_of(t.run), some), {}};
  if (fs::exists(run + "/result.json")) test.record = read_record(run + "/result.json");
  check_options(test.record, t);
  if (some) test.record.table = {}, test.record.baselines = {};
  if (some && std::isnan(test.rows.front()["accuracy"])) test.record.paper_score = test.record.released_score = {};
  check_test(test, t.run, csv, json);
  for (const TrialTest& one : t.tests) {
    const std::string path = run + "/" + one.file;
    if (!one.file.ends_with(".csv") || !fs::exists(path)) continue;
    if (in_part(read_file(path), t))
      read_results(path, kind_of(t.run), true);
    else
      read_test(t, one, run);
  }
}

std::string line_of(const Trial& t, const SweepFolder& folder, ColumnNames& known) {
  const std::string run = folder.run(t);
  folder.must_fit(t);
  check_tests(t, run, run + "/eval.csv", folder.result(t));
  if (!in_part(read_file(run + "/eval.csv"), t)) read_test(run, t.run);
  Json line = {{"id", t.id}};
  Kept kept{"", read_file(run + "/eval.csv"), {}};
  if (const std::string result = if_there(folder.result(t)); !result.empty()) {
    line["result"] = parse_json(result, folder.result(t));
    line["result"].erase("config"), line["result"].erase("files");
    for (const Input& of : all_inputs())
      if (const std::string is = folder.input_read(t, of); !is.empty()) line["result"]["files"][of.key] = is;
    kept.result = line["result"].dump();
  }
  line["tested"] = transposed(kept.tested, t.id, known);
  for (const TrialTest& test : t.tests)
    if (const std::string path = run + "/" + test.file, text = if_there(path); !text.empty()) {
      const Json one =
          is_record(path) ? record(text, path, t.id) : transposed(text, fmt::format("{} {}", t.id, test.file), known);
      kept.tests[test.file] = is_record(path) ? one.dump(1) + "\n" : text;
      line["tests"][test.file] = one;
    }
  line["checksum"] = checksum_of(t.id, kept);
  return line.dump() + "\n";
}

}  // namespace

std::string text_read(const Kept& kept) {
  const Json result = try_json(kept.result), files = result.is_object() ? result.value("files", Json()) : Json(),
             text = files.is_object() ? files.value("text", Json()) : Json();
  return text.is_string() ? text.get<std::string>() : "";
}

std::map<std::string, Kept> read_kept(const std::string& path) {
  std::map<std::string, Kept> all;
  ColumnNames known;
  std::istringstream lines(read_input(path));
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      const Json said = parse_json(line, "it");
      if (!said.is_object() || !said.value("id", Json()).is_string()) failure("it is not an object with an \"id\"");
      const std::string id = said["id"];
      const Json tested = said.value("tested", Json()), result = said.value("result", Json::object());
      if (!tested.is_object() || tested.empty()) failure("its \"tested\" is not an object with columns");
      if (!result.is_object()) failure("its \"result\" is {}, not an object", in_short(result));
      Kept kept{said.contains("result") ? result.dump() : "", csv_of(tested, id, known), {}};
      const Json tests = said.value("tests", Json::object());
      if (!tests.is_object()) failure("its \"tests\" is not an object with tables");
      for (const auto& [file, test] : tests.items()) {
        if (!test.is_object() || test.empty()) failure("its test {} is not an object with columns", file);
        kept.tests[file] = is_record(file) ? test.dump(1) + "\n" : csv_of(test, fmt::format("{} {}", id, file), known);
      }
      if (const Json sum = said.value("checksum", Json()); !sum.is_null() && sum != checksum_of(id, kept))
        failure("its checksum is {} and should be {}: id, result or a table was changed or belongs to another trial",
                in_short(sum), checksum_of(id, kept));
      if (!all.emplace(id, kept).second) failure("its trial {} has an earlier line", id);
    } catch (const std::exception& e) {
      failure("{} is damaged: line {}: {}; restore the file from an earlier commit or a copy", path, number,
              e.what());
    }
  }
  return all;
}

size_t keep(const Plan& plan, const SweepFolder& folder, const std::string& path) {
  std::string text = if_there(path);
  ColumnNames known;
  std::map<std::string, Kept> there;
  if (!text.empty()) there = read_kept(path);
  for (const auto& [id, kept] : there) {
    transposed(kept.tested, id, known);
    for (const auto& [file, csv] : kept.tests)
      if (!is_record(file)) transposed(csv, fmt::format("{} {}", id, file), known);
  }
  size_t added = 0;
  const std::vector<TrialState> all = states(plan, folder);
  for (size_t i = 0; i < plan.size(); ++i) {
    const Trial& t = plan[i];
    if (all[i] != TrialState::done || there.count(t.id)) continue;
    text += line_of(t, folder, known);
    ++added;
  }
  if (added) write_file(path, text);
  return added;
}

std::string kept_lines(const std::vector<Plan>& plans, const SweepFolder& folder) {
  std::string text;
  ColumnNames known;
  for (const Plan& plan : plans)
    for (const Trial& t : plan)
      if (folder.trained(t)) text += line_of(t, folder, known);
  return text;
}

void check_replaceable(const std::string& path, const std::vector<Plan>& plans, const SweepFolder& folder) {
  if (!fs::exists(path)) return;
  std::map<std::string, Kept> lost = read_kept(path);
  for (const Plan& plan : plans)
    for (const Trial& t : plan) lost.erase(t.id);
  std::erase_if(lost, [&](const auto& kept) { return fs::exists(folder.path() + "/" + kept.first); });
  if (!lost.empty())
    bad_input("{} has {} that belong to other tables, and would be lost; choose another --out", path,
              counted(lost.size(), "trial"));
}

size_t restore(const Plan& plan, const SweepFolder& folder, const std::string& path) {
  const std::map<std::string, Kept> all = read_kept(path);
  make_folder(folder.path());
  size_t restored = 0;
  std::map<std::string, std::string> texts;  // checksums by path; "" for a missing file, which cannot differ
  for (const Trial& t : plan) {
    const auto kept = all.find(t.id);
    if (kept == all.end() || fs::exists(folder.run(t))) continue;
    if (const std::string then = text_read(kept->second), at = then.empty() ? "" : t.run["text"]; !at.empty()) {
      const auto [now, fresh] = texts.emplace(at, "");
      if (fresh && fs::exists(at)) now->second = checksum_of_text(at);
      if (!now->second.empty() && now->second != then)
        bad_input("the text {} differs from the one that trial {} of {} has read: its checksum is {}, and was {}; "
                  "restore it, or leave out --kept",
                  at, t.id, path, now->second, then);
    }
    const std::optional<Claim> claim = Claim::take(folder.path(), t.id);
    if (!claim || fs::exists(folder.run(t))) continue;  // another process trains it
    const std::string making = folder.run(t) + ".partial";
    make_folder(making);
    write_file(making + "/eval.csv", kept->second.tested);
    for (const TrialTest& test : t.tests)
      if (const auto csv = kept->second.tests.find(test.file); csv != kept->second.tests.end()) {
        make_folder(std::filesystem::path(making + "/" + test.file).parent_path());
        write_file(making + "/" + test.file, csv->second);
      }
    if (!kept->second.result.empty()) {
      Json result = parse_json(kept->second.result, path);
      result["config"] = config_json(t.run);
      write_file(making + "/result.json", result.dump(2) + "\n");
    }
    try {
      check_tests(t, making, "its \"tested\"", "its \"result\"");
    } catch (const Failure& e) {
      fs::remove_all(making);
      failure("{} is damaged: trial {}: {}; restore the file from an earlier commit or a copy", path, t.id, e.what());
    }
    fs::rename(making, folder.run(t));  // a trial exists as a whole or not at all
    ++restored;
  }
  return restored;
}

}  // namespace poslab::sweep
