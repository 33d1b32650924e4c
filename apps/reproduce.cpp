#include "apps/reproduce.h"

#include <fmt/ranges.h>

#include <memory>

#include "apps/artifacts.h"

namespace poslab {
namespace {

struct ReproduceWords : Making {
  reproduce::Request request;
};

// As it would be typed again.
std::string command(const ReproduceWords& w) {
  std::string text = fmt::format("poslab reproduce {} --size {}", fmt::join(w.request.what, " "), w.request.size);
  if (!w.request.tasks.empty()) text += fmt::format(" --tasks {}", fmt::join(w.request.tasks, ","));
  if (!w.request.encodings.empty()) text += fmt::format(" --encodings {}", fmt::join(w.request.encodings, ","));
  return text + words_again(w);
}

void list_artifacts() {
  std::string source;
  for (const reproduce::Artifact& e : reproduce::all_artifacts()) {
    if (const std::string of = source_title(e); of != source) fmt::print("{}:\n", source = of);
    fmt::print("{:<18}  {}\n", e.name, e.title);
  }
  fmt::print("\n");
  for (const reproduce::Size& s : reproduce::all_sizes()) fmt::print("{:<18}  {}\n", "--size " + s.name, s.summary);
}

void make_artifacts(ReproduceWords w) {
  if (w.request.what.empty()) return list_artifacts();
  w.request.settings = settings(w);
  const std::vector<reproduce::Planned> planned = reproduce::plan(w.request);
  make(planned, reproduce::all_trials(planned), w.request, w, fmt::format("{}", fmt::join(w.request.what, " ")),
       command(w));
}

const char* reproduce_footer = R"(
Without arguments it lists what there is: the tables and figures of a paper, ruoss2023, and of an experiment of poslab's
own, gap_shift. The trials are a sweep in FOLDER/runs. The same command goes on where it was stopped. Tables and figures
that need the same runs share them, and several machines that share FOLDER may work at once. They are drawn from what is
done, and say what is missing. The paper's size is for a cluster:

  poslab reproduce ruoss2023:all --size paper --out /shared/ruoss2023 --plan
  poslab sweep submit /shared/ruoss2023/plan.jsonl --out /shared/ruoss2023/runs --slurm --shards 200 --time 24:00:00
  poslab reproduce ruoss2023:all --size paper --out /shared/ruoss2023 --draw

Examples:
  poslab reproduce ruoss2023 --size tiny --out runs/ruoss2023-tiny --jobs 2
  poslab reproduce gap_shift --size tiny --out runs/gap_shift-tiny --jobs 2
  poslab reproduce ruoss2023:table1 --size example --tasks even_pairs --encodings relative,rope --out runs/table1)";

}  // namespace

std::function<void()> add_reproduce(CLI::App* c) {
  const auto w = std::make_shared<ReproduceWords>();
  w->request.size = "tiny";
  c->footer(reproduce_footer);
  c->allow_extras();
  c->add_option("what", w->request.what,
                "ruoss2023 | gap_shift  (all of it), or some of its tables and figures: ruoss2023:table1, ...");
  c->add_option("--size", w->request.size, "size of the models and of their training (tiny)")
      ->type_name("tiny | example | paper");
  c->add_option("--tasks", w->request.tasks, "only these tasks, with commas between")
      ->type_name("NAME")
      ->delimiter(',');
  c->add_option("--encodings", w->request.encodings, "only these encodings, with commas between")
      ->type_name("NAME")
      ->delimiter(',');
  add_making(c, *w);
  return [=] { make_artifacts(*w); };
}

}  // namespace poslab
