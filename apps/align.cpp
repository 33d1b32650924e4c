#include "lab/runs/align.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "apps/all_commands.h"
#include "apps/number_option.h"
#include "core/error.h"
#include "core/names.h"
#include "core/platform/parallel.h"
#include "experiment/config.h"
#include "lab/files/interrupt.h"
#include "lab/files/shell.h"
#include "lab/runs/values.h"

namespace poslab {
namespace {

struct AlignWords {
  std::string mode = "pmax", per = "model", longer, grid, out = "temperatures.json";
  int threads = 0;
  AlignRequest request;
};

int place_of(const char* option, const std::string& word, const std::vector<std::string>& words) {
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) raise<BadInput>(unknown(option, word, words));
  return int(at - words.begin());
}

// "0.85", or "0.70 to 0.95" if layers or heads differ
std::string temperatures_of(const AlignedAt& l) {
  const auto [least, most] = std::minmax_element(l.found.tau.begin(), l.found.tau.end());
  return *least == *most ? fmt::format("{:.3g}", *least) : fmt::format("{:.3g} to {:.3g}", *least, *most);
}

void run(AlignWords w) {
  Aligning& how = w.request.how;
  how.mode = AlignMode(place_of("--mode", w.mode, align_modes()));
  how.per = AlignPer(place_of("--per", w.per, align_groups()));
  const bool by_grid = how.mode == AlignMode::pmax || how.mode == AlignMode::entropy;
  if (!w.grid.empty() && !by_grid)
    bad_input("--grid {} changes nothing: --mode {} is a formula; only pmax and entropy try temperatures; leave it out",
              w.grid, w.mode);
  if (how.mode == AlignMode::log && how.per != AlignPer::model)
    bad_input("--per {} changes nothing: --mode log gives all layers and heads one temperature; leave it out", w.per);
  for (const std::string& length : split(w.longer, ','))
    how.longer.push_back(int(read_whole("--long", length, {1, 1 << 24}, "lengths, as in 256,1024")));
  if (!w.grid.empty()) how.grid.clear();
  for (const std::string& tau : w.grid.empty() ? std::vector<std::string>() : split(w.grid, ','))
    how.grid.push_back(read_number("--grid", tau, {0.001, 1000}, "temperatures, as in 1,0.9,0.8"));
  if (w.threads) set_threads(w.threads);
  catch_signals();
  const Alignment made = write_alignment(w.request, w.out);
  fmt::print("  length    keys   temperature   largest weight   entropy      at temperature 1\n");
  const auto row = [](int length, const Dispersion& d, const std::string& tau, const std::string& before) {
    const RowMeans m = d.of_model();
    fmt::print("{:8} {:7} {:>13} {:16.4f} {:9.3f} {:>21}\n", length, d.keys, tau, m.largest_weight, m.entropy, before);
  };
  row(how.shortest, made.target, "1", "");
  for (const AlignedAt& l : made.lengths) {
    const RowMeans before = l.before.of_model();
    row(l.length, l.after, temperatures_of(l), fmt::format("{:.4f}   {:.3f}", before.largest_weight, before.entropy));
    if (l.unreachable)
      fmt::print("at length {}, no temperature reaches {} of {} targets: the nearest ones are shown\n",
                 l.length, l.unreachable, l.found.tau.size());
  }
  const std::string with = "--temperature " + shell_word("aligned:" + w.out);
  if (const AlignRequest& r = w.request; !r.hf.empty()) {
    fmt::print("test with it: poslab t5 eval --hf {} --task {}{} --sizes {} {}\n", shell_path(r.hf), shell_word(r.task),
               r.questions.empty() ? "" : " --questions " + shell_word(r.questions), fmt::join(how.longer, "/"), with);
    return;
  }
  const Kind& kind = kind_of_folder(w.request.run);
  fmt::print("test with it: poslab {} {} {} --name aligned\n", kind.command("eval"), shell_path(w.request.run), with);
}

}  // namespace

std::function<void()> add_align(CLI::App* align) {
  const auto w = std::make_shared<AlignWords>();
  align->add_option("run", w->request.run, "the run folder");
  align->add_option("--hf", w->request.hf, "a T5 in Hugging Face format, not a run, for questions in English")
      ->type_name("FOLDER");
  align->add_option("--task", w->request.task, "with --hf: the task; lengths are in its unit")
      ->type_name("passkey | line | topic | documents");
  align->add_option("--questions", w->request.questions, "with --hf --task documents: questions of your own")
      ->type_name("FILE");
  align->add_option("--mode", w->mode, "what long inputs share with short ones, or a formula")
      ->type_name(fmt::format("{}  (pmax)", fmt::join(align_modes(), " | ")));
  add_number(align, "short", w->request.how.shortest, "length of the short inputs, one of training", {1, 1 << 24})
      ->required();
  align->add_option("--long", w->longer, "input lengths to align, rising")->required()->type_name("N,N,...");
  align->add_option("--per", w->per, "the parts that get temperatures of their own")
      ->type_name(fmt::format("{}  (model)", fmt::join(align_groups(), " | ")));
  add_number(align, "samples", w->request.samples, "strings, texts or questions at each length", {1, 8000}, "16");
  align->add_option("--grid", w->grid, "temperatures to try")->type_name("T,T,...  (1,0.95,...,0.5)");
  align->add_option("--tasks", w->request.tasks, "for a run of a T5: other tasks (its own)")->type_name("NAME");
  add_number(align, "threads", w->threads, "0: one for each core; never changes a result", {0, 256}, "0");
  add_device(align, w->request.device);
  add_force(align, w->request.force);
  align->add_option("-o,--out", w->out, "the file to write")->type_name("FILE  (temperatures.json)");
  return [=] { run(*w); };
}

}  // namespace poslab
