// poslab_bench: programs that measure. `serve` and `ceiling` are driven by bench/compare.py; `kernels` prints tables.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "bench/ceiling.h"
#include "bench/kernels.h"
#include "bench/products.h"
#include "bench/serve.h"
#include "core/error.h"
#include "core/parallel.h"
#ifdef POSLAB_CUDA
#include "cuda/backend.h"
#endif

int main(int count, char** words) {
  using namespace poslab;
  CLI::App app("poslab_bench: measures poslab");
  ServeOptions options;
  int cores = 0;
  CLI::App* model = app.add_subcommand("serve", "steps of a model on command; see bench/compare.py");
  model->add_option("--encoding", options.encoding.name);
  model->add_option("--positions", options.positions);
  model->add_option("--relative-mode", options.encoding.mode)
      ->transform(CLI::Transformer(std::map<std::string, RelativeMode>{{"paper", RelativeMode::paper},
                                                                       {"offset_table", RelativeMode::offset_table},
                                                                       {"released", RelativeMode::released},
                                                                       {"differences", RelativeMode::differences}}));
  model->add_option("--task", options.task);
  model->add_option("--batch", options.batch);
  model->add_option("--dropout", options.dropout);
  model->add_option("--max-position", options.encoding.max_position);
  model->add_option("--threads", cores);
  model->add_option("--device", options.device)
      ->transform(CLI::Transformer(std::map<std::string, Device>{{"cpu", Device::cpu}, {"cuda", Device::cuda}}));
  CLI::App* ops =
      app.add_subcommand("kernels", "every op at the sizes of training, and products beside OpenBLAS and oneDNN");
  std::string filter;
  ops->add_option("filter", filter, "only kernels whose name contains this");
  ops->add_option("--threads", cores);
  CLI::App* sgemm = app.add_subcommand("ceiling", "large products on command, for bench/compare.py");
  sgemm->add_option("--threads", cores);
  app.require_subcommand(1);
#ifdef POSLAB_CUDA
  add_backend(Device::cuda, cuda::as_backend());
#endif
  try {
    CLI11_PARSE(app, count, words);
    if (cores) set_threads(cores);
    if (*ops) {
      time_kernels(filter);
      if (filter.empty() || filter == "matmul") time_products();
    } else if (*sgemm)
      serve_ceiling();
    else
      serve(options);
    return 0;
  } catch (const BadInput& e) {
    fmt::print(stderr, "poslab_bench: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "poslab_bench: {}\n", e.what());
    return 1;
  }
}
