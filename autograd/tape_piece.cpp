#include "autograd/tape_piece.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace poslab {

TapePiece::TapePiece(size_t from) {
  const auto first = tape.begin() + std::ptrdiff_t(std::min(from, tape.size()));
  const auto last = tape.end();
  using Steps = const std::vector<TapeStep>;
  steps_ = std::make_shared<Steps>(std::make_move_iterator(first), std::make_move_iterator(last));
  tape.erase(first, last);
}

void TapePiece::backward(const Tensor& y, const Tensor& dy) const {
  if (dy.shape() != y.shape())
    bad_input("backward: the gradient is {}; it must have the shape of the result, {}", to_string(dy.shape()),
              to_string(y.shape()));
  const std::vector<TapeStep>& all = *steps_;
  for (const TapeStep& step : all) {
    step.y.clear_grad();
    for (const Tensor& result : step.results) result.clear_grad();
  }
  if (all.empty()) return;
  std::copy_n(dy.data(), dy.size(), y.grad_accumulator().at);
  const auto free_grad = [](const Tensor& x) {     // once it has been read, its memory goes back to the pool
    if (x.has_grad()) x.take_grad();
  };
  for (size_t at = all.size(); at-- > 0;) {
    const TapeStep& step = all[at];
    if (!step.reached()) continue;
    step.backward(gradient(step.y));
    free_grad(step.y);
    for (const Tensor& result : step.results) free_grad(result);
  }
}

}  // namespace poslab
