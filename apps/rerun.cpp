#include "lab/runs/sweep/rerun.h"

#include <fmt/format.h>

#include <memory>

#include "apps/all_commands.h"
#include "apps/number_option.h"
#include "core/error.h"

namespace poslab {
namespace {

struct RerunWords {
  std::string trial, out = "runs/rerun";
  int threads = 0;
};

}  // namespace

std::function<void()> add_rerun(CLI::App* rerun) {
  const auto w = std::make_shared<RerunWords>();
  rerun->add_option("trial", w->trial, "FOLDER#ID")->required();
  rerun->add_option("-o,--out", w->out, "the folder in which it becomes a run folder (runs/rerun)")
      ->type_name("FOLDER");
  add_number(rerun, "threads", w->threads, "threads of the training (all cores); they never change a result", {1, 256});
  return [=] {
    const sweep::Repeated repeated = sweep::rerun(w->trial, w->out, w->threads);
    fmt::print("{}", repeated.said);
    if (!repeated.equal) failure("the rerun of {} differs from the kept trial; see above", w->trial);
  };
}

}  // namespace poslab
