#include "lab/papers/compare/compare.h"

#include <fmt/ranges.h>

#include <memory>

#include "apps/all_commands.h"
#include "apps/artifacts.h"
#include "apps/number_option.h"
#include "core/error.h"
#include "lab/files/shell.h"

namespace poslab {
namespace {

struct CompareWords : Making {
  compare::Options options;
  std::vector<std::string> encodings = {"all"};
};

// These words as a command line.
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

}  // namespace

std::function<void()> add_compare(CLI::App* c) {
  const auto w = std::make_shared<CompareWords>();
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
