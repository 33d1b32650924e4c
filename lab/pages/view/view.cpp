#include "lab/pages/view/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "core/platform/parallel.h"
#include "core/stop.h"
#include "lab/files/files.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/pages/page/page.h"
#include "lab/pages/report/run_about.h"
#include "lab/pages/view/tiles.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/naming.h"
#include "lab/runs/output.h"
#include "lab/runs/own_files.h"
#include "lab/runs/room.h"
#include "lab/runs/run.h"

namespace poslab {
extern const std::string_view view_txt;
}

namespace poslab::view {
namespace {

using page::json;

namespace fs = std::filesystem;

std::vector<int> those(const std::vector<int>& options, int all) {
  std::vector<int> numbers(static_cast<size_t>(all));
  std::iota(numbers.begin(), numbers.end(), 1);
  return options.empty() ? numbers : options;
}

void sort_out(auto& numbers) {  // without repeats
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

// The files below `folder`, and their size.
class Folder {
 public:
  Folder(std::string folder, Progress& progress) : path_(std::move(folder)), progress_(progress) {}
  void file(const std::string& name, const std::string& bytes) {
    stop_if_requested();
    const std::string path = path_ + "/" + name;
    make_folder(fs::path(path).parent_path());
    std::ofstream to(path, std::ios::binary);  // sizes are counted here: asking the disk for thousands is slow
    if (!(to << bytes) || (to.close(), !to)) failure("cannot write {}: {}", path, std::strerror(errno));
    written.bytes += double(bytes.size());
  }
  // Writes these heads' maps from a layer's weights, (1, H, T, T), and appends their coarsest levels to `overview`.
  // at: maps/RUN/STEP; layer: its number, from 1.
  void layer(const std::string& at, int layer, const std::vector<int>& heads, const Tensor& weights,
             std::vector<uint8_t>& overview);
  Written written{0, 0};
  // The map so far whose weights have the least entropy: the one furthest from even attention.
  struct Clearest {
    int layer = 0, head = 0;
    double entropy = std::numeric_limits<double>::infinity();
  } clearest{};

 private:
  std::string path_;
  Progress& progress_;
};

void Folder::layer(const std::string& at, int layer, const std::vector<int>& heads, const Tensor& weights,
                   std::vector<uint8_t>& overview) {
  const int T = weights.dim(-1);
  const int64_t one = int64_t(T) * T;
  for (const int head : heads) {
    const real* a = weights.data() + (head - 1) * one;
    const real* wrong = std::find_if_not(a, a + one, [](real w) { return w >= 0 && w <= real(1.0001); });
    if (wrong != a + one)
      failure("layer {}, head {}: query {} gives key {} the weight {}, but the viewer draws 0 to 1", layer, head,
              (wrong - a) / T + 1, (wrong - a) % T + 1, *wrong);
    const std::vector<Level> levels = pyramid(a, T);
    if (const double entropy = entropy_of(levels[0]); entropy < clearest.entropy) clearest = {layer, head, entropy};
    std::vector<std::pair<std::string, std::vector<uint8_t>>> tiles;
    for (size_t n = 0; n + 1 < levels.size(); ++n)
      for (int row = 0; row < tiles_across(levels[n]); ++row)
        for (int column = 0; column < tiles_across(levels[n]); ++column)
          tiles.emplace_back(fmt::format("{}/{}-{}/{}-{}-{}", at, layer, head, n, row, column),
                             tile(levels[n], row, column));
    std::vector<std::string> scripts(tiles.size());
    parallel_for(int64_t(tiles.size()),
                 [&](int64_t n) { scripts[size_t(n)] = tile_script(tiles[size_t(n)].first, tiles[size_t(n)].second); });
    for (size_t n = 0; n < tiles.size(); ++n) file(tiles[n].first + ".js", scripts[n]);
    overview.insert(overview.end(), levels.back().codes.begin(), levels.back().codes.end());
    progress_.at(++written.maps);
  }
}

void check_memory(const Subject& s, bool force) {
  const double T = double(s.symbols.size());
  if (T > most_slots)
    bad_input("view: {} has {} slots here, and a map has at most {}; ask for a shorter --length", s.folder, T,
              most_slots);
  begin({.what = "drawing a layer of " + s.folder, .takes = drawing_takes(s), .with = fmt::format("{} slots", T)},
        force);
}

std::string command(const std::vector<std::string>& runs, const Options& w, const std::string& out) {
  std::string text = "poslab view";
  for (const std::string& run : runs) text += " " + shell_path(run);
  if (w.length) text += fmt::format(" --length {}", w.length);
  if (w.sample > 1) text += fmt::format(" --sample {}", w.sample);
  if (!w.text.empty()) text += " --text " + shell_word(w.text);
  const auto add = [&text](const char* option, const auto& numbers) {
    if (!numbers.empty()) text += fmt::format(" {} {}", option, fmt::join(numbers, ","));
  };
  add("--layers", w.layers), add("--heads", w.heads), add("--steps", w.steps);
  return text + " -o " + shell_path(out);
}

// `opens`: the head that the page shows first.
std::string page_of(const std::vector<Subject>& subjects, const Options& options, const Folder::Clearest& opens,
                    const std::string& out, const Kind& kind) {
  std::vector<Values> settings;
  std::vector<std::string> folders;
  for (const Subject& s : subjects) settings.push_back(s.setting), folders.push_back(s.folder);
  const Naming naming(settings, kind);
  json runs = json::array();
  std::string about;
  for (const Subject& s : subjects) {
    runs.push_back({{"name", s.folder},
                    {"steps", s.steps},
                    {"elsewhere", s.trained_elsewhere},
                    {"layers", those(options.layers, s.layers)},
                    {"heads", those(options.heads, s.heads)},
                    {"symbols", s.symbols},
                    {"outputs", s.outputs}});
    about += fmt::format("{}**{}**: {}, {}", about.empty() ? "" : "\\\n", page::literal(s.folder),
                         page::literal(s.heading), page::literal(naming.name(s.setting)));
  }
  const json viewer = {{"kind", "viewer"},
                       {"runs", runs},
                       {"opens", {{"layer", opens.layer}, {"head", opens.head}}},
                       {"slots", subjects[0].symbols.size()},
                       {"tile", tile_side},
                       {"overview", overview_side},
                       {"octave", codes_an_octave}};
  const json again = {{"kind", "commands"}, {"text", command(folders, options, out)}};
  return page::file_of(
      {{"command", "view"},
       {"title", fmt::format("Attention of {}", fmt::join(folders, ", "))},
       {"lead", json::array({page::paragraph(about, "quiet")})},
       {"sections", page::sections(view_txt, {{"viewer", viewer},
                                              {"parts", subjects[0].slots},
                                              {"opens", fmt::format("layer {}, head {}", opens.layer, opens.head)},
                                              {"command", again}})}},
      {"matrix", "map", "view"});
}

// Writes all maps, and returns the head that the page shows first, found in the first run's newest checkpoint.
std::pair<Written, Folder::Clearest> write_all_maps(std::vector<Subject>& subjects, const Options& options,
                                                    const std::string& folder) {
  size_t maps = 0;
  for (const Subject& s : subjects)
    maps += s.steps.size() * those(options.layers, s.layers).size() * those(options.heads, s.heads).size();
  Progress progress("drawing", "maps", 0, int64_t(maps));
  Folder to(folder, progress);
  std::optional<Folder::Clearest> opens;
  for (size_t run = 0; run < subjects.size(); ++run) {
    Subject& s = subjects[run];
    for (auto at_step = s.steps.rbegin(); at_step != s.steps.rend(); ++at_step) {  // the newest is already loaded
      const int64_t step = *at_step;
      s.load(step);
      const std::string at = fmt::format("maps/{}/{}", run, step);
      std::vector<uint8_t> overview;
      Trace trace;
      for (const int layer : those(options.layers, s.layers))
        trace.replace(fmt::format("{}{}.attention.weights", s.block, layer - 1),
                      [&, layer](const std::string&, const Tensor& weights) {
                        to.layer(at, layer, those(options.heads, s.heads), weights, overview);
                        return weights;
                      });
      s.pass(trace);
      if (!opens) opens = to.clearest;
      to.file(at + "/overview.js", tile_script(at, overview));
    }
  }
  return {to.written, opens.value_or(Folder::Clearest{})};
}

// Throws BadInput if a file of checkpoints/ belongs to another run, or to another step than its name says.
void check_kept(const Checkpoint& kept, const std::string& path, int64_t step, const Choices& own) {
  const Kind& kind = kind_of(own);
  const std::string remedy = "restore the file from a copy, or remove it";
  const Choices its = kind.configure(read_toml(kept.config(), path, kind));
  if (const std::string option = difference(own, its); !option.empty())
    bad_input("{} belongs to another run: it has {} = {}, this run has {}; {}", path, option, its[option], own[option],
              remedy);
  if (kept.step() != step)
    bad_input("{} is of step {}, but its name says {}; {}", path, kept.step(), step, remedy);
}

// Finds the kept checkpoints of a run and the newest one, which the learner has, and makes functions that load them.
// Other processes may continue the run meanwhile.
void find_checkpoints(Subject& s, const RunFolder& run, const std::shared_ptr<Learner>& learner) {
  std::map<int64_t, std::string> paths = {{learner->adam().step, run.checkpoint()}};
  for (const int64_t step : run.kept_steps()) paths[step] = run.kept_checkpoint(step);
  for (const auto& [step, path] : paths) s.steps.push_back(step);
  s.load = [paths, learner](int64_t step) {
    if (learner->adam().step == step) return;
    const std::string& path = paths.at(step);
    const Checkpoint kept(read_file(path), path, kind_of(learner->config()));
    check_kept(kept, path, step, learner->config());
    kept.read_into(learner->params(), learner->adam());
  };
}

}  // namespace

Taken drawing_takes(const Subject& s) {
  const double T = double(s.symbols.size());
  return {(4 * (1 + s.matrices) * s.heads + 8) * T * T, 0};
}

Written write(const std::vector<std::string>& folders, const Options& asked, const std::string& out) {
  Options options = asked;
  sort_out(options.layers), sort_out(options.heads), sort_out(options.steps);
  const Kind& kind = one_kind(folders, "view");
  std::vector<Subject> subjects;
  for (const std::string& folder : folders) {
    subjects.push_back(open(folder, options));
    check_memory(subjects.back(), options.force);
    if (subjects.back().symbols.size() != subjects[0].symbols.size())
      bad_input("view: {} has {} slots here, and {} has {}; maps side by side need the same number, so use --length",
                folders[0], subjects[0].symbols.size(), folder, subjects.back().symbols.size());
  }
  std::error_code error;
  if (out.empty()) bad_input("which folder should hold the page? Give -o FOLDER");
  check_names_folder("-o", out);
  for (const std::string& taken : {out, partial_of(out)})
    if (fs::exists(taken, error))
      bad_input("-o {}: {} exists already; choose another folder, or remove it", shell_path(out), shell_path(taken));
  Written all;
  write_new_folder(out, [&](const std::string& partial) {
    const auto [written, opens] = write_all_maps(subjects, options, partial);
    const std::string page = page_of(subjects, options, opens, out, kind);
    write_file(partial + "/index.html", page);
    all = written;
    all.bytes += double(page.size());
  });
  return all;
}

Subject open(const std::string& folder, const Options& options) {
  const Opened model = open_model(folder, "cpu", options.text);
  const std::shared_ptr<Learner> learner = model.learner;
  const int length = options.length || !model.text.empty() ? options.length : model.usual_length;
  if (const int samples = learner->config().whole("eval_samples"); model.run && options.sample > samples)
    bad_input("--sample {}: the test has {} samples at each length", options.sample, samples);
  Subject s{learner->sample({length, options.sample, model.text}), folder, "",
            setting_of(values_of(learner->config()))};
  s.heading = s.of.empty() ? heading_of(folder, learner->config()) : s.of;
  if (model.run)
    find_checkpoints(s, *model.run, learner);
  else
    s.steps = {0}, s.load = [learner](int64_t) {}, s.trained_elsewhere = true;
  const auto check = [&](const char* option, const std::vector<int>& asked, int most) {
    for (const int n : asked)
      if (n < 1 || n > most) bad_input("{} {}: {} has 1 to {}", option, n, folder, most);
  };
  check("--layers", options.layers, s.layers);
  check("--heads", options.heads, s.heads);
  for (const int64_t step : options.steps)
    if (!std::count(s.steps.begin(), s.steps.end(), step))
      bad_input("--steps {}: {} has checkpoints of steps {}; a run with --keep-checkpoints keeps all", step,
                folder, fmt::join(s.steps, ", "));
  if (!options.steps.empty()) s.steps = options.steps;
  return s;
}

}  // namespace poslab::view
