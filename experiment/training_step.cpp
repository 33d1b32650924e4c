#include "experiment/training_step.h"

#include <algorithm>

#include "autograd/tape.h"
#include "core/stop.h"

namespace poslab {

StartedStep start_step(const Params& params, Adam& adam, const StepPlan& plan, const Choices& c, Trace* trace) {
  const MatmulPrecision as_this_run = precision(c);
  adam.lr = plan.lr, adam.decay = c.number("weight_decay");
  StartedStep started;
  started.number_ = adam.step;
  double all = 0;
  for (const StepPart& part : plan.parts) all += double(part.expected.size());
  for (const StepPart& part : plan.parts) started.shares_.push_back(double(part.expected.size()) / all);
  std::vector<Tensor> losses, shown;
  // A GPU's steps are short and recorded, and a trace must not see unfinished results.
  Stoppable until_update(params.device() == Device::cpu && !trace);
  const auto work = [&] {
    losses.clear(), shown.clear();
    params.clear_grads();
    for (size_t i = 0; i < plan.parts.size(); ++i) {
      const Tensor logits = plan.parts[i].logits(trace), loss = cross_entropy(logits, plan.parts[i].expected);
      backward(plan.parts.size() == 1 ? loss : loss * started.shares_[i]);
      losses.push_back(loss), shown.push_back(plan.shown(logits));
    }
    until_update.complete();
    adam.update(params, trace);
  };
  if (trace)
    work();
  else
    backend(params.device()).step(work);
  ++adam.step;
  for (const Tensor& loss : losses) started.losses_.emplace_back(loss);
  for (const Tensor& part : shown) started.shown_.emplace_back(part);
  started.squares_ = AsyncRead(adam.squares);
  return started;
}

StepOutcome StartedStep::finish(const Choices& c, int length) {
  StepOutcome s{number_ + 1, 0, 0, {}};
  for (size_t i = 0; i < losses_.size(); ++i) {
    s.loss += shares_[i] * double(losses_[i].result()[0]);
    const std::vector<real> part = shown_[i].result();
    s.shown.insert(s.shown.end(), part.begin(), part.end());
  }
  s.grad_norm = Adam::norm(squares_.result());
  stop_if_diverged(c, number_, s.loss, s.grad_norm, length);
  return s;
}

Ids Cut::of(const Ids& all) const {
  Shape shape = all.shape();
  if (count() == shape[0]) return all;
  const int64_t row = all.size() / shape[0];
  shape[0] = count();
  return {shape, {all.data() + from * row, all.data() + to * row}};
}

std::vector<Cut> cuts(const Choices& c, int sequences) {
  const int parts = std::min(c.whole("accumulate"), sequences);
  std::vector<Cut> all;
  for (int i = 0; i < parts; ++i)
    all.push_back({i, int(int64_t(sequences) * i / parts), int(int64_t(sequences) * (i + 1) / parts)});
  return all;
}

int most_at_once(const Choices& c, int sequences) { return (sequences - 1) / c.whole("accumulate") + 1; }

Tensor most_probable(const Tensor& logits) {
  Shape shape = logits.shape();
  shape.pop_back();
  return top_k(logits.detach(), 1).columns.reshape(shape);
}

Ids most_probable_ids(const Tensor& logits) {
  const Tensor best = most_probable(logits);
  const std::vector<real> columns = best.values();
  return {best.shape(), {columns.begin(), columns.end()}};
}

}  // namespace poslab
