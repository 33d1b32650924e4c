#include "lab/pages/view/view.h"

#include <fmt/format.h>

#include <memory>

#include "apps/all_commands.h"
#include "apps/number_option.h"
#include "lab/files/interrupt.h"
#include "lab/files/memory.h"

namespace poslab {
namespace {

struct ViewWords {
  std::vector<std::string> runs;
  std::string layers, heads, steps, out = "view";
  view::Options options;
};

}  // namespace

std::function<void()> add_view(CLI::App* view) {
  const auto w = std::make_shared<ViewWords>();
  view->add_option("runs", w->runs, "run folders or checkpoints")->required();
  add_number(view, "length", w->options.length, "input length, or tokens; at most 4096 slots (the longest of training)",
             {1, view::most_slots});
  add_number(view, "sample", w->options.sample, "which string, text or question of the test (1)", {1, 16384});
  view->add_option("--text", w->options.text, "for language models: a text in place of the test's")->type_name("TEXT");
  view->add_option("--layers", w->layers, "only these")->type_name("N,N,...");
  view->add_option("--heads", w->heads, "only these")->type_name("N,N,...");
  view->add_option("--steps", w->steps, "only the checkpoints of these steps (all that there are)")
      ->type_name("N,N,...");
  add_force(view, w->options.force);
  view->add_option("-o,--out", w->out, "the folder to make (view)")->type_name("FOLDER");
  return [=] {
    w->options.layers = number_list<int>("--layers", w->layers, "layers", "1,2");
    w->options.heads = number_list<int>("--heads", w->heads, "heads", "1,2");
    w->options.steps = number_list<int64_t>("--steps", w->steps, "steps", "0,1000");
    catch_signals();
    const view::Written written = view::write(w->runs, w->options, w->out);
    fmt::print("{}/index.html: {}, {}\n", w->out, counted(size_t(written.maps), "map"),
               written.bytes < 1e6 ? fmt::format("{:.0f} kB", written.bytes / 1e3) : gigabytes(written.bytes));
  };
}

}  // namespace poslab
