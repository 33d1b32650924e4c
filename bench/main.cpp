// poslab_bench measures poslab. bench/compare.py starts `serve` and `ceiling`, bench/generate.py `generate`, and
// bench/t5.py `t5`; `kernels`, `naive`, `schemes`, `products`, `ladder` and `decoder` print tables.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "bench/all.h"
#include "bench/ceiling.h"
#include "bench/naive.h"
#include "bench/serve.h"
#include "core/error.h"
#include "core/platform/parallel.h"
#include "core/rounding.h"
#ifdef POSLAB_CUDA
#include "cuda/backend.h"
#endif

namespace {

// The given options as settings.
poslab::Settings settings_of(const std::map<std::string, std::string>& words) {
  poslab::Settings settings;
  for (const auto& [name, word] : words)
    if (!word.empty()) settings.emplace_back(name, word);
  return settings;
}

// A backend for a GPU with the kernels of cuda/naive/. Throws BadInput without a GPU.
const poslab::Backend& naive_backend() {
#ifdef POSLAB_CUDA
  return poslab::cuda::as_naive_backend();
#else
  return poslab::backend(poslab::Device::cuda);
#endif
}

}  // namespace

int main(int count, char** words) {
  using namespace poslab;
  CLI::App app("poslab_bench: measures poslab");
  int cores = 0;
  CLI::App* model = app.add_subcommand("serve", "runs steps of a model on command; see bench/compare.py");
  // The options of `poslab train` that affect the time of a step.
  const std::vector<std::string> names = {"task",         "encoding", "positions", "causal", "batch",
                                          "max_position", "dropout",  "device",    "matmul", "products"};
  std::map<std::string, std::string> words_of = {{"task", "reverse_string"}, {"encoding", "none"}, {"seed", "1"}};
  for (const std::string& name : names) model->add_option(dashed(name), words_of[name]);
  model->add_option("--threads", cores);
  bool decoder = false;
  model->add_flag("--decoder", decoder,
                  "the causal decoder instead; it takes encoding, batch, matmul, products and device");
  std::vector<std::string> sizes = {"6", "256", "8", "688"};
  model->add_option("--sizes", sizes, "of the decoder: layers, width, heads, d_ff (6,256,8,688)")
      ->delimiter(',')
      ->expected(4);
  CLI::App* ops =
      app.add_subcommand("kernels", "every op at the sizes of training, and products against OpenBLAS and oneDNN");
  std::string filter;
  ops->add_option("filter", filter, "only kernels whose name contains this");
  ops->add_option("--threads", cores);
  CLI::App* rungs =
      app.add_subcommand("naive", "on a GPU: the readable kernels of cuda/naive against the fast ones");
  rungs->add_option("filter", filter, "only kernels whose name contains this");
  CLI::App* each = app.add_subcommand("schemes", "a training step of every scheme against one without positions");
  each->add_option("filter", filter, "only schemes whose name contains this");
  CLI::App* products = app.add_subcommand("products", "a training step with each matrix-product engine");
  int turns = 15;
  products->add_option("--turns", turns, "turns of own and openblas (15)")->check(CLI::PositiveNumber);
  CLI::App* rungs_of_cpu = app.add_subcommand("ladder", "one product, from a dot product to tiles of pairs");
  CLI::App* rerope = app.add_subcommand("decoder", "attention and decoding with ReRoPE against RoPE");
  rerope->add_option("--threads", cores);
  CLI::App* writer = app.add_subcommand("generate", "generates from a checkpoint on command, for bench/generate.py");
  CLI::App* reader = app.add_subcommand("t5", "computes the states of a T5's encoder on command, for bench/t5.py");
  std::string checkpoint;
  Rounding rounded = Rounding::fp32;
  Device where = Device::cpu;
  for (CLI::App* side : {writer, reader}) {
    side->add_option("--hf", checkpoint)->required();
    side->add_option("--threads", cores);
    side->add_option("--device", where, "cpu or cuda")
        ->transform(CLI::Transformer(std::map<std::string, Device>{{"cpu", Device::cpu}, {"cuda", Device::cuda}}));
    side->add_option("--matmul", rounded, "fp32 or bf16")
        ->transform(CLI::Transformer(
            std::map<std::string, Rounding>{{"fp32", Rounding::fp32}, {"bf16", Rounding::bf16}}));
  }
  CLI::App* sgemm = app.add_subcommand("ceiling", "computes large products on command, for bench/compare.py");
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
    } else if (*rungs)
      time_naive(test::op_cases(test::For::bench), naive_backend(), filter, 0.1);
    else if (*each)
      time_schemes(filter);
    else if (*products)
      time_engines(turns);
    else if (*rungs_of_cpu)
      time_ladder();
    else if (*rerope)
      time_decoder();
    else if (*sgemm)
      serve_ceiling();
    else if (*writer)
      serve_generate(checkpoint, rounded, where);
    else if (*reader)
      serve_t5(checkpoint, rounded, where);
    else if (decoder)
      serve_decoder(settings_of({{"encoding", words_of["encoding"]},
                                 {"batch", words_of["batch"]},
                                 {"matmul", words_of["matmul"]},
                                 {"products", words_of["products"]},
                                 {"device", words_of["device"]},
                                 {"layers", sizes[0]},
                                 {"d_model", sizes[1]},
                                 {"heads", sizes[2]},
                                 {"key_heads", sizes[2]},
                                 {"d_ff", sizes[3]}}));
    else
      serve_encoder(settings_of(words_of));
    return 0;
  } catch (const BadInput& e) {
    fmt::print(stderr, "poslab_bench: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "poslab_bench: {}\n", e.what());
    return 1;
  }
}
