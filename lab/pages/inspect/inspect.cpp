#include "lab/pages/inspect/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/ascii.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"
#include "lab/pages/inspect/figures.h"
#include "lab/pages/report/run_about.h"
#include "lab/runs/naming.h"
#include "lab/runs/output.h"
#include "lab/runs/room.h"
#include "lab/runs/run.h"

namespace poslab {
extern const std::string_view inspect_txt, inside_txt;
}

namespace poslab::inspect {
namespace {

namespace fs = std::filesystem;
using page::json, page::literal, page::percent;

struct Inspected {
  std::string folder, heading;  // heading: the run's task or text
  std::string task, encoding;   // tasks to explain; none for a language model
  std::shared_ptr<const Learner> learner;
  Inspection inside;
  bool trained_elsewhere;           // an external checkpoint, which has no steps
  std::string key = {}, name = {};  // key: in CSV and npz; name: on the page
};

std::string key_of(const std::string& folder) {
  std::string key = fs::path(folder + "/").parent_path().filename();
  for (char& c : key)
    if (!ascii::is_alnum(c) && c != '-' && c != '_' && c != '.') c = '_';
  return key;
}

// Runs are named as in a report: by their differences, then by seed, then by folder.
void name_all(std::vector<Inspected>& runs, const Kind& kind) {
  std::vector<Values> settings;
  for (const Inspected& run : runs) settings.push_back(setting_of(values_of(run.learner->config())));
  const Naming naming(settings, kind);
  std::map<std::string, std::set<int64_t>> seeds;
  std::map<std::string, int> of_one_name;
  for (size_t n = 0; n < runs.size(); ++n) {
    runs[n].name = fmt::format("{}, {}", runs[n].heading, naming.name(settings[n]));
    seeds[runs[n].name].insert(runs[n].learner->config().count("seed"));
  }
  for (Inspected& run : runs) {
    if (seeds.at(run.name).size() > 1) run.name += fmt::format(", seed {}", run.learner->config().count("seed"));
    ++of_one_name[run.name];
  }
  std::set<std::string> taken;
  for (size_t n = 0; n < runs.size(); ++n) {
    if (of_one_name.at(runs[n].name) > 1) runs[n].name += ", " + runs[n].folder;
    const std::string key = runs[n].key = key_of(runs[n].folder);
    for (size_t more = n + 1; !taken.insert(runs[n].key).second; ++more) runs[n].key = fmt::format("{}-{}", key, more);
  }
}

Inspected opened(const std::string& folder, std::vector<int> lengths, int samples, const std::string& device,
                 const std::string& text) {
  const Opened model = open_model(folder, device, text);
  const RunSpec& c = model.learner->config();
  if (const int usual = model.usual_length / 2; usual && lengths.empty()) lengths = {usual, 2 * usual};
  return {folder,
          model.run ? heading_of(folder, c) : folder,
          c.has("task") ? c["task"] : "",
          c.has("task") ? c.scheme.spelled() : c["encoding"],
          model.learner,
          model.learner->inside(lengths, samples, model.text),
          !model.run};
}

// All models, and the arrays of earlier ones, are in memory; arrays.npz is made of them at the end.
Use use_of_all(const std::vector<Inspected>& runs, const std::vector<int>& lengths) {
  Use all{.what = "inspecting", .with = "--lengths"};
  if (!lengths.empty()) all.with += fmt::format(" to {}", *std::max_element(lengths.begin(), lengths.end()));
  double arrays = 0;
  for (const Inspected& run : runs) {
    const Use one = use_of(*run.learner, "inspecting", run.inside.takes);
    all.parameters += one.parameters, arrays += run.inside.arrays, all.takes.then(one.takes), all.device = one.device;
  }
  all.takes.bytes += 2 * arrays;
  return all;
}

std::string reading(const Inspected& run, const Pca& p, const Coverage& c) {
  std::string text = fmt::format(
      "**{}**, {}", literal(run.name),
      run.trained_elsewhere ? "an external checkpoint" : fmt::format("after {} steps", run.learner->adam().step));
  text += p.lengths.empty() ? "" : ":";
  for (size_t n = 0; n < p.lengths.size(); ++n) {
    text += fmt::format("{} {} of the {} right at length {}", n ? ";" : "", percent(p.accuracy[n]),
                        run.task.empty() ? "next tokens" : "answer slots", p.lengths[n]);
    if (n == 0) continue;
    const std::string met = percent(c.tests[n].seen) + (c.rounded ? " (rounded to whole numbers)" : "");
    if (c.counted == Reads::positions) text += fmt::format(", with positions seen in training in {} of the slots", met);
    if (c.counted == Reads::distances) text += fmt::format(", with distances seen in training in {} of the pairs", met);
    const auto excess = [n](const PcaLayer& layer) { return layer.clouds[n].outside - layer.clouds[0].outside; };
    const auto worst = std::max_element(p.layers.begin(), p.layers.end(),
                                        [&](const PcaLayer& a, const PcaLayer& b) { return excess(a) < excess(b); });
    text += fmt::format(
        ", and {} of the outputs of layer {} lie where none of length {} does, against {} for other strings of that "
        "length",
        percent(worst->clouds[n].outside), worst - p.layers.begin() + 1, p.lengths[0],
        percent(worst->clouds[0].outside));
  }
  return text + ".";
}

// Calls write(folder). A new folder gets its name when complete: a partial one would block the next attempt. In an
// existing folder the page is written first, so that the next attempt recognizes it.
template <class Write>
void write_whole(const std::string& out, const Write& write) {
  std::error_code error;
  if (fs::exists(out, error)) return make_folder(out), write(out);
  write_new_folder(out, write);
}

}  // namespace

void write(const std::vector<std::string>& folders, const std::vector<int>& lengths, int samples,
           const std::string& out, const std::string& device, const std::string& text, bool force) {
  std::map<std::string, std::string> files = {{"attention.npz", ""}, {"pca.npz", ""}};
  for (const Csv& csv : csv_files) files[csv.file] = fmt::format("{}\n", csv.header);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files) names.push_back(name);
  check_output_folder("-o", out, "index.html", html_output("poslab inspect"), names);
  if (std::error_code error; fs::exists(partial_of(out), error))
    bad_input("-o {}: {} exists already; choose another folder, or remove it", shell_path(out),
              shell_path(partial_of(out)));
  std::vector<Inspected> runs;
  const Kind& kind = one_kind(folders, "inspect");
  for (const std::string& folder : folders) runs.push_back(opened(folder, lengths, samples, device, text));
  name_all(runs, kind);
  begin(use_of_all(runs, lengths), force);
  std::string command = "poslab inspect";
  std::vector<Array> points, weights;
  json readings = json::array(), planes = readings, maps = readings, charts = readings, dispersed = readings;
  for (const Inspected& run : runs) {
    const std::string id = fmt::format("run{}", &run - runs.data());
    const Inside in = run.inside.look();
    const auto& [d, b, p, a, c] = in;
    for (const Csv& csv : csv_files) files[csv.file] += csv.lines(run.key, in);
    for (json& figure : dispersion_figures(d, b, run.name, id)) dispersed.push_back(std::move(figure));
    readings.push_back(page::paragraph(reading(run, p, c), "reading"));
    if (p.layers.empty()) continue;
    std::ranges::move(pca_arrays(run.key, p), std::back_inserter(points));
    std::ranges::move(attention_arrays(run.key, a), std::back_inserter(weights));
    planes.push_back(pca_figure(p, run.name));
    maps.push_back(attention_figure(a, run.name, id));
    charts.push_back(coverage_figure(c, run.name, "coverage" + id));
  }
  for (const Inspected& run : runs) command += fmt::format(" {}", shell_path(run.folder));
  std::vector<std::string> tasks, encodings;
  for (const Inspected& run : runs) tasks.push_back(run.task), encodings.push_back(run.encoding);
  const bool of_tasks = !runs[0].task.empty();
  const std::string title = runs.size() == 1 ? "Inside " + runs[0].name : fmt::format("Inside {} runs", runs.size());
  if (!lengths.empty()) command += fmt::format(" --lengths {}", fmt::join(lengths, ","));
  if (!text.empty()) command += " --text " + shell_word(text);
  if (!device.empty()) command += fmt::format(" --device {}", device);
  command += fmt::format(" --samples {} -o {}", samples, shell_path(out));
  const bool inside = !points.empty();
  const json within =
      !inside ? json()
              : page::sections(inside_txt, {{"coverage", charts},
                                            {"where", of_tasks ? "the answer slots" : "the last tokens of each text"},
                                            {"dot", of_tasks ? "slot" : "token"},
                                            {"pca", planes},
                                            {"string", of_tasks ? "test string" : "text"},
                                            {"parts", of_tasks ? "Dashed lines separate input and answer slots."
                                                               : "A token sees itself and those before it."},
                                            {"attention", maps}});
  const json document = {
      {"command", "inspect"},
      {"title", title},
      {"lead", readings},
      {"sections", page::sections(inspect_txt, {{"about", about_section(tasks, encodings)},
                                                {"inside", within},
                                                {"whose", inside ? "attention" : "the encoder's attention"},
                                                {"dispersion", dispersed},
                                                {"command", {{"kind", "commands"}, {"text", command}}}})}};
  if (inside) files["pca.npz"] = npz(points), files["attention.npz"] = npz(weights);
  for (const Csv& csv : csv_files)
    if (csv.of_decoders && !inside) files[csv.file].clear();
  write_whole(out, [&](const std::string& to) {
    write_file(to + "/index.html", page::file_of(document, {"chart", "matrix", "inspect"}));
    for (const auto& [name, bytes] : files)
      if (!bytes.empty())
        write_file(to + "/" + name, bytes);
      else
        fs::remove(to + "/" + name);  // of an earlier inspection of other runs
  });
}

}  // namespace poslab::inspect
