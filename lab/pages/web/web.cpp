#include "lab/pages/web/web.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "experiment/config.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/matrix.h"
#include "lab/files/system.h"
#include "lab/pages/page/document.h"
#include "lab/runs/output.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/run_folder.h"

namespace poslab::web {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view place = R"(<script type="application/json" id="runs">[]</script>)";

// [[step, loss, accuracy, gradient_norm], ...]: about 300 of the logged steps, null for diverged training.
json log_of(const RunFolder& run) {
  std::vector<json> all;
  for (const Json& entry : read_steps(run.file("metrics.jsonl"), {"loss"})) {
    json row = json::array();
    for (const char* name : {"step", "loss", "accuracy", "grad_norm"}) row.push_back(json(entry.value(name, Json())));
    all.push_back(row);
  }
  const size_t apart = std::max<size_t>(1, all.size() / 300);
  json some = json::array();
  for (size_t n = (all.size() + apart - 1) % apart; n < all.size(); n += apart) some.push_back(all[n]);
  return some;
}

// [[length, share], ...]
json curve_of(const Results& tested, const char* column) {
  json curve = json::array();
  for (const Row& row : tested) curve.push_back({row.length(), row[column]});
  return curve;
}

json run_json(const std::string& path) {
  const RunFolder run = RunFolder::open(path);
  if (const auto bytes = double(fs::file_size(run.checkpoint())); bytes > most_bytes)
    bad_input("{} is {:.0f} MB large, but the page accepts checkpoints of at most {:.0f} MB; choose a smaller model",
              run.checkpoint(), bytes / 1e6, most_bytes / 1e6);
  const State state = run.load("cpu");
  const json log = log_of(run);  // read first: its error names a damaged line, a test's error only the file
  const Results tested = read_test(run.path()).rows;
  json config, baselines;
  for (const ChoiceOption& o : all_choices().options) config[o.option.name] = state.config[o.option.name];
  for (const char* name : {"chance", "majority", "content_only"}) baselines[name] = curve_of(tested, name);
  return {{"name", fs::path(run.path()).filename().string()},
          {"config", config},
          {"step", state.adam.step},
          {"log", log},
          {"curve", curve_of(tested, "accuracy")},
          {"baselines", baselines},
          {"checkpoint", data_uri("application/octet-stream", read_file(run.checkpoint()))}};
}

}  // namespace

std::string page_file() {
  const fs::path above = path_of_this_program().parent_path().parent_path();
  std::vector<fs::path> places{above / "web/past-the-edge.html"};  // of a build tree
  // A wheel may put the program deep inside its environment.
  for (fs::path at = above; at.has_relative_path(); at = at.parent_path())
    places.push_back(at / "share/poslab/past-the-edge.html");
  for (const fs::path& one : places)
    if (fs::is_regular_file(one)) return one.string();
  failure("this program came without the page: there is neither {} nor {}; `tools/web` makes it in the sources of "
          "poslab, after which `cmake --install`, `pip install .` and `tools/wheel` put it next to the program",
          (above / "share/poslab/past-the-edge.html").string(), places[0].string());
}

void write(const std::vector<std::string>& runs, const std::string& out) {
  if (runs.size() > most_runs)
    bad_input("web: the page has {} lanes, but {} runs are named; choose some of them", most_runs, runs.size());
  json all = json::array();
  for (const std::string& run : runs) {
    all.push_back(run_json(run));
    const auto task = [](const json& one) { return one["config"]["task"].get<std::string>(); };
    if (task(all.back()) != task(all[0]))
      bad_input("web: {} is of the task {}, and {} of {}; a page has one task, so make a page of each", runs[0],
                task(all[0]), run, task(all.back()));
  }
  check_output("-o", out, {{".html", "a page", "<!doctype html>", "<title>Past the edge</title>"}});
  const std::string page = page_file();
  std::string html = read_file(page);
  const size_t at = html.find(place);
  if (at == html.npos || html.find(place, at + 1) != html.npos)
    failure("{} has no place for runs; `tools/web` makes it again", page);
  html.replace(at + place.size() - std::string_view("[]</script>").size(), 2, page::script_safe(all));
  write_file(out, html);
}

}  // namespace poslab::web
