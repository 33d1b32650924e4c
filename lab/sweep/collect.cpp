#include "lab/sweep/collect.h"

#include <fmt/ranges.h>

#include "core/error.h"
#include "lab/config_json.h"
#include "lab/run_record.h"

namespace poslab::sweep {
namespace {

using nlohmann::json;

// Its result.json, or none and why.
std::pair<RunRecord, std::string> record_of(const std::string& path) {
  try {
    return {read_record(path), ""};
  } catch (const Failure& e) { return {{}, e.what()}; }
}

template <class T>
json cell(const std::optional<T>& value) { return value ? json(*value) : json(); }

}  // namespace

Table collect(const Plan& plan, const SweepFolder& folder) {
  std::vector<const RunOption*> options;
  for (const RunOption* o : differing(plan))
    if (o->name != "steps") options.push_back(o);  // they have a column of their own
  Table table{{"id", "state"}, {}};
  for (const RunOption* o : options) table.columns.push_back(o->name);
  for (const char* more :
       {"steps", "paper_score", "released_score", "guess", "majority", "content_only", "seconds", "commit", "reason"})
    table.columns.push_back(more);
  const std::vector<TrialState> all = states(plan, folder);
  for (size_t i = 0; i < plan.size(); ++i) {
    const Trial& t = plan[i];
    const json config = config_json(t.config);
    const bool done = all[i] == TrialState::done;
    const auto [r, reason] = done ? record_of(folder.result(t)) : std::pair(RunRecord(), folder.reason(t, all[i]));
    std::vector<json> row = {t.id, name_of(done && !reason.empty() ? TrialState::failed : all[i])};
    for (const RunOption* o : options) row.push_back(config[o->name]);
    row.push_back(config["steps"]);
    const std::optional<Baselines>& b = r.baselines;
    for (const json& value : {cell(r.paper_score), cell(r.released_score), b ? json(b->chance) : json(),
                              b ? json(b->majority) : json(), b ? json(b->content_only) : json(), cell(r.seconds),
                              cell(r.commit)})
      row.push_back(value);
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

}  // namespace poslab::sweep
