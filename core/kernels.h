// The contract between ops and hardware: every kernel with its formula and shapes, stated once. A device has a table of
// pointers to them: core/cpu/table.cpp, cuda/table.cpp. The list itself is core/kernels.def with core/more_kernels.def.
//
// A kernel takes pointers and numbers, and does not know about Tensor. It allocates nothing but scratch memory
// (core/memory.h), and throws nothing but a Failure, if memory runs out. Matrices are dense and row-major. A result
// given as an Accumulator is added to the stored values, or replaces them if it is `empty`; a null one is skipped. Each
// struct has one list of its fields, for code that visits all of them (core/fields.h).
#pragma once
#include <cstdint>
#include <span>

#include "core/accumulator.h"
#include "core/device.h"
#include "core/fields.h"
#include "core/random.h"
#include "core/real.h"
#include "core/stored_matrix.h"

namespace poslab {

// A loop over size[0] x size[1] x ... indices, innermost last. y, a, b: the steps of two or three arrays, in elements,
// one per dimension. In broadcasting, a step of 0 repeats an element; in a permutation the steps come in another order.
struct StridedLoop {
  static constexpr int max_dims = 6;
  int dims = 0;
  int64_t size[max_dims] = {}, y[max_dims] = {}, a[max_dims] = {}, b[max_dims] = {};
  [[gnu::always_inline]] int64_t count() const {         // indices
    int64_t n = 1;
    for (int d = 0; d < dims; ++d) n *= size[d];
    return n;
  }
  template <std::same_as<StridedLoop> Loop>
  friend auto fields(const Loop& loop) {                 // leaves out the entries from `dims` on
    const auto& [dims, size, y, a, b] = loop;
    const auto used = [&](const int64_t* values) { return std::span(values, size_t(dims)); };
    return std::tuple(dims, used(size), used(y), used(a), used(b));
  }
};

// c = a b for each of `batch` pairs of matrices. step: elements from one matrix of the batch to the next; 0 if all
// pairs share the same a or b.
struct Product {
  int64_t batch = 1;
  int m = 0, n = 0, k = 0;   // a: (m, k)   b: (k, n)   c: (m, n)
  bool a_transposed = false;   // a is stored (k, m)
  bool b_transposed = false;   // b is stored (n, k)
  int64_t a_step = 0, b_step = 0, c_step = 0;
  FIELDS(Product, batch, m, n, k, a_transposed, b_transposed, a_step, b_step, c_step)
};

// Keeps an element with probability 1 - rate, rounded to a multiple of 1/65536, and divides it by that multiple:
// element e is kept if 16-bit word w = e % 8 of philox(e / 8, stream) is at least round(65536 rate). Word w is the
// lower half of Bits::at[w / 2] if w is even, else the upper.
struct Dropout {
  real rate = 0;
  Stream stream;
  FIELDS(Dropout, rate, stream)
};

// A norm of rows, of x or of a residual sum x + dropout(z). LayerNorm's epsilon is that of Haiku and PyTorch.
enum class NormKind { layer, rms };
constexpr real layer_norm_epsilon = real(1e-5);
struct NormForm {
  NormKind kind = NormKind::layer;
  int64_t rows = 0;
  int n = 0;
  real epsilon = layer_norm_epsilon;
  Dropout dropout{};
  FIELDS(NormForm, kind, rows, n, epsilon, dropout)
};

// The logits and weights of multi-head attention, doors 2 to 4 of an encoding (encodings/encoding.h). Key j is at
// slot j, query i at slot t = offset + i. H / G query heads read one key head: head h reads h / (H / G).
//
//   u_ij = gain[pair] scale (q_i . k_j + q_rel_i . r[pair]) + bias[pair]        s_ij = temperature_i u_ij
//   a_ij = exp(s_ij - max_i) / z_i,  max_i = max_j s_ij,  z_i = sum_j exp(s_ij - max_i)
//   o_i  = sum_j a_ij v_j
//   pair(i,j) = j - t + slots - 1, slots = max(offset + queries, keys), rows = slots - 1 + keys;   or pairs[b][i][j]
//
// q . k is the product of the piece that holds the pair; no pair is in two. Query i sees key j if a piece holds the
// pair, j < key_lengths[b], and, if causal, j <= t. Sums and maxima are over the keys seen; without any, a_i = o_i = 0.
constexpr int far = 1 << 30, max_pieces = 4;   // far: beyond any slot
struct AttentionPiece {                // holds the pairs with from <= j - t < to and first <= j < end
  const real *q = nullptr, *k = nullptr;   // (batch, queries, heads, head_dim), (batch, keys, kv_heads, head_dim)
  int from = -far, to = far, first = 0, end = far;
  FIELDS(AttentionPiece, q, k, from, to, first, end)
};
struct AttentionArgs {
  int batch = 0, queries = 0, keys = 0;                           // B Tq Tk
  int heads = 0, kv_heads = 0, head_dim = 0, value_dim = 0;       // H G D and the D of v
  bool causal = false;
  int offset = 0;                      // the slot of query 0
  real scale = 1;
  int pieces = 1;                      // 1 to max_pieces
  int rows = 0;                        // rows of r, gain and bias
  AttentionPiece piece[max_pieces];
  const real* v = nullptr;             // (batch, keys, kv_heads, value_dim)
  const real* q_rel = nullptr;         // (batch, queries, heads, rel_dim)     or null
  const real* r = nullptr;             // (rows, heads, rel_dim)               or null
  const real* gain = nullptr;          // (rows, heads)                        or null: 1
  const real* bias = nullptr;          // (rows, heads)                        or null: 0
  const real* temperature = nullptr;   // (temperature_batch, queries, temperature_heads) or null: 1
  int temperature_batch = 1, temperature_heads = 1;   // 1: shared; else = batch, heads
  const int* key_lengths = nullptr;    // (batch)                              or null: all keys
  const int* pairs = nullptr;          // (pairs_batch, queries, keys), in 0 .. rows-1; or null: j - t + slots - 1
  int pairs_batch = 1;                 // 1: shared by the batch; else = batch
  int rel_dim = 0;                     // of q_rel and r
  // Added to each query of piece 0 and to each q_rel before they are multiplied, or null. Only the GPU's kernels read
  // them; on the CPU autograd/attention.cpp adds them first.
  const real *q_bias = nullptr, *q_rel_bias = nullptr;   // (heads, head_dim), (heads, rel_dim)
  FIELDS(AttentionArgs, batch, queries, keys, heads, kv_heads, head_dim, value_dim, causal, offset, scale, pieces, rows,
         piece, v, q_rel, r, gain, bias, temperature, temperature_batch, temperature_heads, key_lengths, pairs,
         pairs_batch, rel_dim, q_bias, q_rel_bias)
};
constexpr int statistics_per_row = 5;  // numbers that attention_statistics gives for each row
struct AttentionGrads {
  Accumulator q[max_pieces], k[max_pieces], v, q_rel, r, gain, bias, temperature;   // shapes as above
  Accumulator q_bias, q_rel_bias;                                                   // only by the GPU's kernels
  FIELDS(AttentionGrads, q, k, v, q_rel, r, gain, bias, temperature, q_bias, q_rel_bias)
};

// A post-norm encoder block (formulas: nn/block.h) as one forward and one backward kernel, only on the GPU. Elsewhere,
// and for sizes that do not fit, a block runs the other kernels. C = heads head_dim; the queries are the last slots.
struct BlockArgs {
  AttentionArgs attention;                              // q, k and v are absent: the kernel computes them itself
  int d_ff = 0;
  const real* x = nullptr;                              // (batch, keys, C)
  const real *query = nullptr, *key = nullptr, *value = nullptr, *output = nullptr;      // (C, C), stored (in, out)
  const real *gain1 = nullptr, *bias1 = nullptr, *gain2 = nullptr, *bias2 = nullptr;     // (C)
  const real *w1 = nullptr, *b1 = nullptr;              // (C, d_ff), (d_ff)
  const real *w2 = nullptr, *b2 = nullptr;              // (d_ff, C), (C)
  const real *cosine = nullptr, *sine = nullptr;        // (rotation_batch, keys, head_dim / 2), or null
  int rotation_batch = 1;                               // 1 or batch
  bool interleaved = false;                             // see the kernel `rotate`
  Dropout dropout1, dropout2;                           // 1: after attention; 2: after the feed-forward network
  FIELDS(BlockArgs, attention, d_ff, x, query, key, value, output, gain1, bias1, gain2, bias2, w1, b1, w2, b2, cosine,
         sine, rotation_batch, interleaved, dropout1, dropout2)
};
// Results of the forward pass that the backward pass reads. All null: there is no backward pass, and nothing is kept.
struct BlockKept {
  real *q = nullptr, *k = nullptr, *v = nullptr;        // (batch, queries, C), (batch, keys, C) twice; q and k rotated
  real *mixed = nullptr, *stats = nullptr;              // o and stats of `attention`
  real *s1 = nullptr, *h = nullptr, *s2 = nullptr;      // (batch, queries, C): before the norms, and after the first
  real* hidden = nullptr;                               // (batch, queries, d_ff)
  FIELDS(BlockKept, q, k, v, mixed, stats, s1, h, s2, hidden)
};
struct BlockGrads {
  Accumulator x, query, key, value, output, gain1, bias1, w1, b1, w2, b2, gain2, bias2, r, bias, q_bias, q_rel_bias;
  FIELDS(BlockGrads, x, query, key, value, output, gain1, bias1, w1, b1, w2, b2, gain2, bias2, r, bias, q_bias,
         q_rel_bias)
};

// The gated feed-forward network of T5 v1.1 and LLaMA (Shazeer 2020). Biases may be null.
//   a = x w1 + b1   c = x w3 + b3   h = act(a) c   y = h w2 + b2
enum class Activation { relu, silu, gelu, gelu_tanh };  // act in the formula above
struct GatedArgs {
  int64_t rows;
  int in, d_ff, out;
  Activation gate;
  const real* x;                                        // (rows, in)
  const real *w1, *b1, *w3, *b3;                        // (in, d_ff), (d_ff)
  const real *w2, *b2;                                  // (d_ff, out), (out)
  FIELDS(GatedArgs, rows, in, d_ff, out, gate, x, w1, b1, w3, b3, w2, b2)
};
struct GatedGrads {
  Accumulator x, w1, b1, w3, b3, w2, b2;                // shapes as above
  FIELDS(GatedGrads, x, w1, b1, w3, b3, w2, b2)
};

// Running sum i adds elements 0 .. i, or in reverse i .. n - 1; if exclusive, without element i.
struct ScanOrder {
  bool exclusive = false, reverse = false;
  FIELDS(ScanOrder, exclusive, reverse)
};

// One step of Adam over a flat buffer (Kingma & Ba 2015, algorithm 1), or of AdamW (Loshchilov & Hutter 2019).
struct AdamStep {
  real lr = 0, beta1 = 0, beta2 = 0, epsilon = 0;
  real correction1 = 0, correction2 = 0;   // 1 - beta1^t, 1 - beta2^t
  real clip = 0;                       // the gradient is scaled down to this norm if it has a larger one
  real keep = 1;                       // 1 - lr weight_decay
  FIELDS(AdamStep, lr, beta1, beta2, epsilon, correction1, correction2, clip, keep)
};

struct Kernels {
  const char* name = "";
#define KERNEL(name, result, arguments, ...) result (*name) arguments = nullptr;
#include "core/kernels.def"
#undef KERNEL
  // Products with stored weights (core/stored_matrix.h), which have no backward pass.
  // y = x w^T + b, b null for none                          x: (rows, in)   w: (out, in)   b: (out)   y: (rows, out)
  void (*linear_stored)(real* y, const real* x, StoredAs, const void* w, const real* b, int64_t rows, int in,
                        int out) = nullptr;
  // y_i = table[at_i]                                                         table: (entries, n)   y: (rows, n)
  void (*gather_stored)(real* y, StoredAs, const void* table, const int* at, int64_t rows, int n) = nullptr;
  // These kernels exist only on the GPU, and are null elsewhere: see BlockArgs. y: (batch, queries, C), like dy. A
  // block that does not fit must not be started.
  bool (*encoder_block_fits)(const BlockArgs&) = nullptr;
  void (*encoder_block)(real* y, const BlockKept&, const BlockArgs&) = nullptr;
  void (*encoder_block_backward)(const BlockGrads&, const real* dy, const BlockKept&, const BlockArgs&) = nullptr;
  // The part of the block after attention, for `queries` rows of any sequences, from x and attention's result `mixed`,
  // (queries, C) each.
  bool (*encoder_tail_fits)(const BlockArgs&) = nullptr;
  void (*encoder_tail)(real* y, const real* mixed, const BlockKept&, const BlockArgs&) = nullptr;
  void (*encoder_tail_backward)(const BlockGrads&, const Accumulator& d_mixed, const real* dy, const real* mixed,
                                const BlockKept&, const BlockArgs&) = nullptr;
};

// The kernels of a device, timed at POSLAB_DEBUG=2 and above (core/profile.h). BadInput where there is no such device.
const Kernels& kernels(Device);

}  // namespace poslab
