// Activations in attention, sums in fused norms, and updates, for a trace (nn/trace.h). They cost nothing without one.
#pragma once
#include <functional>
#include <string>

#include "nn/block.h"

namespace poslab {

// Attention's result by head, (B, Tq, H, Dv), from v, (B, Tk, G, Dv). A trace may change it, as NAME.attention.heads,
// and the weights (B, H, Tq, Tk), and read statistics (B, H, Tq, statistics_per_row) and the logits (B, H, n, Tk) of
// the last n queries, n at most Trace::queries. Throws BadInput if it reads logits of a scheme that has none. terms: if
// present, they define the encoding (nn/fused.h), and nothing is traced.
Tensor attend(const std::string& name, const LayerPass&, const Heads&, const Tensor& v, const Span&,
              const std::optional<LayerTerms>& terms = {});

// Returns heads (B, Tq, H, Dv), with sum_j a_ij v_j for queries whose weights a_ij (B, H, Tq, Tk) the trace changes
// under `name`; their gradients go to v, and to weights that require some, not to logits. `weights` is called only if
// the trace reads them. Throws BadInput for a change if heads are more than weights times v, as in Shaw's scheme.
Tensor reweigh(Trace*, const std::string& name, const std::function<Tensor()>& weights, const Tensor& heads,
                 const Tensor& v);

// A sum under the name NAME + part, and its norm. A trace may change the sum; the norm is that of the changed sum.
ResidualNorm expose(Trace*, const std::string& name, const char* part, const ResidualNorm&, const Tensor& gain,
                    double epsilon);

// Traces an update of the parameters: constructed before it; show(), called after it, applies changes.
class TracedUpdate {
 public:
  TracedUpdate(const Params&, Trace*);   // copies the parameters whose updates the trace reads
  void show() const;

 private:
  struct Watched {
    std::string name;                    // "update." and the parameter's name
    Tensor parameter, before;
  };
  Trace* trace_;
  std::vector<Watched> all_;
};

}  // namespace poslab
