#include "apps/all_commands.h"

#include <fmt/ranges.h>

#include <memory>

#include "apps/artifacts.h"
#include "apps/number_option.h"
#include "core/error.h"
#include "lab/files/shell.h"
#include "lab/papers/compare/compare.h"

namespace poslab {
namespace {

struct CompareWords : Making {
  compare::Options options;
  std::vector<std::string> encodings = {"all"};
};

// In the form of a command line.
std::string command(const CompareWords& w) {
  std::string text = "poslab compare";
  if (!w.options.tasks.empty()) text += fmt::format(" --task {}", fmt::join(w.options.tasks, ","));
  text += fmt::format(" --encodings {} --size {}", shell_word(fmt::format("{}", fmt::join(w.encodings, ","))),
                      w.options.size);
  if (w.options.positions != "sequential") text += " --positions " + shell_word(w.options.positions);
  if (w.options.seeds) text += fmt::format(" --seeds {}", w.options.seeds);
  if (w.options.causal) text += " --causal";
  return text + words_again(w);
}

void compare_encodings(CompareWords w) {
  w.options.encodings.clear();
  for (const std::string& text : w.encodings)
    for (const std::string& one : compare::read_spellings(text)) w.options.encodings.push_back(one);
  for (const std::string& s : w.sets)
    if (s.starts_with("causal=")) bad_input("--set {}: use --causal, which puts all into one comparison", s);
  w.options.settings = settings(w);
  const std::vector<reproduce::Planned> planned = compare::plan(w.options);
  make(planned, compare::in_order(planned), compare::request(w.options), w, "this comparison", command(w));
}

const char* compare_footer = R"(
Trains every encoding on every task, on the same strings, tests them on longer ones, and ranks them beside guessing, the
majority and what the content alone says. The trials are a sweep in FOLDER/runs; the same command goes on where it was
stopped, and more encodings, tasks or seeds can be added to a FOLDER. The first seed of all comes first, so what is done
at any time is a comparison; --draw draws it.

Encodings that work only with a causal mask are ranked apart, with that mask, beside none, rope and alibi.

Examples:
  poslab compare --encodings all --size tiny --out runs/every-scheme --jobs 2    # 864 trials: three hours on 2 cores
  poslab compare --task bucket_sort --encodings 'none,rope,alibi:symmetric,rope|none' --seeds 2 --out runs/four
  poslab compare --encodings cope,rope --causal --task reverse_string --out runs/causal
  poslab compare --encodings none,rope --positions randomized --out runs/randomized --draw)";

}  // namespace

std::function<void()> add_compare(CLI::App* c) {
  const auto w = std::make_shared<CompareWords>();
  c->footer(compare_footer);
  c->allow_extras();
  c->add_option("--task,--tasks", w->options.tasks, "the tasks, with commas between (those of the size)")
      ->type_name("NAME")
      ->delimiter(',');
  c->add_option("--encodings,--encoding", w->encodings,
                "the encodings, with commas between, also with options and compositions (all)")
      ->type_name("NAME");
  c->add_option("--size", w->options.size, "size of the models and of their training (tiny)")
      ->type_name("tiny | example | paper");
  c->add_option("--positions", w->options.positions, "which positions the tokens carry (sequential)")
      ->type_name("NAME");
  add_number(c, "seeds", w->options.seeds, "number of seeds (the size's)", {1, 1000});
  c->add_flag("--causal", w->options.causal, "compare all with a causal mask");
  add_making(c, *w);
  return [=] { compare_encodings(*w); };
}

}  // namespace poslab
