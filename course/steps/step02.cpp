// Step 2: the tape and backward. autograd/tape.cpp, autograd/arithmetic.cpp
#include <future>
#include <memory>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "check.h"

using namespace poslab;
using namespace course;

namespace {

Tensor leaf(const Shape& shape, const Values& all) { return Tensor::from(shape, all).require_grad(); }

// An op of our own: y = 2 x, which adds its name to `called` when its derivative is called.
Tensor twice(const Tensor& x, std::vector<int>& called, int name) {
  Tensor y = Tensor::from(x.shape(), values(x));
  for (int64_t n = 0; n < y.size(); ++n) y.data()[n] *= 2;
  return record("twice", y, {x}, [x, name, &called](const real* dy) {
    called.push_back(name);
    if (!dy) return;  // it must not be called
    if (const Accumulator dx = x.grad_accumulator())
      for (int64_t n = 0; n < x.size(); ++n) dx.at[n] = (dx.empty ? 0 : dx.at[n]) + 2 * dy[n];
  });
}
// sum_n w_n x_n, with a derivative of its own: the gradient of x is w.
Tensor weighed(const Tensor& x, const Values& w) {
  Tensor y = Tensor::full({1}, 0);
  for (size_t n = 0; n < w.size(); ++n) y.data()[0] += x.data()[n] * real(w[n]);
  return record("weighed", y, {x}, [x, w](const real* dy) {
    const Accumulator dx = x.grad_accumulator();
    for (size_t n = 0; n < w.size(); ++n) dx.at[n] = (dx.empty ? 0 : dx.at[n]) + *dy * real(w[n]);
  });
}
Values doubles(const std::vector<int>& all) { return {all.begin(), all.end()}; }

}  // namespace

CASE("the ops that are recorded") {
  clear_tape();
  std::vector<int> called;
  const Tensor constant = Tensor::from<double>({1}, {3}), x = leaf({1}, {3});
  const Tensor a = twice(constant, called, 1);
  check("an op whose inputs want no gradient leaves nothing on the tape", double(tape_length()), 0,
        {{"it is recorded nevertheless: return y at once if no input requires a gradient", {1}}});
  check("and its result wants none", double(a.requires_grad()), 0,
        {{"the result requires a gradient, and no op will ever fill it", {1}}});
  const Tensor b = twice(x, called, 2);
  check("an op of a leaf that wants a gradient is one entry", double(tape_length()), 1,
        {{"nothing was recorded: is the result pushed onto the tape?", {0}}});
  check("and its result wants a gradient, too", double(b.requires_grad()), 1,
        {{"the result does not require a gradient, so the ops that follow are not recorded", {0}}});
  clear_tape();
  const Tensor c = constant * x;
  check("one input that wants a gradient is enough", double(tape_length()), 1,
        {{"all inputs must want a gradient here; any one of them is enough", {0}}});
  clear_tape();
  const Tensor d = x * constant;
  check("whichever it is", double(tape_length()), 1,
        {{"only the last input is tested for a gradient; any one of them is enough", {0}}});
  clear_tape();
  {
    const NoGrad looking;
    twice(x, called, 3);
    check("nothing is recorded while a NoGrad lives", double(tape_length()), 0,
          {{"no_grad is not read: while it is above 0 nothing is recorded", {1}}});
    const NoGrad inner;
    twice(x, called, 4);
  }
  check("nor while two live, one inside another", double(tape_length()), 0,
        {{"each NoGrad counts no_grad up by one: with one inside another it is 2, and nothing is recorded", {1}}});
}

CASE("each thread has a tape of its own") {
  clear_tape();
  std::vector<int> called;
  const Tensor x = leaf({1}, {3}), loss = twice(x, called, 1);
  expect_refusal(
      "backward() of a loss whose op is on the tape of another thread",
      [&] { std::async(std::launch::async, [&] { backward(loss); }).get(); },
      "the result does not say in which pass it was made: mark_pass(y.require_grad())");
}

CASE("an op with several results") {
  clear_tape();
  const Tensor x = leaf({1}, {3});
  int called = 0;
  const std::vector<Tensor> y = record(
      "halves", std::vector<Tensor>{Tensor::full({1}, 1), Tensor::full({1}, 2)}, {x},
      [&](std::span<const real* const> dy) { ++called, x.grad_accumulator().at[0] = dy[1] ? *dy[1] : real(-1); });
  backward(weighed(y[1], {5}));
  check("its function is called if any of its results was reached, here the second", double(called), 1,
        {{"only the first result is tested, step.y; test step.results, too", {0}}});
  check("and x gets the gradient of that one", x.grad(), {5});
}

