#include "apps/all_commands.h"

#include <fmt/format.h>

#include <memory>

#include "apps/number_option.h"
#include "lab/files/interrupt.h"
#include "lab/files/memory.h"
#include "lab/pages/view/view.h"

namespace poslab {
namespace {

struct ViewWords {
  std::vector<std::string> runs;
  std::string layers, heads, steps, out = "view";
  view::Options options;
};

const char* view_footer = R"(
Writes FOLDER/index.html, a page that opens as a file and needs no network, with the attention of each layer and head on
one string, text or question of the test, cell by cell to 4096 x 4096: a grid of all heads, a map to zoom and scroll,
the tokens and the weight under the pointer or the arrow keys, the checkpoints of the training, two runs side by side.
Its tiles lie beside it in FOLDER/maps: about half a byte for each weight. docs/pictures.md has more.

Runs are all of tasks, all of language models, or all of T5s, whose encoder is drawn. A training with --keep-checkpoints
leaves more than the newest checkpoint to look at. A checkpoint of the Hugging Face form, as `poslab lm eval --hf` takes
it, is a language model too; --text may then name a file or a folder with its texts (the compiler's headers).

Examples:
  poslab view runs/plain runs/randomized --length 150 -o runs/view
  poslab view runs/lm --length 4096 --layers 1,2 -o runs/view
  poslab view runs/lm --text 'template <typename T>' -o runs/view
  poslab view ~/models/qwen2 --text 'Once upon a time' -o view)";

}  // namespace

std::function<void()> add_view(CLI::App* view) {
  const auto w = std::make_shared<ViewWords>();
  view->footer(view_footer);
  view->add_option("runs", w->runs, "run folders or checkpoints")->required();
  add_number(view, "length", w->options.length,
             "input length, or tokens; at most 4096 slots (the longest of training)", {1, view::most_slots});
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
