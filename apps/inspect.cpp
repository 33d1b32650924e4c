#include "lab/pages/inspect/inspect.h"

#include <memory>

#include "apps/all_commands.h"
#include "apps/number_option.h"

namespace poslab {
namespace {

struct InspectWords {
  std::vector<std::string> runs;
  std::string lengths, device, text, out = "inspection";
  int samples = 30;
  bool force = false;
};

}  // namespace

std::function<void()> add_inspect(CLI::App* inspect) {
  const auto words = std::make_shared<InspectWords>();
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
