// Attention and fused sums as a trace sees and changes them (nn/trace.h). Without a trace each costs nothing.
#pragma once
#include <functional>
#include <string>

#include "nn/block.h"

namespace poslab {

// The heads of attention, (B, Tq, H, Dv), of v like k. A trace may change them, as NAME.attention.heads, and
// the weights (B, H, Tq, Tk), and see statistics (B, H, Tq, row_figures), and the logits (B, H, n, Tk) of the last n
// queries, n at most Trace::queries. Throws BadInput if logits are asked of a scheme that has none.
// terms: the same by these terms of the encoding (nn/fused.h), where nothing is traced.
Tensor attend(const std::string& name, const LayerPass&, const Heads&, const Tensor& v, const Span&,
              const std::optional<LayerTerms>& terms = {});

// Heads (B, Tq, H, Dv), or sum_j a_ij v_j for those queries whose weights (B, H, Tq, Tk) a trace changes under `name`.
// There gradients go to v, and to the new weights if these require one, and to no logit. `weights` is called if the
// trace wants them. Throws BadInput if they are changed where heads are more than v times weights, as in Shaw's scheme.
Tensor reweighed(Trace*, const std::string& name, const std::function<Tensor()>& weights, const Tensor& heads,
                 const Tensor& v);

// A sum under the name NAME + part, and its norm. A trace may change the sum; the norm is that of the changed sum.
ResidualNorm traced(Trace*, const std::string& name, const char* part, const ResidualNorm&, const Tensor& gain,
                    double epsilon);

// An update of the parameters: made before it, shown to the trace after it. A change of the trace is applied.
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
