// The commands of every kind of run: train, resume and eval. Their options are in the kind's table.
#pragma once
#include <string>

#include "apps/commands.h"
#include "apps/typed_choices.h"
#include "lab/runs/whole_run.h"

namespace poslab {

void add_train(Commands&, const Kind&, const char* summary);
void add_resume(Commands&, const Kind&);

// The arguments of eval. Commands with further options, such as --hf, read those themselves.
struct EvalWords {
  std::string run;
  TypedChoices tested;
  Keep keep;
  bool force = false;
  Settings settings() const { return tested.settings(); }
};
void test(const EvalWords&, const Kind&);  // tests the run and prints the result
// Adds the options. required: whether a run must be given.
void add_eval_options(CLI::App*, const Kind&, EvalWords&, bool required);
void add_eval(Commands&, const Kind&, const char* summary);
// `poslab decoder train`, resume and eval, for each kind that has a summary.
void add_kinds(Commands&);

}  // namespace poslab
