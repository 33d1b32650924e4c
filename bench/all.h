// The subcommands of poslab_bench, and matrix products by other libraries for comparison.
#pragma once
#include <functional>
#include <string>

#include "core/device.h"
#include "core/real.h"
#include "core/rounding.h"

namespace poslab {

// Prints a table: the speed of every op, forward and backward, at the sizes of the 5-layer model (batch 128, 40 slots).
// It lists the timed OpCases (tests/op_cases/op_case.h) whose kernel's name contains `filter`.
void time_kernels(const std::string& filter);
// Times the matrix products of a training step by our matmul, OpenBLAS and oneDNN in turn. Prints medians in GFLOP/s,
// and our speed divided by that of the faster library.
void time_products();
// Times one matrix product in several versions, from dot products to tiles of pairs (docs/speed.md). Prints the GFLOP/s
// of each version on one thread, as CSV.
void time_ladder();
// Prints CSV: the milliseconds of a training step with each matrix-product engine (core/engine.h), for the models in
// docs/speed.md, on one thread and on all. own and openblas get the median of `turns`, naive a single run, because it
// is slow. openblas_ms is empty without OpenBLAS.
void time_engines(int turns);
// Prints CSV for each scheme whose name contains `filter`. A step with the scheme and a step without positions take
// turns on one thread: the fastest time of each, and the extra work of the scheme's kernels per token (core/cost.h).
// The model has 5 layers of width 64, batch 128, 20 input symbols and 20 output slots; if the scheme needs a causal
// mask, both models have one.
void time_schemes(const std::string& filter);
// The cost of ReRoPE, which computes the logits in two pieces, compared with RoPE (Su 2023; spec A.4 (21)). Prints two
// tables of medians. The first is for the attention of one layer over T tokens at once: 8 heads of 32 channels, a
// causal mask, rotations included. The second is for one more token after T cached ones, in the causal decoder at its
// standard size: 6 layers of width 256, a vocabulary of 256 tokens.
void time_decoder();

// Generates with a checkpoint in Hugging Face format, for bench/generate.py. For every line `write 32+256` it reads the
// first 32 tokens of "prompt" (tests/support/formula.h), generates 256 tokens greedily, and prints {"ms": [time],
// "tokens": [256]}, until the end of standard input. Throws like open_hf_model.
void serve_generate(const std::string& checkpoint, Rounding, Device);
// The same for bench/t5.py, with the encoder of a T5. For every line `encode 512` it reads the first 512 tokens of the
// prompt and prints {"ms": [time], "states": of the first and the last slot}. Throws like t5::open_hf_model.
void serve_t5(const std::string& checkpoint, Rounding, Device);

// -- matrix products by other libraries. The returned function computes c = a b for each matrix of the batch, on
// threads() threads; it is empty without the library. The pointers must stay valid. a, b: reals, or 16-bit for bf16.

std::function<void()> dnnl_product(Rounding, int batch, int m, int k, int n, void* a, void* b, real* c);  // oneDNN
// Also empty if threads may not call OpenBLAS (core/platform/openblas.h), and for bf16 if its build lacks bf16.
std::function<void()> openblas_product(Rounding, int batch, int m, int k, int n, const void* a, const void* b, real* c);
bool has_sbgemm();            // whether OpenBLAS was built with bf16
std::string openblas_name();  // "OpenBLAS 0.3.21, core Cooperlake, pthread", or "none"

}  // namespace poslab
