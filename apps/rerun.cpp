#include "apps/all_commands.h"

#include <fmt/format.h>

#include <memory>

#include "apps/number_option.h"
#include "core/error.h"
#include "lab/runs/sweep/rerun.h"

namespace poslab {
namespace {

struct RerunWords {
  std::string trial, out = "runs/rerun";
  int threads = 0;
};

const char* rerun_footer = R"(
The folder is one of results/ that has a plan.jsonl and a kept.jsonl; the beginning of the id is enough. The trial is
trained into a run folder, and its accuracy and loss by length are held to what was kept, digit by digit. One that was
stopped or that failed goes on; one that is complete there is refused, as nothing would be trained.
The exit status is 1 where they differ. Bits depend on the numerics number (`poslab version`) and the instruction set.

Example:
  poslab rerun results/table1-tiny#4a8dbb)";

}  // namespace

std::function<void()> add_rerun(CLI::App* rerun) {
  const auto w = std::make_shared<RerunWords>();
  rerun->footer(rerun_footer);
  rerun->add_option("trial", w->trial, "FOLDER#ID")->required();
  rerun->add_option("-o,--out", w->out, "the folder in which it becomes a run folder (runs/rerun)")
      ->type_name("FOLDER");
  add_number(rerun, "threads", w->threads, "threads of the training (all cores); they never change a result", {1, 256});
  return [=] {
    const sweep::Repeated repeated = sweep::rerun(w->trial, w->out, w->threads);
    fmt::print("{}", repeated.said);
    if (!repeated.equal) failure("{} is not repeated; see above", w->trial);
  };
}

}  // namespace poslab
