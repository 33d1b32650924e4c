// The logits of an encoding, from parts (autograd/ops.h), and the ops on them.
#include "autograd/ops.h"
#include "python/op.h"

namespace poslab::python {

void add_attention(nb::module_& m) {
  nb::class_<Piece>(m, "Piece",
                    "Queries (B, Tq, H, D) and keys (B, Tk, G, D) for the pairs with start <= key slot - "
                    "query slot < stop and first <= key slot < end.")
      .def(
          "__init__",
          [](Piece* self, TensorLike q, TensorLike k, int start, int stop, int first, int end) {
            new (self) Piece{tensor_of(q), tensor_of(k), start, stop, first, end};
          },
          "q"_a, "k"_a, "start"_a = -far, "stop"_a = far, "first"_a = 0, "end"_a = far)
      .def_ro("q", &Piece::q)
      .def_ro("k", &Piece::k);

  nb::class_<Scores>(m, "Scores",
                     "Logits s_ij = temperature_i (gain[pair] scale (q_i . k_j + q_rel_i . r[pair]) + bias[pair]).\n"
                     "pieces: 1 to 4; pairs outside are masked. q_rel (B, Tq, H, R), r (N, H, R), gain and bias (N, "
                     "H),\ntemperature (1 or B, Tq, 1 or H). pairs (1 or B, Tq, Tk): rows of r, gain and bias; without "
                     "it the\nrow is the distance of slots, counted from the farthest key on the left: N = 2 T - 1.")
      .def(
          "__init__",
          [](Scores* self, std::vector<Piece> pieces, double scale, nb::object q_rel, nb::object r, nb::object gain,
             nb::object bias, nb::object temperature, nb::object pairs) {
            new (self) Scores{std::move(pieces),
                              real(scale),
                              tensor_or_absent(q_rel),
                              tensor_or_absent(r),
                              tensor_or_absent(gain),
                              tensor_or_absent(bias),
                              tensor_or_absent(temperature),
                              ids_of(pairs)};
          },
          "pieces"_a, "scale"_a, "q_rel"_a = nb::none(), "r"_a = nb::none(), "gain"_a = nb::none(),
          "bias"_a = nb::none(), "temperature"_a = nb::none(), "pairs"_a = nb::none());

  nb::class_<Span>(m, "Span",
                   "Which keys a query may see: those of its own sequence, and with a causal mask only those "
                   "up to its slot.")
      .def(
          "__init__",
          [](Span* self, bool causal, int offset, nb::object key_lengths, int window) {
            if (window < 0) bad_input("Span: window is {}; 0 for none, or a number of slots", window);
            new (self) Span{causal, offset, ids_of(key_lengths), window};
          },
          "causal"_a = false, "offset"_a = 0, "key_lengths"_a = nb::none(), "window"_a = 0,
          "offset: the slot of query 0, Tk - Tq if the queries are in the last slots; window: keys this many slots "
          "or more before a query are hidden.");

  const auto whole = Span();
  m.def(
      "attention", [](const Scores& s, TensorLike v, const Span& span) { return attention(s, tensor_of(v), span); },
      "scores"_a, "v"_a, "span"_a = whole, "softmax(scores) v: (B, Tk, G, Dv) -> (B, Tq, H, Dv)");
  m.def("attention_weights", attention_weights, "scores"_a, "span"_a = whole, "(B, H, Tq, Tk), without a gradient");
  m.def("attention_statistics", attention_statistics, "scores"_a, "span"_a = whole,
        "For each row of weights: the largest, their entropy in nats, the largest logit, mean and variance of the "
        "visible\nlogits: (B, H, Tq, 5), without a gradient");
  m.def(
      "geometric",
      [](TensorLike z, TensorLike side, bool causal) {
        const Tensor match = tensor_of(z);
        const int offset = match.dims() < 2 ? 0 : match.dim(-1) - match.dim(-2);
        return geometric(match, tensor_of(side), {causal, offset});
      },
      "z"_a, "side"_a, "causal"_a = false,
      "The nearest key that matches takes its share, the next one of what is left: (..., Tq, Tk), (..., Tq, 2) -> "
      "(..., Tq, Tk)");
}

}  // namespace poslab::python
