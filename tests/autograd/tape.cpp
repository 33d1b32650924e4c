// The tape (autograd/tape.h): recording, refusals of backward(), forgetting; scratch memory and strides.
#include "autograd/tape.h"

#include <doctest/doctest.h>

#include <thread>

#include "autograd/ops.h"
#include "autograd/strided_loop.h"
#include "autograd/tape_piece.h"
#include "core/debug.h"
#include "core/memory.h"
#include "core/params.h"
#include "core/stop.h"
#include "tests/lab/helpers.h"

namespace poslab::test {
namespace {

Tensor leaf(real value) { return Tensor::full({2}, value).require_grad(); }

// An op with two results, 2 x and x^2. `calls` counts the calls of its backward function.
std::vector<Tensor> double_and_square(const Tensor& x, int* calls = nullptr) {
  const Tensor twice(x.shape()), square(x.shape());
  for (int64_t e = 0; e < x.size(); ++e) {
    twice.data()[e] = 2 * x.data()[e];
    square.data()[e] = x.data()[e] * x.data()[e];
  }
  return record("double_and_square", {twice, square}, {x}, [=](std::span<const real* const> dy) {
    if (calls) ++*calls;
    Accumulator dx = x.grad_accumulator();
    for (int64_t e = 0; e < x.size(); ++e) {
      real d = dx.empty ? 0 : dx.at[e];
      if (dy[0]) d += 2 * dy[0][e];
      if (dy[1]) d += 2 * x.data()[e] * dy[1][e];
      dx.at[e] = d;
    }
  });
}

}  // namespace

TEST_CASE("tape: an op is recorded if an input wants a gradient, and backward() leaves nothing behind") {
  clear_tape();  // earlier tests may have left ops on the tape
  const Tensor plain = Tensor::full({2}, 3), x = leaf(2);
  CHECK_FALSE((plain * plain).requires_grad());
  CHECK(tape_length() == 0);
  const Tensor y = sum_all(x * plain);
  CHECK(y.requires_grad());
  CHECK(tape_length() > 0);
  backward(y);
  CHECK(tape_length() == 0);
  CHECK(x.grad().values() == std::vector<real>{3, 3});
}

TEST_CASE("tape: nothing is recorded while a NoGrad lives, even after one inside it has ended") {
  clear_tape();
  const Tensor x = leaf(2);
  {
    const NoGrad outer;
    {
      const NoGrad inner;
      CHECK_FALSE(recording());
    }
    CHECK_FALSE(recording());
    CHECK_FALSE((x * x).requires_grad());
    CHECK(tape_length() == 0);
  }
  CHECK(recording());
  CHECK((x * x).requires_grad());
  clear_tape();
  CHECK(tape_length() == 0);
}

TEST_CASE("tape: each thread has its own") {
  const NoGrad here;
  bool there = false;
  size_t length = 1;
  std::thread([&] {
    there = recording();
    const Tensor y = leaf(1) + 1;
    length = tape_length();
    clear_tape();
  }).join();
  CHECK(there);
  CHECK(length == 1);
  CHECK(tape_length() == 0);
}

TEST_CASE("tape: backward() says what is wrong with a loss") {
  const Tensor x = leaf(2);
  CHECK(holds(refusal([&] { backward(x * x); }), "2: backward: the loss has shape (2); reduce it to one number"));
  clear_tape();
  CHECK(holds(refusal([&] { backward(Tensor::full({1}, 1)); }), "call require_grad() on a leaf first"));
}

TEST_CASE("tape: a loss that no op of this thread's tape made is refused; a loss that is a leaf has gradient 1") {
  const Tensor w = leaf(2), h = w * 2, first = sum_all(h * h), second = sum_all(h * 10);
  backward(first);
  const std::string gone = "2: backward: the loss is a result of an earlier pass or of another thread";
  for (const Tensor& loss : {first, second}) CHECK(holds(refusal([&] { backward(loss); }), gone));
  const Tensor forgotten = sum_all(w);
  clear_tape();
  CHECK(holds(refusal([&] { backward(forgotten); }), gone));
  CHECK(w.grad().values() == std::vector<real>{16, 16});
  Tensor other;
  std::thread([&] { other = sum_all(w * 5), clear_tape(); }).join();
  CHECK(holds(refusal([&] { backward(other); }), gone));
  std::thread([&] {
    const Tensor here = sum_all(w * 5);
    std::thread([&] {
      CHECK(holds(refusal([&] { backward(here); }), gone));
    }).join();
    clear_tape();
  }).join();
  const Tensor number = Tensor::full({1}, 3).require_grad();
  backward(number);
  CHECK(number.grad().item() == 1);
}

TEST_CASE("tape: backward() also clears it when it throws, so that the next pass starts with an empty tape") {
  const Tensor w = leaf(3), old = w * w, p = leaf(2);
  backward(sum_all(old));
  const Tensor twice = p * 20, loss = sum_all(twice + exp(old));
  CHECK(holds(refusal([&] { backward(loss); }), "2: backward: exp reads a result of an earlier pass"));
  CHECK(tape_length() == 0);
  const Tensor stops = Tensor::full({2}, 1);
  const Tensor more = sum_all(p * 20 + record("stops", stops, {p}, [](const real*) { stop_requested = true; }));
  {
    const Stoppable all(true);
    CHECK_THROWS_AS(backward(more), Stopped);
  }
  stop_requested = false;
  CHECK(tape_length() == 0);
  p.clear_grad();
  backward(sum_all(p * 1));
  CHECK(p.grad().values() == std::vector<real>{1, 1});
}

TEST_CASE("tape: a result whose op an earlier backward() has dropped may be read, but a loss that used it is refused") {
  for (const bool cleared : {false, true}) {
    const Tensor w = leaf(3), h = w * w, two = double_and_square(w)[1];
    if (cleared) clear_tape();
    else backward(sum_all(h + two));
    const std::vector<real> before = w.grad().values();
    for (const Tensor& old : {h, two}) {
      CHECK(sum_all(old * old).item() == 162);
      clear_tape();
      const Tensor loss = sum_all(exp(old));
      CHECK(holds(refusal([&] { backward(loss); }), "2: backward: exp reads a result of an earlier pass"));
      CHECK(w.grad().values() == before);
      clear_tape();
      Tensor free = old.detach();
      backward(sum_all(free.require_grad() * 2));
      CHECK(free.grad().values() == std::vector<real>{2, 2});
    }
  }
}

TEST_CASE("tape: a loss is refused if another thread computed its inputs, whose ops are on that thread's tape") {
  const Tensor w = leaf(3);
  const std::string read_elsewhere = "2: backward: exp reads a result of an earlier pass or of another thread";
  Tensor h, two;
  std::thread([&] { h = w * w, two = double_and_square(w)[1]; }).join();
  for (const Tensor& other : {h, two}) {
    const Tensor loss = sum_all(exp(other) + w);
    CHECK(holds(refusal([&] { backward(loss); }), read_elsewhere));
    clear_tape();
    std::thread([&] {  // a later thread refuses it too, even if it reuses the first one's memory
      const Tensor later = sum_all(exp(other));
      CHECK(holds(refusal([&] { backward(later); }), read_elsewhere));
      clear_tape();
    }).join();
    Tensor free = other.detach();
    backward(sum_all(free.require_grad() * 2));
    CHECK(free.grad().values() == std::vector<real>{2, 2});
  }
  w.clear_grad();
  std::thread([&] { backward(sum_all(w * w)); }).join();  // a leaf belongs to no thread
  CHECK(w.grad().values() == std::vector<real>{6, 6});
}

#ifndef __SANITIZE_ADDRESS__   // with it, every buffer is a separate allocation
TEST_CASE("memory: keeping one number of each pass keeps no block of megabytes") {
  const Tensor x = Tensor::full({1024, 256}, 1), w = Tensor::full({256, 256}, real(0.01));
  std::vector<Tensor> kept;
  int64_t first = 0;
  for (int pass = 0; pass < 100; ++pass) {
    kept.push_back(sum_all(matmul(matmul(x, w), w)));
    if (pass == 0) first = memory().bytes_held;
  }
  CHECK(memory().bytes_held - first < 4 << 20);
}
#endif

TEST_CASE("tape: a result that the loss does not depend on gets no gradient") {
  const Tensor x = leaf(2), unused = x * 5;
  backward(sum_all(x * 3));
  CHECK_FALSE(unused.has_grad());
  CHECK(x.grad().values() == std::vector<real>{3, 3});
}

TEST_CASE("tape: an op with two results gets the gradients of both, of one, of the other, or is not called") {
  int calls = 0;
  const auto gradient = [&](const std::function<Tensor(const std::vector<Tensor>&)>& loss) {
    const Tensor x = leaf(3);
    const std::vector<Tensor> ys = double_and_square(x, &calls);
    CHECK((ys[0].requires_grad() && ys[1].requires_grad()));
    backward(sum_all(loss(ys)) + sum_all(x * 0));
    CHECK(tape_length() == 0);
    return x.grad().values();
  };
  CHECK(gradient([](auto& y) { return y[0] * 5 + y[1] * 7; }) == std::vector<real>(2, 5 * 2 + 7 * 6));
  CHECK(gradient([](auto& y) { return y[0] * 5; }) == std::vector<real>(2, 5 * 2));
  CHECK(gradient([](auto& y) { return y[1] * 7; }) == std::vector<real>(2, 7 * 6));
  CHECK(gradient([](auto& y) { return y[1] * y[0]; }) == std::vector<real>(2, 6 * 3 * 3));   // derivative of 2 x^3
  CHECK(calls == 4);
  CHECK(gradient([](auto&) { return leaf(1) * 1; }) == std::vector<real>(2, 0));
  CHECK(calls == 4);
}

TEST_CASE("tape: an op with two results is recorded only if an input requires a gradient") {
  const std::vector<Tensor> ys = double_and_square(Tensor::full({2}, 3));
  CHECK_FALSE((ys[0].requires_grad() || ys[1].requires_grad()));
  const NoGrad here;
  CHECK_FALSE(double_and_square(leaf(3))[1].requires_grad());
  CHECK(tape_length() == 0);
}

TEST_CASE("tape: a piece is taken off the tape, and can go backward again, also in another thread") {
  const Tensor before = leaf(3), x = leaf(2);
  const Tensor loss = sum_all(before * before);
  const size_t length = tape_length();
  const std::vector<Tensor> both = double_and_square(x);
  const Tensor y = both[0] * both[1];              // 2 x^3
  const TapePiece piece(length);
  CHECK(tape_length() == length);
  const Tensor dy = Tensor::from({2}, std::vector<real>{1, 10});
  piece.backward(y, dy);
  CHECK(x.grad().values() == std::vector<real>{24, 240});          // 6 x^2
  CHECK(!both[0].has_grad());
  piece.backward(y, dy);
  CHECK(x.grad().values() == std::vector<real>{48, 480});          // gradients of inputs add up
  x.clear_grad();
  std::thread([&] { piece.backward(y, dy); }).join();
  CHECK(x.grad().values() == std::vector<real>{24, 240});
  CHECK_THROWS_WITH(piece.backward(y, Tensor::full({1}, 1)),
                    "backward: the gradient is (1); it must have the shape of the result, (2)");
  backward(loss);                                                  // the earlier part of the tape is still there
  CHECK(before.grad().values() == std::vector<real>{6, 6});
  CHECK(tape_length() == 0);
}

TEST_CASE("tape: a piece goes backward through the ops that led to the result, and through no others") {
  const Tensor x = leaf(3), dy = Tensor::full({2}, 1);
  TapePiece(tape_length()).backward(x, dy);  // nothing was recorded, so nothing happens
  CHECK(!x.has_grad());
  for (const int level : {0, 2}) {  // without the checks of POSLAB_DEBUG, and with them
    CAPTURE(level);
    const int before = debug_level();
    set_debug_level(level);
    int used = 0, unused = 0;
    const std::vector<Tensor> two = double_and_square(x, &used), aside = double_and_square(x, &unused);
    const Tensor y = two[1] * 5;  // only the second result is used: the first has no gradient
    TapePiece(0).backward(y, dy);
    set_debug_level(before);
    CHECK(x.take_grad().values() == std::vector<real>(2, 5 * 2 * 3));
    CHECK(used == 1);
    CHECK(unused == 0);
  }
}

TEST_CASE("tape: a gradient is handed over with its memory, and a packed one as a copy") {
  const Tensor x = leaf(2);
  backward(sum_all(x * x));
  const real* at = x.grad_accumulator().at;
  const Tensor taken = x.take_grad();
  CHECK(taken.data() == at);
  CHECK(taken.values() == std::vector<real>{4, 4});
  CHECK(!x.has_grad());
  CHECK(x.take_grad().values() == std::vector<real>{0, 0});
  backward(sum_all(x * x));
  CHECK(x.grad().values() == std::vector<real>{4, 4});
  CHECK(taken.values() == std::vector<real>{4, 4});
  const Params params(1);
  const Tensor w = params.full("w", {2}, 3);
  params.pack();
  backward(sum_all(w * w));
  CHECK(w.take_grad().values() == std::vector<real>{6, 6});
  CHECK(!w.has_grad());
}

TEST_CASE("scratch: a slot keeps its memory while it is large enough; slots and threads do not share") {
  real* const first = scratch(14, 1000);
  first[999] = 7;
  CHECK(scratch(14, 500) == first);
  CHECK(scratch(15, 1000) != first);
  std::thread([&] { CHECK(scratch(14, 1000) != first); }).join();
  CHECK(scratch(14, 1000)[999] == 7);
  real* const grown = scratch(14, 100000);
  grown[99999] = 1;
  CHECK(scratch(14, 100000) == grown);
}

TEST_CASE("strides: dimensions that are contiguous in all three arrays become one, the others stay apart") {
  const Shape size = {4, 1, 5, 6};
  const Strides whole = dense(size), apart = {60, 60, 6, 1};  // every second row of a larger array
  const StridedLoop one = strided_loop(size, whole, whole, whole);
  CHECK(one.dims == 1);
  CHECK(one.size[0] == 120);
  for (const int which : {0, 1, 2}) {
    const StridedLoop two =
        strided_loop(size, which == 0 ? apart : whole, which == 1 ? apart : whole, which == 2 ? apart : whole);
    REQUIRE(two.dims == 2);
    CHECK(two.size[0] == 4);
    CHECK(two.size[1] == 30);
    CHECK((which == 0 ? two.y : which == 1 ? two.a : two.b)[0] == 60);
    CHECK((which == 0 ? two.a : which == 1 ? two.b : two.y)[0] == 30);
    for (const int64_t* inner : {two.y, two.a, two.b}) CHECK(inner[1] == 1);
  }
}

}  // namespace poslab::test