CASE("backward calls the derivatives from the end") {
  clear_tape();
  std::vector<int> called;
  const Tensor x = leaf({1}, {5}), y = twice(x, called, 1), z = twice(y, called, 2), loss = twice(z, called, 3);
  backward(loss);
  check("which of three ops in a row are called, in which order", doubles(called), {3, 2, 1},
        {{"from the front: the gradient of a result is known only after the ops that read it", {1, 2, 3}},
         {"the last op alone is called", {3}},
         {"the others are skipped too early: they get a gradient once the last one's derivative is called", {3}},
         {"none is called: d loss / d loss = 1 has to be filled in first", {}}});
  check("d loss / dx of loss = 2 (2 (2 x))", x.grad(), {8},
        {{"the gradient of the loss itself is 1, and here it is something else", {0}},
         {"the last factor is missing: d loss / d loss is 1, not 0.5", {4}}});
  check("the tape is empty afterwards", double(tape_length()), 0,
        {{"steps stay on the tape, and the next backward would run them again", {3}}});
}

CASE("a step is taken off before it is called, and then freed") {
  clear_tape();
  const Tensor x = leaf({1}, {5});
  Values left, alive;
  std::weak_ptr<int> held[3];  // memory of the derivatives of three ops in a row
  Tensor y = x;
  for (std::weak_ptr<int>& mine : held) {
    const auto memory = std::make_shared<int>();
    mine = memory;
    y = record("next", Tensor::full({1}, 1), {y}, [&, y, memory](const real* dy) {
      left.push_back(double(tape_length()));
      alive.push_back(double(std::count_if(held, held + 3, [](const auto& h) { return !h.expired(); })));
      y.grad_accumulator().at[0] = *dy;
    });
  }
  backward(y);
  check("steps on the tape while the last of three is called, the second, the first", left, {2, 1, 0},
        {{"a step is still on the tape while its derivative is called: take it off first", {3, 2, 1}},
         {"steps stay on the tape until all were called: take it off before each is called", {3, 3, 3}}});
  check("the derivatives that still hold memory, of three", alive, {3, 2, 1},
        {{"a step that was called is kept: with it goes the memory of the forward pass", {3, 3, 3}}});
}

CASE("the gradient of the loss is set to 1") {
  clear_tape();
  std::vector<int> called;
  const Tensor x = leaf({1}, {5}), loss = twice(x, called, 1);
  loss.grad_accumulator().at[0] = 7;
  backward(loss);
  check("d loss / d loss = 1, so d loss / dx = 2", x.grad(), {2},
        {{"1 is added to the old gradient of the loss; it should be set to 1", {16}}, {"it is left as it was", {14}}});
}

CASE("an op that nothing flows into is left out") {
  clear_tape();
  std::vector<int> called;
  const Tensor x = leaf({1}, {5}), unused = twice(x, called, 1), loss = twice(x, called, 2);
  backward(loss);
  check("ops that the loss does not depend on are not called", doubles(called), {2},
        {{"an op is called although nothing has flowed into its result: skip it unless its y has_grad()", {2, 1}}});
  check("d loss / dx", x.grad(), {2});
  clear_tape(), called.clear();
  const Tensor y = twice(x, called, 1), beside = twice(y, called, 2), last = twice(y, called, 3);
  const Tensor after = twice(y, called, 4);
  backward(last);
  check("ops behind them are called", doubles(called), {3, 1},
        {{"it ends at the first op that nothing has flowed into; go on with the one before it", {}},
         {"it ends at the first op that nothing has flowed into; go on with the one before it", {3}}});
}

CASE("a constant gets no gradient") {
  clear_tape();
  const Tensor x = leaf({2}, {3, -1}), constant = Tensor::from<double>({2}, {1, 2});
  explain_end(
      "a gradient is written where there is no room for one: x wants no gradient where its accumulator is null");
  backward(sum_all(x + constant));
  check("d (x + c) / dx = 1", x.grad(), {1, 1});
}

CASE("a gradient that was cleared is overwritten") {
  clear_tape();
  const Tensor x = leaf({2}, {3, -1});
  const Accumulator dx = x.grad_accumulator();
  dx.at[0] = dx.at[1] = 100;
  x.clear_grad();
  backward(sum_all(x + Tensor::full({2}, 1)));
  check(
      "d (x + 1) / dx = 1", x.grad(), {1, 1},
      {{"an old gradient is added to, though the accumulator is `empty`: read `empty` once; it is false the second "
        "time",
        {101, 101}}});
}

CASE("a tensor that is read twice gets both gradients") {
  clear_tape();
  const Tensor x = leaf({2}, {3, -1});
  backward(sum_all(x + x));
  check("d (x + x) / dx = 2", x.grad(), {2, 2},
        {{"= in place of +=: the second gradient has overwritten the first; an Accumulator that is not empty is added "
          "to",
          {1, 1}}});
  clear_tape();
  const Tensor y = leaf({2}, {3, -1});
  backward(sum_all(y * y));
  check("d (y y) / dy = 2 y", y.grad(), {6, -2},
        {{"= in place of +=: the second gradient has overwritten the first; an Accumulator that is not empty is added "
          "to",
          {3, -1}}});
}

