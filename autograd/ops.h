// Every op: a function from tensors to a tensor that runs one kernel and records its derivative. The formulas are in
// autograd/STEM.cpp, one file per op. All throw BadInput with the op's name and the shapes if these do not fit.
#pragma once
#include "core/kernels.h"
#include "core/tensor.h"

namespace poslab {

// Shapes broadcast from the right: (B, T, C) + (C), (4, 1) * (1, 5) -> (4, 5).
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor number(double c, const Tensor& like) { return Tensor::full({1}, real(c), like.device()); }   // (1)
inline Tensor operator+(const Tensor& a, double c) { return add(a, number(c, a)); }
inline Tensor operator-(const Tensor& a, double c) { return add(a, number(-c, a)); }
inline Tensor operator*(const Tensor& a, double c) { return mul(a, number(c, a)); }
inline Tensor operator/(const Tensor& a, double c) { return div(a, number(c, a)); }
inline Tensor operator+(double c, const Tensor& a) { return add(number(c, a), a); }
inline Tensor operator-(double c, const Tensor& a) { return sub(number(c, a), a); }
inline Tensor operator*(double c, const Tensor& a) { return mul(number(c, a), a); }
inline Tensor operator/(double c, const Tensor& a) { return div(number(c, a), a); }
inline Tensor operator-(const Tensor& a) { return a * -1; }
Tensor pow(const Tensor& x, double c);             // NaN for x < 0 unless c is whole; x^0 is 1, with slope 0

// The first four broadcast their arguments too. A minimum or maximum with a NaN is NaN.
Tensor greater_equal(const Tensor& a, const Tensor& b);                 // 1 or 0, 1 for a NaN in a; without a gradient
Tensor where(const Tensor& mask, const Tensor& a, const Tensor& b);     // b where the mask is 0, a where it is not
Tensor minimum(const Tensor& a, const Tensor& b);  // where a = b, all of the gradient goes to a
Tensor maximum(const Tensor& a, const Tensor& b);  // where a = b, all of the gradient goes to a
Tensor clamp(const Tensor& x, double low, double high);                 // slope 1 at both ends
Tensor abs(const Tensor& x);                       // slope 0 at 0

Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor softplus(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor silu(const Tensor& x);                      // x sigmoid(x)
Tensor gelu(const Tensor& x);                      // x (1 + erf(x / sqrt(2))) / 2
Tensor gelu_tanh(const Tensor& x);                 // with a tanh in place of erf: "gelu_new" of GPT-2 and T5 v1.1
Tensor cos(const Tensor& x);                       // x in radians; a float x of n turns is off by up to n / 3,000,000
Tensor sin(const Tensor& x);
Tensor sqrt(const Tensor& x);

Tensor sum(const Tensor& x, int axis);             // the axis stays, with size 1; negative axes count from the end
Tensor mean(const Tensor& x, int axis);            // the axis stays, with size 1
Tensor sum_all(const Tensor& x);                   // (1)
Tensor max(const Tensor& x);                       // over the last axis, which stays with size 1
Tensor scan(const Tensor& x, int axis, ScanOrder = {});                // running sums along the axis, shape of x
struct TopK { Tensor values, columns; };           // columns: whole numbers 0 .. n-1, without gradient
TopK top_k(const Tensor& x, int k);                // (..., n) -> (..., k) for each result, the largest first
// Linear interpolation between the N entries of each row of the table, at places 0 .. N-1 of the same row of `places`:
// (..., N), (..., n) -> (..., n). A place below 0 reads the first entry, one above N-1 the last.
Tensor interpolate(const Tensor& table, const Tensor& places);

Tensor permute(const Tensor& x, const std::vector<int>& order);        // dim i of the result is dim order[i] of x
Tensor transpose(const Tensor& x);                                     // the last two dims change places
Tensor slice(const Tensor& x, int axis, int from, int to);             // from <= index < to along the axis
Tensor concat(const std::vector<Tensor>& parts, int axis);
Tensor gather(const Tensor& table, const Ids& at);                     // (N, ...), ids (A, ..., Z) -> (A, ..., Z, ...)

Tensor matmul(const Tensor& a, const Tensor& b);   // (..., m, k) x (..., k, n) or (k, n) -> (..., m, n)
Tensor softmax(const Tensor& x);                   // over the last axis
// (..., C), gain and bias (C). In float a number above 1e19 has no square: its row is normalized to 0, as in PyTorch.
Tensor norm(const Tensor& x, const Tensor& gain, const Tensor& bias);          // LayerNorm, over the last axis
Tensor rms_norm(const Tensor& x, const Tensor& gain, double epsilon);          // 1e-6 in T5, 1e-5 or 1e-6 in LLaMA
Tensor dropout(const Tensor& x, Dropout);          // x_e keep_e / (1 - rate): Dropout in core/kernels.h
enum class Pairing { interleaved, half };          // RoPE's pairs of channels: (2m, 2m+1) or (m, m + D/2)
struct Rotation { Tensor cosine, sine; };          // cosines and sines of each pair's angle: (1 or B, T, D/2) each
Tensor rotate(const Tensor& x, const Rotation&, Pairing);              // (B, T, H, D)
Tensor rotate(const Tensor& x, const Tensor& angles, Pairing);         // the same with angles in radians

// The fused ops of the transformer. Each has a composed twin, written with the ops above, in autograd/composed.h.
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b = {});  // (..., in) -> (..., out)
// linear and gather with weights as an external checkpoint stores them, w: (out, in). They have no gradients.
Tensor linear(const Tensor& x, const StoredMatrix& w, const Tensor& b = {});
Tensor gather(const StoredMatrix& table, const Ids& at);               // (N, n), ids (A, ..., Z) -> (A, ..., Z, n)
// (..., in) -> (..., out): max(x w1 + b1, 0) w2 + b2
Tensor feed_forward(const Tensor& x, const Tensor& w1, const Tensor& b1, const Tensor& w2, const Tensor& b2);
struct GatedWeights { Tensor w1, b1{}, w3, b3{}, w2, b2{}; };          // shapes at GatedArgs in core/kernels.h
Tensor gated_feed_forward(const Tensor& x, const GatedWeights&, Activation);  // (..., in) -> (..., out)
// norm(x + dropout(z)), (..., C)
Tensor residual_norm(const Tensor& x, const Tensor& z, const Tensor& gain, const Tensor& bias, Dropout);
struct ResidualNorm { Tensor s, y; };              // s = x + dropout(z), y = rms_norm(s): a pre-norm model needs both
ResidualNorm residual_rms_norm(const Tensor& x, const Tensor& z, const Tensor& gain, double epsilon, Dropout);
Tensor cross_entropy(const Tensor& logits, const Ids& targets);        // (..., V), (...) -> (1): mean, in nats

// The terms of attention's logits, which an encoding makes. Query i is at slot t = offset + i, key j at slot j:
//   s_ij = temperature_i ( gain[pair] scale (q_i . k_j + q_rel_i . r[pair]) + bias[pair] )
// q . k is the product of the one piece that holds the pair; a pair in none is masked. Shapes: B T H D, and G key
// heads, where G divides H and head h reads key head h / (H / G). Absent terms are empty, and cost nothing.
struct Piece {                             // holds the pairs with from <= j - t < to and first <= j < end
  Tensor q, k;                             // (B, Tq, H, D), (B, Tk, G, D)
  int from = -far, to = far;               // distances in slots, for a window or for all keys to its left or right
  int first = 0, end = far;                 // slots of keys, for attention sinks
};
struct Scores {
  std::vector<Piece> pieces;               // 1 to max_pieces of them, of equal shapes
  real scale = 1;                          // factor on content and relative logits: 1 / sqrt(D), but not in T5
  Tensor q_rel{}, r{};                     // (B, Tq, H, R), (N, H, R): relative logits, both or neither
  Tensor gain{}, bias{};                   // (N, H): a factor and a logit for each row and head
  Tensor temperature{};                    // (1 or B, Tq, 1 or H)
  // (1 or B, Tq, Tk): the row of r, gain and bias that a pair reads; absent: row j - t + slots - 1 of
  // N = slots - 1 + Tk rows, slots = max(offset + Tq, Tk)
  Ids pairs{};
};
// The keys that a query may see: keys of its own sequence, with a causal mask none after its slot, and with a sliding
// window none too far before it.
struct Span {
  bool causal = false;
  int offset = 0;                          // slot of query 0: Tk - Tq if the queries are the last of the slots
  Ids key_lengths{};                       // (B): keys j >= key_lengths[b] are padding
  int window = 0;                          // a query sees no key `window` or more slots before it; 0: no limit
};
// Added to every query of the first piece and to every q_rel, as Transformer-XL's u and v: (H, D), (H, R); or absent.
struct QueryBiases {
  Tensor q{}, q_rel{};
};
// A query that sees no key has weights 0 and result 0.            (B, Tk, G, Dv) -> (B, Tq, H, Dv)
Tensor attention(const Scores&, const Tensor& v, const Span&, const QueryBiases& = {});
Tensor attention_weights(const Scores&, const Span&);                  // (B, H, Tq, Tk), no gradient
// For each row: the largest weight, the weights' entropy in nats, and the maximum, mean and variance of the logits of
// the keys seen. Streams over the keys and stores no weights. (B, H, Tq, statistics_per_row), no gradient
Tensor attention_statistics(const Scores&, const Span&);
// Each key, the nearest first, takes a share of the weight that nearer keys have left; a query's own slot takes none.
// side: two numbers to add to z, for keys on the right and on the left. (..., Tq, Tk), (..., Tq, 2) -> (..., Tq, Tk)
Tensor geometric(const Tensor& z, const Tensor& side, const Span&);

}  // namespace poslab
