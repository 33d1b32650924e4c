// Attention and fused sums as a trace sees and changes them (nn/trace.h). Without a trace each costs nothing.
#pragma once
#include <functional>
#include <string>

#include "nn/block.h"

namespace poslab {

// Attention's result by head, (B, Tq, H, Dv), from v, (B, Tk, G, Dv). A trace may change it, as NAME.attention.heads,
// and the weights (B, H, Tq, Tk), and read statistics (B, H, Tq, row_figures) and the logits (B, H, n, Tk) of the last
// n queries, n at most Trace::queries. Throws BadInput if it reads logits of a scheme that has none. terms: if present,
// nothing is traced, and these terms of the encoding (nn/fused.h) are used.
Tensor attend(const std::string& name, const LayerPass&, const Heads&, const Tensor& v, const Span&,
              const std::optional<LayerTerms>& terms = {});

// `heads` (B, Tq, H, Dv), with sum_j a_ij v_j for queries whose weights (B, H, Tq, Tk) the trace changes under `name`.
// Their gradients flow to v, and to new weights that require one, but not to logits. `weights` is called if the trace
// wants them. Throws BadInput for a change if heads are not weights times v alone, as in Shaw's scheme.
Tensor reweigh(Trace*, const std::string& name, const std::function<Tensor()>& weights, const Tensor& heads,
                 const Tensor& v);

// A sum under the name NAME + part, and its norm. A trace may change the sum; the norm is that of the changed sum.
ResidualNorm traced(Trace*, const std::string& name, const char* part, const ResidualNorm&, const Tensor& gain,
                    double epsilon);

// Traces an update of the parameters: constructed before the update, show() after it. Changes by the trace are applied.
class TracedUpdate {
 public:
  TracedUpdate(const Params&, Trace*);   // without a trace nothing is kept
  void show() const;

 private:
  struct Watched {
    std::string name;                    // "update." and the parameter's
    Tensor parameter, before;
  };
  Trace* trace_;
  std::vector<Watched> all_;
};

}  // namespace poslab
