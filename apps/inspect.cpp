#include "apps/all_commands.h"

#include <memory>

#include "apps/number_option.h"
#include "experiment/config.h"
#include "lab/pages/inspect/inspect.h"

namespace poslab {
namespace {

struct InspectWords {
  std::vector<std::string> runs;
  std::string lengths, device, text, out = "inspection";
  int samples = 30;
  bool force = false;
};

const char* inspect_footer = R"(
Writes FOLDER/index.html, a page with
  - the positions or distances seen in training, beside those at each length;
  - the activations after each layer in the plane of two principal components, fitted at the first length;
  - the attention of each layer and head on one string or text;
  - how attention disperses: largest weights, entropy and largest logits against length, by layer and head; sorted
    logits beside the normal distribution; what positions alone add to the logits;
and the numbers behind it: coverage.csv, pca.csv, pca.npz, attention.npz (for numpy.load), dispersion.csv, logits.csv,
biases.csv. Runs are named as in a report: by the options in which they differ. They are all of tasks, all of language
models, or all of T5s, whose encoder is shown without the first three. The attention of a language model is that of the
first text of the test at each length, or of --text. A checkpoint of the Hugging Face form, as `poslab lm eval --hf`
takes it, is one too; --text may then name a file or a folder with its texts (the compiler's headers).

Examples:
  poslab inspect runs/plain runs/randomized --lengths 40,150 -o runs/inspection
  poslab inspect runs/lm --text 'template <typename T>' -o runs/inspection
  poslab inspect ~/models/qwen2 --text ~/books --lengths 128,512 -o inspection)";

}  // namespace

std::function<void()> add_inspect(CLI::App* inspect) {
  const auto words = std::make_shared<InspectWords>();
  inspect->footer(inspect_footer);
  inspect->add_option("runs", words->runs, "run folders or checkpoints")->required();
  inspect
      ->add_option("--lengths", words->lengths,
                   "input lengths; components are fitted at the first (the longest trained length, and 15/4 of it; for "
                   "a language model twice it)")
      ->type_name("N,N,...");
  add_number(inspect, "samples", words->samples, "strings or texts at each length for the components (30)", {1, 8000});
  inspect->add_option("--text", words->text, "for language models: the text whose attention is shown")
      ->type_name("TEXT");
  add_device(inspect, words->device);
  add_force(inspect, words->force);
  inspect->add_option("-o,--out", words->out, "the folder to write (inspection)")->type_name("FOLDER");
  return [=] {
    const std::vector<int> lengths = number_list<int>("--lengths", words->lengths, "lengths", "40,150");
    inspect::write(words->runs, lengths, words->samples, words->out, words->device, words->text, words->force);
    fmt::print("{}/index.html\n", words->out);
  };
}

}  // namespace poslab
