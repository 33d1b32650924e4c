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
#include "lab/pages/inspect/tables.h"
#include "lab/pages/page/page.h"
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
  Values setting;
  int64_t seed;
  std::optional<int64_t> steps;  // absent for an external checkpoint
  std::function<Inside()> look;
  Use use;                          // the model, while its run is inspected
  double arrays;                    // bytes, kept until all runs are done
  std::string key = {}, name = {};  // key: in CSV and npz; name: on the page
};
struct Request {
  std::vector<int> lengths;
  int samples;
  std::string device, text;
};

std::string key_of(const std::string& folder) {
  std::string key = fs::path(folder + "/").parent_path().filename();
  for (char& c : key)
    if (!ascii::is_alnum(c) && c != '-' && c != '_' && c != '.') c = '_';
  return key;
}

// Like a report: by their differences, then by seed, then by folder.
void name_all(std::vector<Inspected>& runs, const Naming& naming) {
  std::map<std::string, std::set<int64_t>> seeds;
  std::map<std::string, int> of_one_name;
  for (Inspected& run : runs) {
    run.name = fmt::format("{}, {}", run.heading, naming.name(run.setting));
    seeds[run.name].insert(run.seed);
  }
  for (Inspected& run : runs) {
    if (seeds.at(run.name).size() > 1) run.name += fmt::format(", seed {}", run.seed);
    ++of_one_name[run.name];
  }
  for (Inspected& run : runs)
    if (of_one_name.at(run.name) > 1) run.name += ", " + run.folder;
}

Inspected opened(const std::string& folder, const Request& request) {
  const Opened model = open_model(folder, request.device, request.text);
  const std::shared_ptr<const Learner> learner = model.learner;
  const RunSpec& c = learner->config();
  std::vector<int> lengths = request.lengths;
  if (const int usual = model.usual_length / 2; usual && lengths.empty()) lengths = {usual, 2 * usual};
  const Inspection inside = learner->inside(lengths, request.samples, model.text);
  const auto look = [learner, of = inside.look] { return of(); };
  return {folder,
          model.run ? heading_of(folder, c) : folder,
          c.has("task") ? c["task"] : "",
          c.has("task") ? c.scheme.spelled() : c["encoding"],
          setting_of(values_of(c)),
          c.count("seed"),
          model.run ? std::optional(learner->adam().step) : std::nullopt,
          look,
          use_of(*learner, "inspecting", inside.takes),
          inside.arrays};
}

std::vector<Inspected> load(const std::vector<std::string>& folders, const Request& request) {
  std::vector<Inspected> runs;
  std::vector<Values> settings;
  const Kind& kind = one_kind(folders, "inspect");
  for (const std::string& folder : folders) {
    runs.push_back(opened(folder, request));
    runs.back().key = key_of(folder);
    settings.push_back(runs.back().setting);
  }
  name_all(runs, Naming(settings, kind));
  std::set<std::string> taken;
  for (size_t n = 0; n < runs.size(); ++n) {
    const std::string key = runs[n].key;
    for (size_t more = n + 1; !taken.insert(runs[n].key).second; ++more) runs[n].key = fmt::format("{}-{}", key, more);
  }
  return runs;
}

// All models, and the arrays of earlier ones, are in memory; arrays.npz is made of them at the end.
Use use_of_all(const std::vector<Inspected>& runs, const std::vector<int>& lengths) {
  Use all{.what = "inspecting", .with = "--lengths", .device = runs[0].use.device};
  if (!lengths.empty()) all.with += fmt::format(" to {}", *std::max_element(lengths.begin(), lengths.end()));
  double arrays = 0;
  for (const Inspected& run : runs)
    all.parameters += run.use.parameters, arrays += run.arrays, all.takes.then(run.use.takes);
  all.takes.bytes += 2 * arrays;
  return all;
}

std::string reading(const Inspected& run, const Pca& p, const Coverage& c) {
  std::string text = fmt::format("**{}**, {}", literal(run.name),
                                 run.steps ? fmt::format("after {} steps", *run.steps) : "an external checkpoint");
  text += p.lengths.empty() ? "" : ":";
  for (size_t n = 0; n < p.lengths.size(); ++n) {
    text += fmt::format("{} {} of the {} right at length {}", n ? ";" : "", percent(p.accuracy[n]),
                        run.task.empty() ? "next tokens" : "answer slots", p.lengths[n]);
    if (n == 0) continue;
    const std::string met = percent(c.tests[n].seen) + (c.rounded ? " (rounded to whole numbers)" : "");
    if (c.counted == Reads::positions)
      text += fmt::format(", with positions seen in training in {} of the slots", met);
    if (c.counted == Reads::distances)
      text += fmt::format(", with distances seen in training in {} of the pairs", met);
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
  check_output_folder("-o", out, "index.html", html_output("poslab inspect"),
                      {"dispersion.csv", "logits.csv", "biases.csv", "pca.csv", "pca.npz", "attention.npz",
                       "coverage.csv"});
  if (std::error_code error; fs::exists(partial_of(out), error))
    bad_input("-o {}: {} exists already; choose another folder, or remove it", shell_path(out),
              shell_path(partial_of(out)));
  const std::vector<Inspected> runs = load(folders, {lengths, samples, device, text});
  begin(use_of_all(runs, lengths), force);
  std::string pca_text = pca_csv_header, coverage_text = coverage_csv_header;
  std::string dispersion_text = dispersion_csv_header, logits_text = logits_csv_header, biases_text = biases_csv_header;
  std::string command = "poslab inspect";
  std::vector<Array> points, weights;
  json readings = json::array(), planes = readings, maps = readings, charts = readings, dispersed = readings;
  for (const Inspected& run : runs) {
    const std::string id = fmt::format("run{}", &run - runs.data());
    const auto [d, b, p, a, c] = run.look();
    dispersion_text += dispersion_csv(run.key, d), logits_text += logits_csv(run.key, d);
    biases_text += biases_csv(run.key, b);
    for (json& figure : dispersion_figures(d, b, run.name, id)) dispersed.push_back(std::move(figure));
    readings.push_back(page::paragraph(reading(run, p, c), "reading"));
    if (p.layers.empty()) continue;
    pca_text += pca_csv(run.key, p), coverage_text += coverage_csv(run.key, c);
    for (Array& array : pca_arrays(run.key, p)) points.push_back(std::move(array));
    for (Array& array : attention_arrays(run.key, a)) weights.push_back(std::move(array));
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
                                           {"parts", of_tasks ? "Dashed lines part the input from the answer slots."
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
  write_whole(out, [&](const std::string& to) {
    write_file(to + "/index.html", page::file_of(document, {"chart", "matrix", "inspect"}));
    write_file(to + "/dispersion.csv", dispersion_text);
    write_file(to + "/logits.csv", logits_text);
    write_file(to + "/biases.csv", biases_text);
    if (inside) {
      write_file(to + "/pca.csv", pca_text);
      write_file(to + "/pca.npz", npz(points));
      write_file(to + "/attention.npz", npz(weights));
      write_file(to + "/coverage.csv", coverage_text);
    } else {  // files of an earlier inspection of other runs
      for (const char* name : {"pca.csv", "pca.npz", "attention.npz", "coverage.csv"}) fs::remove(to + "/" + name);
    }
  });
}

}  // namespace poslab::inspect
