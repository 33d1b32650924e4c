#include "autograd/debug_check.h"

#include <cmath>
#include <optional>

#include "core/debug.h"
#include "core/error.h"
#include "core/profile.h"

namespace poslab {
namespace {

// "nan at (0, 3), the first of 17 such elements", if there is one
std::optional<std::string> flaw(const Tensor& x) {
  const std::vector<real> all = x.values();
  const Shape& shape = x.shape();
  const auto bad = [](real v) { return !std::isfinite(v); };
  const auto first = std::find_if(all.begin(), all.end(), bad);
  if (first == all.end()) return {};
  Shape index(shape.size());
  int64_t rest = first - all.begin();
  for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = int(rest % shape[d]);
  return fmt::format("{} at {}, the first of {} such elements", std::isnan(*first) ? NAN : *first, to_string(index),
                     std::count_if(first, all.end(), bad));
}

// Inputs are counted from 1, in the order of the op's arguments; absent ones have no shape.
std::string shapes(const std::vector<Tensor>& inputs) {
  std::string text;
  for (const Tensor& x : inputs) text += fmt::format(" {}", x ? to_string(x.shape()) : "-");
  return text;
}

std::string flaws(const std::vector<Tensor>& inputs) {
  std::string text;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const auto f = inputs[i] ? flaw(inputs[i]) : std::nullopt)
      text += fmt::format("; input {} {} already had {}", i + 1, to_string(inputs[i].shape()), *f);
  return text.empty() ? "; its inputs are all finite" : text;
}

void line(const std::string& name, const std::vector<Tensor>& results, const char* arrow,
          const std::vector<Tensor>& inputs) {
  if (debug_level() == 1) std::fputs((name + '\n').c_str(), stderr);
  if (debug_level() >= 3)
    std::fputs(
        fmt::format("{:<23}{} {}{}   {}\n", name, shapes(results), arrow, shapes(inputs), latest_calls()).c_str(),
        stderr);
}

}  // namespace

void check_forward(const char* op, const std::vector<Tensor>& results, const std::vector<Tensor>& inputs) {
  line(op, results, "<-", inputs);
  if (debug_level() < 4) return;
  for (size_t i = 0; i < results.size(); ++i)
    if (const auto f = flaw(results[i])) {
      const std::string which = results.size() == 1 ? "" : fmt::format("result {} ", i + 1);
      failure("{}{} gives {}{} with {}{}", op, shapes(inputs), which, to_string(results[i].shape()), *f, flaws(inputs));
    }
}

void check_backward(const char* op, const std::vector<Tensor>& results, const std::vector<Tensor>& inputs) {
  line(fmt::format("{} backward", op), results, "->", inputs);
  if (debug_level() < 4) return;
  const bool one = results.size() == 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].has_grad()) continue;
    if (const auto f = flaw(inputs[i].grad()))
      failure("the backward pass of {}{} gives input {} a gradient with {}; {}{} {} finite{}", op, shapes(inputs),
              i + 1, *f, one ? "that of its result" : "those of its results", shapes(results), one ? "is" : "are",
              flaws(inputs));
  }
}

}  // namespace poslab
