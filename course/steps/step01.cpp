// Step 1: shapes, memory and broadcasting. core/tensor.cpp, autograd/strided_loop.cpp
#include "autograd/ops.h"
#include "autograd/strided_loop.h"
#include "check.h"
#include "core/error.h"

using namespace poslab;
using namespace course;

namespace {

Tensor counted(const Shape& shape) {  // 0, 1, 2, ...
  int n = 1;
  for (const int d : shape) n *= d;
  std::vector<double> all;
  for (int e = 0; e < n; ++e) all.push_back(e);
  return Tensor::from(shape, all);
}
Values steps(const Strides& s) { return {s.begin(), s.end()}; }

}  // namespace

CASE("how many values a shape has") {
  const auto hints = [](double sum, double last) {
    return std::vector<Mistake>{{"the sizes are added; they should be multiplied", {sum}},
                                {"only the last size is used", {last}},
                                {"the product begins at 0; begin at 1", {0}}};
  };
  check("size of (2, 3, 4) = 2 * 3 * 4", double(size_of({2, 3, 4})), 24, hints(9, 4));
  check("size of (2, 0, 3) = 0", double(size_of({2, 0, 3})), 0, {{"a size of 0 is left out of the product", {6}}});
  check("size of (60000, 60000), which no int holds", double(size_of({60000, 60000})), 3.6e9,
        {{"the product is an int and overflows; make it an int64_t", {double(int32_t(uint32_t(3600000000u)))}}});
}

CASE("how many values a shape without axes has") {
  explain_end("the product begins with the first size, and () has no first size; begin at 1");
  check("size of () = 1, the empty product", double(size_of({})), 1, {{"the product begins at 0; begin at 1", {0}}});
}

CASE("sizes by axis, also from the end") {
  const Tensor x = counted({2, 3, 5});
  check("dim(0), dim(1), dim(2) of (2, 3, 5)", {double(x.dim(0)), double(x.dim(1)), double(x.dim(2))}, {2, 3, 5});
  check("dim(-1), dim(-2) of (2, 3, 5)", {double(x.dim(-1)), double(x.dim(-2))}, {5, 3},
        {{"axis -1 is the last one: add dims(), not dims() - 1", {3, 2}},
         {"axis -1 counts from the end, and here it counts from the front", {2, 3}},
         {"axis -i is taken as axis i: add dims() to a negative axis", {3, 5}}});
  explain_end("axis -dims() is the first one: refuse i < -dims(), not i <= -dims()");
  check("dim(-3) of (2, 3, 5)", double(x.dim(-3)), 2);
  expect_refusal(
      "dim(3) of (2, 3, 5)", [&] { x.dim(3); }, "axis 3 of three does not exist: refuse i >= dims()");
  expect_refusal(
      "dim(-4) of (2, 3, 5)", [&] { x.dim(-4); }, "axis -4 of three does not exist: refuse i < -dims()");
}

CASE("a reshape works out the size that is -1") {
  const Tensor x = counted({4, 6});
  explain_end(
      "reshape then refuses it: -1 becomes n divided by the product of the others; leave it out of the product");
  check("(4, 6) as (3, -1) is (3, 8)", values(x.reshape({3, -1}).shape()), {3, 8});
  explain_end("reshape then refuses it: -1 may be at any axis");
  check("(4, 6) as (-1, 2, 3) is (4, 2, 3)", values(x.reshape({-1, 2, 3}).shape()), {4, 2, 3});
  check("values keep their order", x.reshape({-1, 2}), values(x));
}

CASE("a reshape that does not fit") {
  const Tensor x = counted({4, 6});
  expect_refusal(
      "(4, 6) as (-2, 12)",
      [&] {
        x.reshape({-2, 12});
      },
      "every negative size is worked out; only -1 asks for that");
  explain_end("a known size is 0: do not divide by 0");
  expect_refusal(
      "(4, 6) as (0, -1)",
      [&] {
        x.reshape({0, -1});
      },
      "a size of 0 gives 0 values, and never 24");
}

