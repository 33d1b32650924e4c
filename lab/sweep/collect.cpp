#include "lab/sweep/collect.h"

#include <fmt/ranges.h>

#include "core/error.h"
#include "lab/config_json.h"
#include "lab/files.h"

namespace poslab {
namespace {

using nlohmann::json;

// Its result.json, or none and why.
std::pair<json, std::string> read_result(const std::string& path) {
  try {
    const json result = json::parse(read_file(path), nullptr, false);
    if (result.is_object()) return {result, ""};
    return {json(), fmt::format("{} is damaged; remove its folder and run the sweep again", path)};
  } catch (const Failure& e) { return {json(), e.what()}; }
}

json at(const json& object, const char* name) { return object.is_object() ? object.value(name, json()) : json(); }

}  // namespace

Table collect(const Plan& plan, const SweepFolder& folder) {
  std::vector<const Option*> options;
  for (const Option* o : differing(plan))
    if (o->name != "steps") options.push_back(o);  // they have a column of their own
  Table table{{"id", "state"}, {}};
  for (const Option* o : options) table.columns.push_back(o->name);
  for (const char* more :
       {"steps", "paper_score", "released_score", "guess", "majority", "content_only", "seconds", "commit", "reason"})
    table.columns.push_back(more);
  const std::vector<TrialState> all = states(plan, folder);
  for (size_t i = 0; i < plan.size(); ++i) {
    const Trial& t = plan[i];
    const json config = config_json(t.config);
    const bool done = all[i] == TrialState::done;
    const auto [result, reason] = done ? read_result(folder.result(t)) : std::pair(json(), folder.reason(t, all[i]));
    std::vector<json> row = {t.id, name_of(done && !reason.empty() ? TrialState::failed : all[i])};
    for (const Option* o : options) row.push_back(config[o->name]);
    row.push_back(config["steps"]);
    for (const char* score : {"paper_score", "released_score"}) row.push_back(at(result, score));
    for (const char* base : {"guess", "majority", "content_only"}) row.push_back(at(at(result, "baselines"), base));
    for (const char* how : {"seconds", "commit"}) row.push_back(at(result, how));
    row.push_back(reason.empty() ? json() : json(reason));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string to_csv(const Table& table) {
  std::string text = fmt::format("{}\n", fmt::join(table.columns, ","));
  for (const auto& row : table.rows)
    for (size_t i = 0; i < row.size(); ++i) {
      std::string cell = row[i].is_null() ? "" : row[i].is_string() ? row[i].get<std::string>() : row[i].dump();
      if (cell.find_first_of(",\"\n") != std::string::npos) {
        for (size_t quote = 0; (quote = cell.find('"', quote)) != std::string::npos; quote += 2)
          cell.insert(quote, 1, '"');
        cell = '"' + cell + '"';
      }
      text += cell + (i + 1 < row.size() ? "," : "\n");
    }
  return text;
}

}  // namespace poslab
