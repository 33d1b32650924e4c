#include "apps/align.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "core/error.h"
#include "core/names.h"
#include "experiment/config.h"
#include "lab/align.h"
#include "lab/interrupt.h"
#include "lab/run_config.h"
#include "lab/shell.h"

namespace poslab {
namespace {

struct AlignWords {
  std::string mode = "pmax", per = "model", longer, grid, out = "temperatures.json";
  AlignRequest request;
};

int place_of(const char* option, const std::string& word, const std::vector<std::string>& words) {
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) raise<BadInput>(unknown(option, word, words));
  return int(at - words.begin());
}

// "0.85" or, of layers or heads that differ, "0.70 to 0.95"
std::string temperatures_of(const AlignedAt& l) {
  const auto [least, most] = std::minmax_element(l.found.tau.begin(), l.found.tau.end());
  return *least == *most ? fmt::format("{:.3g}", *least) : fmt::format("{:.3g} to {:.3g}", *least, *most);
}

void run(AlignWords w) {
  Aligning& how = w.request.how;
  how.mode = AlignMode(place_of("--mode", w.mode, align_modes()));
  how.per = AlignPer(place_of("--per", w.per, align_groups()));
  for (const std::string& length : split(w.longer, ','))
    how.longer.push_back(int(read_whole("--long", length, {1, 1 << 24}, "lengths, as in 256,1024")));
  if (!w.grid.empty()) how.grid.clear();
  for (const std::string& tau : w.grid.empty() ? std::vector<std::string>() : split(w.grid, ','))
    how.grid.push_back(read_number("--grid", tau, {0.001, 1000}, "temperatures, as in 1,0.9,0.8"));
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
      fmt::print("at length {}, {} of {} targets cannot be reached by any temperature: these are the nearest\n",
                 l.length, l.unreachable, l.found.tau.size());
  }
  const bool task = kind_of_folder(w.request.run) == RunKind::task;
  fmt::print("test with it: poslab {} {} --temperature {}{}\n", task ? "eval" : "lm eval", shell_word(w.request.run),
             shell_word("aligned:" + w.out), task ? "" : " -o aligned.csv");
}

const char* align_footer = R"(
Attention alignment (Chi, Fan, Rudnicky 2023), for runs of tasks and language models with any encoding. A softmax over
more keys is flatter. This measures how peaked attention is on test inputs of the short length, and finds the
temperature at which it is as peaked on long ones; nothing is trained. docs/align.md explains it.

  pmax      the same mean of the largest weights, over the grid
  entropy   the same mean entropy, over the grid: lower temperatures than pmax
  log       ln short / ln long, in numbers of keys
  prop1, prop2   propositions 1 and 2: one formula each for pmax and entropy, from the first layer's logits

Example:
  poslab align runs/first --short 40 --long 150,500 -o temperatures.json
  poslab eval runs/first --temperature aligned:temperatures.json)";

}  // namespace

std::function<void()> add_align(CLI::App* align) {
  const auto w = std::make_shared<AlignWords>();
  const auto at_least_one = CLI::Range(1, 1 << 24).description("");
  align->footer(align_footer);
  align->add_option("run", w->request.run, "the run folder")->required();
  align->add_option("--mode", w->mode, "what is kept, or the rule")
      ->type_name(fmt::format("{}  (pmax)", fmt::join(align_modes(), " | ")));
  align->add_option("--short", w->request.how.shortest, "input length of the target, one of training")
      ->required()
      ->type_name("N")
      ->check(at_least_one);
  align->add_option("--long", w->longer, "input lengths to align, rising")->required()->type_name("N,N,...");
  align->add_option("--per", w->per, "what has a temperature of its own")
      ->type_name(fmt::format("{}  (model)", fmt::join(align_groups(), " | ")));
  align->add_option("--samples", w->request.samples, "strings or texts at each length")
      ->type_name("1 .. 8000  (16)")
      ->check(CLI::Range(1, 8000).description(""));
  align->add_option("--grid", w->grid, "temperatures to try")->type_name("T,T,...  (1,0.95,...,0.5)");
  align->add_option("--device", w->request.device, option("device").help)->type_name(takes(option("device")));
  align->add_option("-o,--out", w->out, "the file to write")->type_name("FILE  (temperatures.json)");
  return [=] { run(*w); };
}

}  // namespace poslab
