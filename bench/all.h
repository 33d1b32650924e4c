// The programs of poslab_bench, and the products of other libraries for comparison.
#pragma once
#include <functional>
#include <string>

#include "core/device.h"
#include "core/real.h"
#include "core/rounding.h"

namespace poslab {

// Prints the speed of every op, forward and backward, at the sizes of the 5-layer model (batch 128, 40 slots): a table
// of the timed OpCases (tests/op_cases/op_case.h) whose kernel's name contains `filter`.
void time_kernels(const std::string& filter);
// Products of the sizes in training, by our matmul, OpenBLAS and oneDNN in turn: medians in GFLOP/s, and our speed
// divided by that of the faster library.
void time_products();
// One product of matrices in several versions, from a dot product to tiles of pairs (docs/speed.md): GFLOP/s of each
// rung on one thread, as CSV.
void time_ladder();
// Prints CSV with milliseconds of a training step by each engine of products (core/engine.h), for the models that
// docs/speed.md measures, on one thread and on all: medians of `turns` for own and openblas, and one run for naive,
// which is slow. openblas_ms is empty without OpenBLAS.
void time_engines(int turns);
// Prints CSV for each scheme whose name contains `filter`: the time of a step on one thread, fastest of several, and
// that of a step without positions, in turns; and the additional work of its kernels per token (core/cost.h). 5 layers
// of width 64, batch 128, 20 input symbols and 20 output slots; with a causal mask in both models if the scheme needs
// it.
void time_schemes(const std::string& filter);
// The cost of ReRoPE, which computes the logits in two pieces, beside RoPE (Su 2023; spec A.4 (21)): two tables,
// medians of turns. The first is for attention of one layer over T tokens at once: 8 heads of 32 channels, a causal
// mask, rotations included. The second is for one more token after T cached ones, in the causal decoder at its
// standard size: 6 layers of width 256, a vocabulary of 256 tokens.
void time_decoder();

// For bench/generate.py, writes with a checkpoint in Hugging Face format: for every line `write 32+256` it reads the
// first 32 tokens of tests/support/formula.h's "prompt", generates the 256 most probable ones after it, and prints
// {"ms": [time], "tokens": [256]}, until the end of standard input. Throws like open_hf_model.
void serve_generate(const std::string& checkpoint, Rounding, Device);
// The same for bench/t5.py, with the encoder of a T5: for every line `encode 512` reads the first 512 tokens of the
// prompt and prints {"ms": [time], "states": of the first and the last slot}. Throws like t5::open_hf_model.
void serve_t5(const std::string& checkpoint, Rounding, Device);

// -- products of other libraries. Each function runs c = a b for each matrix of the batch, on threads() threads; it is
// empty without the library. The pointers must stay valid. Factors are reals, or for bf16 16-bit numbers.

std::function<void()> dnnl_product(Rounding, int batch, int m, int k, int n, void* a, void* b, real* c);  // oneDNN
// Also empty if threads may not call OpenBLAS (core/platform/openblas.h), and for bf16 if its build lacks bf16.
std::function<void()> openblas_product(Rounding, int batch, int m, int k, int n, const void* a, const void* b, real* c);
bool has_sbgemm();            // whether OpenBLAS was built with bf16
std::string openblas_name();  // "OpenBLAS 0.3.21, core Cooperlake, pthread", or "none"

}  // namespace poslab
