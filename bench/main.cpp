// poslab_bench: programs that measure. `poslab_bench steps` is driven by bench/steps.py.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "bench/steps.h"
#include "core/error.h"
#include "core/parallel.h"

int main(int count, char** words) {
  using namespace poslab;
  CLI::App app("poslab_bench: measures poslab");
  StepsOptions options;
  int cores = 0;
  CLI::App* steps = app.add_subcommand("steps", "training steps on command; see bench/steps.py");
  steps->add_option("--encoding", options.encoding.name);
  steps->add_option("--positions", options.positions);
  steps->add_option("--relative-mode", options.encoding.mode)
      ->transform(CLI::Transformer(std::map<std::string, RelativeMode>{{"paper", RelativeMode::paper},
                                                                       {"offset_table", RelativeMode::offset_table},
                                                                       {"released", RelativeMode::released},
                                                                       {"differences", RelativeMode::differences}}));
  steps->add_option("--task", options.task);
  steps->add_option("--batch", options.batch);
  steps->add_option("--length", options.length);
  steps->add_option("--dropout", options.dropout);
  steps->add_option("--max-position", options.encoding.max_position);
  steps->add_option("--threads", cores);
  app.require_subcommand(1);
  try {
    CLI11_PARSE(app, count, words);
    if (cores) set_threads(cores);
    serve_steps(options);
    return 0;
  } catch (const BadInput& e) {
    fmt::print(stderr, "poslab_bench: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "poslab_bench: {}\n", e.what());
    return 1;
  }
}
