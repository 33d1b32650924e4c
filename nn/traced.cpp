#include "nn/traced.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "autograd/composed.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {
namespace {

Tensor last_queries(const Tensor& x, int n) {
  return !x || x.dim(1) <= n ? x : slice(x, 1, x.dim(1) - n, x.dim(1));
}

// Shows a trace the statistics and logits, which the fused attention does not compute.
void look(const std::string& of, Trace& trace, const LayerPass& pass, const Heads& in, const Span& span) {
  const NoGrad inference;
  if (trace.wants(of + "statistics"))
    trace.capture(of + "statistics", pass.encoding.statistics(in, pass.positions, span));
  if (!trace.queries || !trace.wants(of + "logits")) return;
  const int n = std::min(trace.queries, in.q.dim(1));
  const Heads some{last_queries(in.q, n), in.k, last_queries(in.x, n), in.x_keys, last_queries(in.temperature, n)};
  Span of_some = span;
  of_some.offset += in.q.dim(1) - n;
  trace.capture(of + "logits", pass.encoding.logits(some, pass.positions, of_some));
}

}  // namespace

Tensor reweigh(Trace* trace, const std::string& name, const std::function<Tensor()>& weights, const Tensor& heads,
                 const Tensor& v) {
  if (!trace || !trace->wants(name)) return heads;
  std::optional<NoGrad> inference(std::in_place);
  const Tensor was = weights(), now = (*trace)(name, was);
  if (now.data() == was.data()) return heads;
  const std::vector<real> given = heads.values(), mixed = composed::mix(was, v).values();
  for (size_t n = 0; n < given.size(); ++n)
    if (std::abs(given[n] - mixed[n]) > 1e-3 * (1 + std::abs(given[n])))
      bad_input("trace: {}: the result of this encoding's heads is not weights times values, so new weights do not "
                "determine it; replace {}heads", name, name.substr(0, name.rfind('.') + 1));
  const int B = was.dim(0), H = was.dim(1), Tq = was.dim(2);
  const std::vector<real> a = was.values(), b = now.values();
  std::vector<real> same;                                            // (B, H, Tq)
  for (size_t row = 0, Tk = size_t(was.dim(3)); row < a.size() / Tk; ++row)
    same.push_back(std::equal(&a[row * Tk], &a[row * Tk] + Tk, &b[row * Tk]));
  const Tensor kept = permute(Tensor::from({B, H, Tq, 1}, same).to(was.device()), {0, 2, 1, 3});
  inference.reset();
  return where(kept, heads, composed::mix(now, v));
}

Tensor attend(const std::string& name, const LayerPass& pass, const Heads& in, const Tensor& v, const Span& span,
              const std::optional<LayerTerms>& terms) {
  if (terms) return attention(scores_of(*terms, in.q, in.k), v, span, terms->biases);
  Tensor heads = pass.encoding.attend(in, v, pass.positions, span);
  if (!pass.trace) return heads;
  const std::string of = name + ".attention.";
  look(of, *pass.trace, pass, in, span);
  const auto weights = [&] { return pass.encoding.weights(in, pass.positions, span); };
  return expose(pass.trace, name, ".attention.heads", reweigh(pass.trace, of + "weights", weights, heads, v));
}

TracedUpdate::TracedUpdate(const Params& p, Trace* trace) : trace_(trace) {
  if (!trace) return;
  for (const auto& [name, x, offset] : p.entries())
    if (trace->wants("update." + name))
      all_.push_back({"update." + name, x, Tensor::from(x.shape(), x.values()).to(x.device())});
}

void TracedUpdate::show() const {
  const NoGrad off;
  for (const auto& [name, parameter, before] : all_) {
    const Tensor made = parameter - before;
    const std::vector<real> as_made = made.values();  // a change may write to its argument
    const Tensor wanted = (*trace_)(name, made);
    if (wanted.values() != as_made) parameter.set((before + wanted).values().data());
  }
}

// The fused norm belongs to the original sum. After a change, or if the trace may read gradients, it is computed again.
ResidualNorm expose(Trace* trace, const std::string& name, const char* part, const ResidualNorm& h, const Tensor& gain,
                    double epsilon) {
  if (!trace || !trace->wants(name + part)) return h;
  const Tensor s = expose(trace, name, part, h.s);
  if (s.data() == h.s.data() && !recording()) return h;
  return {s, rms_norm(s, gain, epsilon)};
}

}  // namespace poslab
