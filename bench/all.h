// The programs of poslab_bench, and the products of other libraries for comparison.
#pragma once
#include <functional>
#include <string>

#include "core/device.h"
#include "core/real.h"
#include "core/rounding.h"

namespace poslab {

// How fast every op is, forward and backward, at the sizes of the 5-layer model (batch 128, 40 slots): a table of the
// timed OpCases (tests/op_cases/op_case.h) whose kernel contains `filter`.
void time_kernels(const std::string& filter);
// Products of the sizes in training by our matmul, OpenBLAS and oneDNN in turn: medians in GFLOP/s, and ours divided by
// the faster of the other two.
void time_products();
// One product of matrices in several versions, from a dot product to tiles of pairs (docs/speed.md): GFLOP/s of each
// rung on one thread, as CSV.
void time_ladder();
// As CSV, milliseconds of a training step by each engine of products (core/engine.h), of the models that docs/speed.md
// measures: medians of `turns` for own and openblas, one run of the slow naive. On one thread, and on all. openblas_ms
// is empty without OpenBLAS.
void time_engines(int turns);
// As CSV, for each scheme whose name contains `filter`: the time of a step on one thread, fastest of several, and of a
// step without positions, run in turn; and the additional work of its kernels per token (core/cost.h). 5 layers of
// width 64, batch 128, 20 input symbols and 20 output slots; with a causal mask, on both sides, where the scheme needs
// one.
void time_schemes(const std::string& filter);
// The cost of ReRoPE, which computes the logits in two pieces, beside RoPE (Su 2023; spec A.4 (21)): two tables,
// medians of turns. Attention of one layer over T tokens at once: 8 heads of 32 channels, a causal mask, rotations
// included. Then one more token after T cached ones, in the causal decoder at its standard size: 6 layers of width 256,
// 256 tokens.
void time_decoder();

// For bench/generate.py, text from a checkpoint in the Hugging Face form: for every line `write 32+256` reads the first
// 32 tokens of tests/support/formula.h's "prompt", writes 256 more, the most probable ones, and prints {"ms": [time],
// "tokens": [256]}, until the end of standard input. Throws like open_hf_model.
void serve_generate(const std::string& checkpoint, Rounding, Device);
// The same for bench/t5.py, with the encoder of a T5: for every line `encode 512` reads the first 512 tokens of the
// prompt and prints {"ms": [time], "states": the first and the last slot's}. Throws like t5::open_hf_model.
void serve_t5(const std::string& checkpoint, Rounding, Device);

// -- products of other libraries. Each function runs c = a b for each matrix of the batch, on threads() threads; it is
// empty without the library. The pointers must stay valid. Factors are reals, or in bf16 numbers of 16 bits.

std::function<void()> dnnl_product(Rounding, int batch, int m, int k, int n, void* a, void* b, real* c);  // oneDNN
// Also empty if threads may not call OpenBLAS (core/platform/openblas.h), and for bf16 if its build lacks that.
std::function<void()> openblas_product(Rounding, int batch, int m, int k, int n, const void* a, const void* b, real* c);
bool has_sbgemm();            // whether OpenBLAS was built with bf16
std::string openblas_name();  // "OpenBLAS 0.3.21, core Cooperlake, pthread", or "none"

}  // namespace poslab