CASE("a repeated input gets the sum over all its places") {
  clear_tape();
  const Tensor a = leaf({2, 3}, {1, 2, 3, 4, 5, 6}), b = leaf({3}, {10, 20, 30}), c = leaf({2, 1}, {7, 8});
  backward(sum_all(a * (b + c)));
  check("db_j = sum_i a_ij", b.grad(), {5, 7, 9},
        {{"only the first place counts: b was repeated, and its gradient is the sum over all rows", {1, 2, 3}},
         {"only the last place counts: later ones overwrite earlier ones (= for +=)", {4, 5, 6}},
         {"it is the mean over the places that b was repeated to; it should be their sum", {2.5, 3.5, 4.5}}});
  check("dc_i = sum_j a_ij", c.grad(), {6, 15},
        {{"the places of c are filled round and round; c_i is repeated along row i", {9, 12}},
         {"only the first place counts: c was repeated, and its gradient is the sum over all columns", {1, 4}},
         {"only the last place counts: later ones overwrite earlier ones (= for +=)", {3, 6}},
         {"it is the mean over the places that c was repeated to; it should be their sum", {2, 5}}});
}

CASE("the derivative of a product") {
  clear_tape();
  const Tensor a = leaf({3}, {1, 2, 3}), b = leaf({3}, {-4, 5, 0.5});
  backward(weighed(a * b, {1, 10, 100}));
  check("da = dy b", a.grad(), {-4, 50, 50},
        {{"da is dy a; it should be dy b, the other factor", {1, 20, 300}},
         {"dy is missing: da = dy b, by the chain rule", {-4, 5, 0.5}},
         {"da is dy alone, as if a were added", {1, 10, 100}}});
  check("db = dy a", b.grad(), {1, 20, 300},
        {{"db is dy b; it should be dy a, the other factor", {-4, 50, 50}},
         {"dy is missing: db = dy a, by the chain rule", {1, 2, 3}}});
}

CASE("the derivatives of a product and a quotient with a repeated factor") {
  const Values w = {1, 10, 100, 2, 20, 200};
  const char* of_result = "dy has the shape of the result, `over`, but here it is read as if it had a factor's";
  const Tensor a = leaf({2, 3}, {1, 2, 3, 4, 5, 6}), b = leaf({3}, {-4, 5, 0.5});
  clear_tape();
  backward(sum_all(a * b * Tensor::from({2, 3}, w)));
  check("da_ij = dy_ij b_j", a.grad(), {-4, 50, 50, -8, 100, 100}, {{of_result, {-4, 50, 50, -4, 50, 50}}});
  check("db_j = sum_i dy_ij a_ij", b.grad(), {9, 120, 1500}, {{of_result, {5, 70, 900}}});
  a.clear_grad(), b.clear_grad();
  backward(sum_all(a / b * Tensor::from({2, 3}, w)));
  check("da_ij = dy_ij / b_j", a.grad(), {-0.25, 2, 200, -0.5, 4, 400}, {{of_result, {-0.25, 2, 200, -0.25, 2, 200}}});
  check("db_j = -sum_i (dy_ij / b_j) (a_ij / b_j)", b.grad(), {-9 / 16., -120 / 25., -1500 / 0.25},
        {{of_result, {-5 / 16., -70 / 25., -900 / 0.25}}});
}

CASE("the derivative of a quotient") {
  clear_tape();
  const Tensor a = leaf({2}, {6, -3}), b = leaf({2}, {2, 4});
  backward(weighed(a / b, {1, 10}));
  check("da = dy / b", a.grad(), {0.5, 2.5},
        {{"da is dy b; it should be dy / b", {2, 40}}, {"dy is missing", {0.5, 0.25}}});
  check("db = -(dy / b) (a / b)", b.grad(), {-1.5, 1.875},
        {{"the minus is missing: 1 / b falls where b grows", {1.5, -1.875}},
         {"the divisor is b; it should be b^2", {-6 / 2. * 1, 3 / 4. * 10}},
         {"db is -dy / b^2; the factor a is missing", {-0.25, -0.625}}});
}

CASE("the derivative of a quotient with a constant") {
  clear_tape();
  const Tensor a = leaf({2}, {6, -3}), b = leaf({2}, {2, 4});
  backward(sum_all(a / Tensor::from<double>({2}, {2, 4})));
  check("da = dy / b", a.grad(), {0.5, 0.25},
        {{"a gets none; it should get its own even where b is a constant", {0, 0}}});
  backward(sum_all(Tensor::from<double>({2}, {6, -3}) / b));
  check("db = -(dy / b) (a / b)", b.grad(), {-1.5, 0.1875});
}

CASE("two uses of one result") {
  clear_tape();
  const Tensor x = leaf({1}, {3}), y = x * x;
  backward(y * y + y);
  check("d (x^4 + x^2) / dx = 4 x^3 + 2 x", x.grad(), {114},
        {{"this is the gradient of x^4 alone: the second use's gradient is lost", {108}},
         {"the gradient of the first use is lost: = in place of +=", {6}}});
}