CASE("steps of a dense tensor") {
  check("steps of (4, 5, 6): 30, 6, 1", steps(dense({4, 5, 6})), {30, 6, 1},
        {{"these would be the steps with the first axis innermost; the last axis has step 1", {1, 4, 20}},
         {"each step is the size of its own axis; it should be the product of all sizes to the right", {4, 5, 6}},
         {"a step includes its own size; it should be the product of the sizes to the right alone", {120, 30, 6}}});
  check("steps of (7): 1", steps(dense({7})), {1});
  check("steps of (2, 60000, 60000): 3.6e9, which no int holds", steps(dense({2, 60000, 60000})), {3.6e9, 60000, 1},
        {{"the step is an int and overflows; make it an int64_t", {double(int32_t(3600000000u)), 60000, 1}}});
}

CASE("steps of a shape without axes") {
  explain_end("it begins at the last axis, and () has no last axis");
  check("steps of (): none", double(dense({}).size()), 0);
}

CASE("which shape two shapes broadcast to") {
  const auto of = [](const Shape& a, const Shape& b) -> Values {
    try {
      return values(broadcast("add", a, b));
    } catch (const BadInput&) { return {-1}; }  // refused
  };
  explain_end("shapes that do not fit are refused, but not by bad_input(...), which throws BadInput");
  check("(4, 1) and (1, 5): (4, 5)", of({4, 1}, {1, 5}), {4, 5},
        {{"a size of 1 must give way to the other", {4, 1}},
         {"a size of 1 must give way to the other", {1, 5}},
         {"it is refused, but 1 fits any size, in either shape", {-1}}});
  check("(2, 3, 5) and (5): (2, 3, 5)", of({2, 3, 5}, {5}), {2, 3, 5},
        {{"shapes are lined up from the left; it should be from the right", {5, 3, 5}},
         {"shapes are lined up from the left, where 5 does not fit 2; it should be from the right", {-1}}});
  check("(5) and (2, 3, 5): (2, 3, 5)", of({5}, {2, 3, 5}), {2, 3, 5});
  check("(3, 1) and (2, 1, 4): (2, 3, 4)", of({3, 1}, {2, 1, 4}), {2, 3, 4});
  check("(2, 3) and (2, 4) are refused, by bad_input", of({2, 3}, {2, 4}), {-1},
        {{"3 and 4 do not fit: neither of them is 1", {2, 4}}, {"3 and 4 do not fit: neither of them is 1", {2, 3}}});
  check("(2, 3) and (2) are refused: from the right, 3 does not fit 2", of({2, 3}, {2}), {-1},
        {{"from the left it would fit, but shapes are lined up from the right", {2, 3}}});
}

CASE("steps of a tensor that repeats") {
  const auto of = [](const Shape& x, const Shape& over) { return steps(broadcast_strides(x, over)); };
  check("(4, 1) over (4, 5): 1, 0", of({4, 1}, {4, 5}), {1, 0},
        {{"an axis of size 1 repeats: its step is 0, and not that of a dense tensor", {1, 1}},
         {"the steps are those of the large shape; take those of x, and 0 where x repeats", {5, 0}}});
  check("(5) over (3, 5): 0, 1", of({5}, {3, 5}), {0, 1},
        {{"steps belong to the last axes; here they stand at the first", {1, 0}}});
  check("(2, 1, 3) over (4, 2, 6, 3): 0, 3, 0, 1", of({2, 1, 3}, {4, 2, 6, 3}), {0, 3, 0, 1},
        {{"an axis of size 1 repeats: its step is 0", {0, 3, 3, 1}}});
}

CASE("a sum that broadcasts") {
  const Tensor a = counted({2, 1, 3}), b = counted({4, 1});
  Values expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 3; ++k) expected.push_back(3 * i + k + j);
  check("y_ijk = a_i1k + b_j1", a + b, expected);
}
