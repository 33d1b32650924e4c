#include "lab/pages/inspect/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "core/error.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/language/inside.h"
#include "experiment/lengths.h"
#include "experiment/t5/inside.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"
#include "lab/pages/inspect/figures.h"
#include "lab/pages/inspect/tables.h"
#include "lab/pages/page/page.h"
#include "lab/pages/report/run_about.h"
#include "lab/runs/language/run.h"
#include "lab/runs/naming.h"
#include "lab/runs/output.h"
#include "lab/runs/run_folder.h"
#include "lab/runs/t5/run.h"

namespace poslab {
extern const std::string_view inspect_html, inside_html;
}

namespace poslab::inspect {
namespace {

namespace fs = std::filesystem;
using page::escape, page::percent;
constexpr int most_of_biases = 1024;  // slots whose biases are drawn

struct Look {
  Dispersed dispersed;
  Biases biases;
  Pca pca{};  // this and what follows: not of a T5
  std::vector<AttentionMaps> maps{};
  Coverage coverage{};
};
struct Inspected {
  std::string folder, heading;  // heading: its task or text
  std::string task, encoding;   // which are explained; no task of a language model
  Values setting;
  int64_t seed, steps;
  std::function<Look()> look;
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
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '_';
  return key;
}

// As a report does: by what they differ in, then by the seed, then by the folder.
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

Inspected of_task(const std::string& folder, const Request& request) {
  if (!request.text.empty())
    bad_input("--text goes with runs of `poslab lm`; `poslab ask {} STRING` shows what this one does",
              shell_word(folder));
  const auto state = std::make_shared<const State>(RunFolder::open(folder).load(request.device));
  const Choices& c = state->config;
  const std::vector<int> lengths = request.lengths.empty() ? paper_lengths(c) : request.lengths;
  check_lengths(c, lengths);
  const auto look = [state, lengths, n = request.samples] {
    const Choices& c = state->config;
    const int T = slots(c, std::min(lengths.back(), most_of_biases));
    const PositionSample draw = test_draw(c, lengths.back(), 0, 1, T, Ids({1, T}, std::vector<int>(size_t(T), 0)));
    return Look{dispersed(probed(*state, n), lengths, n),
                biases(*state->net.encoding().layers[0], transformer_spec(c).shape(), draw.at_layer(0)),
                pca(*state, lengths, n), attention_maps(*state, lengths), coverage(c, lengths, state->adam.step)};
  };
  return {folder, page::headed(c["task"]), c["task"], scheme(c).spelled(), setting_of(values_of(c)),
          c.count("seed"), state->adam.step,     look};
}

Inspected of_language(const std::string& folder, const Request& request) {
  struct Model {  // without the folder, which others may work in
    language::Source source;
    language::State state;
  };
  language::Run opened = language::open(folder);
  const auto run = std::make_shared<const Model>(Model{std::move(opened.source), std::move(opened.state)});
  const language::State& state = run->state;
  const Choices& c = state.config;
  const int trained = c.whole("train_length");
  if (!request.device.empty() && request.device != "cpu")
    bad_input("--device {}: language models run on the cpu", request.device);
  if (run->source.grammar && !request.text.empty())
    bad_input("--text: {} reads copy_grammar, whose symbols are no letters; leave it out", folder);
  const std::vector<int> lengths = request.lengths.empty() ? std::vector{trained, 2 * trained} : request.lengths;
  const std::vector<int> said = request.text.empty() ? std::vector<int>() : run->source.reader().encode(request.text);
  language::check_lengths(state, lengths);
  if (!said.empty()) language::check_lengths(state, {int(said.size())});
  const auto look = [run, lengths, said, n = request.samples] {
    std::vector<AttentionMaps> maps;
    if (!said.empty()) maps.push_back(language::attention_maps(run->state, run->source, said));
    for (const int length : lengths) {
      if (!said.empty()) break;
      std::vector<int> window = language::test_window(run->state.config, run->source, length, 0);
      window.pop_back();
      maps.push_back(language::attention_maps(run->state, run->source, window));
    }
    const int T = std::min(lengths.back(), most_of_biases);
    const Decoder& net = run->state.net;
    return Look{dispersed(language::probed(run->state, run->source, n), lengths, n),
                biases(*net.encoding().layers[0], net.spec().shape(),
                       language::test_positions(run->state.config, T).at_layer(0)),
                language::pca(run->state, run->source, lengths, n), maps, language::coverage(run->state, lengths)};
  };
  return {folder,
          run->source.grammar ? "copy_grammar" : language::text_of(folder).path,
          "",
          c["encoding"],
          setting_of(values_of(c)),
          c.whole("seed"),
          state.adam.step,
          look};
}

Inspected of_t5(const std::string& folder, const Request& request) {
  if (!request.text.empty()) bad_input("--text goes with runs of `poslab lm`; {} is of `poslab t5`", folder);
  if (!request.device.empty() && request.device != "cpu")
    bad_input("--device {}: T5s run on the cpu", request.device);
  t5::Run opened = t5::open(folder);
  Choices& c = opened.state.config;
  const int trained = c.whole("train_length");
  const std::vector<int> lengths = request.lengths.empty() ? std::vector{trained, 4 * trained} : request.lengths;
  c.set("eval_lengths", fmt::format("{}", fmt::join(lengths, "/")));
  t5::check(c);
  const auto state = std::make_shared<const t5::State>(std::move(opened.state));
  const auto look = [state, lengths, n = request.samples] {
    const int T = std::min(lengths.back(), most_of_biases);
    const PositionSample draw(sampler(state->config), Resample::per_forward, {}, 1, T);
    return Look{dispersed(t5::probed(*state, n), lengths, n),
                biases(*state->net.encoding().layers[0], state->net.spec().shape(false), draw.at_layer(0))};
  };
  return {folder, state->config["tasks"], "", state->config["encoding"], setting_of(values_of(state->config)),
          state->config.whole("seed"), state->adam.step, look};
}

std::vector<Inspected> load(const std::vector<std::string>& folders, const Request& request) {
  std::vector<Inspected> runs;
  std::vector<Values> settings;
  const Kind& kind = one_kind(folders, "inspect");
  for (const std::string& folder : folders) {
    runs.push_back(kind == strings_kind() ? of_task(folder, request)
                   : kind == t5_kind() ? of_t5(folder, request)
                                         : of_language(folder, request));
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

std::string reading(const Inspected& run, const Pca& p, const Coverage& c) {
  std::string text = fmt::format("<p class=\"reading\"><b>{}</b>, after {} steps", escape(run.name), run.steps);
  text += p.lengths.empty() ? "" : ":";
  for (size_t n = 0; n < p.lengths.size(); ++n) {
    text += fmt::format("{} {} of the {} right at length {}", n ? ";" : "", percent(p.accuracy[n]),
                        run.task.empty() ? "next tokens" : "answer slots", p.lengths[n]);
    if (n == 0) continue;
    const std::string met = percent(c.tests[n].seen) + (c.rounded ? " (rounded to whole numbers)" : "");
    if (c.counted == Reads::positions)
      text += fmt::format(", where training had met the positions of {} of the slots", met);
    if (c.counted == Reads::distances)
      text += fmt::format(", where training had met the distances of {} of the pairs", met);
    const auto excess = [n](const PcaLayer& layer) { return layer.clouds[n].outside - layer.clouds[0].outside; };
    const auto worst = std::max_element(p.layers.begin(), p.layers.end(),
                                        [&](const PcaLayer& a, const PcaLayer& b) { return excess(a) < excess(b); });
    text += fmt::format(
        ", and {} of what leaves layer {} falls where nothing of length {} did, against {} for other strings of that "
        "length",
        percent(worst->clouds[n].outside), worst - p.layers.begin() + 1, p.lengths[0],
        percent(worst->clouds[0].outside));
  }
  return text + ".</p>\n";
}

}  // namespace

void write(const std::vector<std::string>& folders, const std::vector<int>& lengths, int samples,
           const std::string& out, const std::string& device, const std::string& text) {
  check_output_folder("-o", out, "index.html", html_output("poslab inspect"),
                      {"dispersion.csv", "logits.csv", "biases.csv", "pca.csv", "pca.npz", "attention.npz",
                       "coverage.csv"});
  const std::vector<Inspected> runs = load(folders, {lengths, samples, device, text});
  std::string pca_text = pca_csv_header, coverage_text = coverage_csv_header, readings, planes, maps, charts, dispersed;
  std::string dispersion_text = dispersion_csv_header, logits_text = logits_csv_header, biases_text = biases_csv_header;
  std::string command = "poslab inspect";
  std::vector<Array> points, weights;
  nlohmann::json data = {{"charts", nlohmann::json::array()}};
  for (const Inspected& run : runs) {
    const std::string id = fmt::format("run{}", &run - runs.data());
    const auto [d, b, p, a, c] = run.look();
    dispersion_text += dispersion_csv(run.key, d), logits_text += logits_csv(run.key, d);
    biases_text += biases_csv(run.key, b);
    dispersed += dispersion_figures(d, b, run.name, id, data);
    readings += reading(run, p, c);
    if (p.layers.empty()) continue;
    pca_text += pca_csv(run.key, p), coverage_text += coverage_csv(run.key, c);
    for (Array& array : pca_arrays(run.key, p)) points.push_back(std::move(array));
    for (Array& array : attention_arrays(run.key, a)) weights.push_back(std::move(array));
    planes += pca_figure(p, run.name);
    maps += attention_figure(a, run.name, id, data);
    charts += coverage_figure(c, run.name, "coverage" + id, data);
  }
  for (const Inspected& run : runs) command += fmt::format(" {}", shell_word(run.folder));
  std::vector<std::string> tasks, encodings;
  for (const Inspected& run : runs) tasks.push_back(run.task), encodings.push_back(run.encoding);
  const bool of_tasks = !runs[0].task.empty();
  const std::string title =
      runs.size() == 1 ? "Inside " + escape(runs[0].name) : fmt::format("Inside {} runs", runs.size());
  if (!lengths.empty()) command += fmt::format(" --lengths {}", fmt::join(lengths, ","));
  if (!text.empty()) command += " --text " + shell_word(text);
  if (!device.empty()) command += fmt::format(" --device {}", device);
  command += fmt::format(" --samples {} -o {}", samples, shell_word(out));
  make_folder(out);
  write_file(out + "/dispersion.csv", dispersion_text);
  write_file(out + "/logits.csv", logits_text);
  write_file(out + "/biases.csv", biases_text);
  const bool inside = !points.empty();
  if (inside) {
    write_file(out + "/pca.csv", pca_text);
    write_file(out + "/pca.npz", npz(points));
    write_file(out + "/attention.npz", npz(weights));
    write_file(out + "/coverage.csv", coverage_text);
  }
  const std::string within =
      !inside ? ""
              : page::filled(inside_html, {{"coverage", charts},
                                           {"where", of_tasks ? "the answer slots" : "the last tokens of each text"},
                                           {"dot", of_tasks ? "slot" : "token"},
                                           {"pca", planes},
                                           {"string", of_tasks ? "test string" : "text"},
                                           {"parts", of_tasks ? "Dashed lines part the input from the answer slots."
                                                              : "A token sees itself and those before it."},
                                           {"attention", maps}});
  write_file(out + "/index.html",
             page::document(inspect_html, {{"title", title},
                                           {"readings", readings},
                                           {"about", about_section(tasks, encodings)},
                                           {"inside", within},
                                           {"whose", inside ? "attention" : "the encoder's attention"},
                                           {"dispersion", dispersed},
                                           {"command", escape(command)},
                                           {"data", page::script_safe(data)}}));
}

}  // namespace poslab::inspect
