// add sub mul div greater_equal minimum maximum keep pow sum copy, tested through the ops that consist of them.
#include <fmt/format.h>

#include "autograd/slice_in_place.h"
#include "core/random.h"
#include "tests/op_cases/op_case.h"

namespace poslab::test {
namespace {

// The element of x for element e of an array of shape `over`: x is repeated, with its dimensions aligned on the right.
double repeated(Array& x, const Shape& over, int64_t e) {
  int64_t place = 0, step = 1;
  for (size_t d = over.size(), own = x.shape.size(); d-- > 0; e /= over[d]) {
    if (own == 0) continue;
    --own;
    if (x.shape[own] != 1) place += e % over[d] * step;
    step *= x.shape[own];
  }
  return x.at[size_t(place)];
}

template <class F>
auto broadcast_reference(Shape over, F f) {
  return [=](Arrays x) {
    Array y(over);
    for (int64_t e = 0; e < size_of(over); ++e) y.at[size_t(e)] = f(repeated(x[0], over, e), repeated(x[1], over, e));
    return y;
  };
}

struct Shapes { Shape a, b, y; };
const std::vector<Shapes> broadcasts = {
    {{1}, {1}, {1}},
    {{31}, {31}, {31}},
    {{257, 33}, {257, 33}, {257, 33}},
    {{5, 33}, {33}, {5, 33}},                            // one row for all rows
    {{5, 33}, {5, 1}, {5, 33}},                          // one number for each row
    {{4, 1}, {1, 5}, {4, 5}},
    {{7, 3}, {1}, {7, 3}},
    {{3}, {2, 1, 3}, {2, 1, 3}},
    {{2, 1, 3, 1, 5}, {4, 1, 6, 5}, {2, 4, 3, 6, 5}},
    {{2, 3, 4, 3, 2, 3}, {3, 1, 3, 1, 3}, {2, 3, 4, 3, 2, 3}},
    {{40, 50, 33}, {50, 33}, {40, 50, 33}},              // so large that there are several pieces
    {{2000, 33}, {33}, {2000, 33}},
    {{70000}, {1}, {70000}},
    {{40, 50, 33}, {40, 50, 1}, {40, 50, 33}},
};

const Cases binary([](std::vector<OpCase>& all) {
  for (const Shapes& s : broadcasts) {
    const auto add = [&](const char* kernel, auto op, auto formula) {
      all.push_back({kernel, to_string(s.a) + " " + to_string(s.b), {s.a, s.b}, op, broadcast_reference(s.y, formula)});
    };
    add("add", [](auto& x) { return x[0] + x[1]; }, std::plus());
    add("sub", [](auto& x) { return x[0] - x[1]; }, std::minus());
    add("mul", [](auto& x) { return x[0] * x[1]; }, std::multiplies());
    add("div", [](auto& x) { return x[0] / x[1]; }, std::divides());
    all.back().ranges = {{-1, 1}, {0.5, 2}};
    add("greater_equal", [](auto& x) { return greater_equal(x[0], x[1]); }, [](double a, double b) { return a >= b; });
    all.back().differentiable = false;
    // no equal numbers: there a difference quotient means nothing
    const auto smaller = [](double a, double b) { return a < b ? a : b; };
    const auto larger = [](double a, double b) { return a > b ? a : b; };
    for (const auto& ranges : std::vector<std::vector<Range>>{{{-2, -1}, {-0.9, 1}}, {{1.1, 2}, {-1, 1}}}) {
      add("minimum", [](auto& x) { return minimum(x[0], x[1]); }, smaller);
      all.back().ranges = ranges;
      add("maximum", [](auto& x) { return maximum(x[0], x[1]); }, larger);
      all.back().ranges = ranges;
    }
  }
});

double absolute(double x) { return std::abs(x); }
double clamped(double x) { return std::min(std::max(x, -1.), 1.); }

const Cases of_one([](std::vector<OpCase>& all) {
  struct Function { const char *kernel, *name; Tensor (*op)(const Tensor&); double (*reference)(double), range[2]; };
  const Function functions[] = {
      {"mul", "-x", [](const Tensor& x) { return -x; }, [](double x) { return -x; }, {-1, 1}},
      {"add", "2 + x", [](const Tensor& x) { return 2 + x; }, [](double x) { return 2 + x; }, {-1, 1}},
      {"sub", "2 - x", [](const Tensor& x) { return 2 - x; }, [](double x) { return 2 - x; }, {-1, 1}},
      {"add", "x - 2", [](const Tensor& x) { return x - 2; }, [](double x) { return x - 2; }, {-1, 1}},
      {"mul", "2 x", [](const Tensor& x) { return 2 * x; }, [](double x) { return 2 * x; }, {-1, 1}},
      {"div", "2 / x", [](const Tensor& x) { return 2 / x; }, [](double x) { return 2 / x; }, {0.5, 2}},
      {"div", "x / 2", [](const Tensor& x) { return x / 2; }, [](double x) { return x / 2; }, {-1, 1}},
      {"pow", "x^3", [](const Tensor& x) { return pow(x, 3); }, [](double x) { return x * x * x; }, {-2, 2}},
      {"pow", "x^-1", [](const Tensor& x) { return pow(x, -1); }, [](double x) { return 1 / x; }, {-2, -0.5}},
      {"pow", "x^0.5", [](const Tensor& x) { return pow(x, 0.5); }, [](double x) { return std::sqrt(x); }, {0.1, 3}},
      {"relu", "abs", [](const Tensor& x) { return abs(x); }, absolute, {0.01, 1}},
      {"relu", "abs", [](const Tensor& x) { return abs(x); }, absolute, {-1, -0.01}},
      {"maximum", "clamp below", [](const Tensor& x) { return clamp(x, -1, 1); }, clamped, {-2, -1.1}},
      {"minimum", "clamp", [](const Tensor& x) { return clamp(x, -1, 1); }, clamped, {-0.9, 0.9}},
      {"minimum", "clamp above", [](const Tensor& x) { return clamp(x, -1, 1); }, clamped, {1.1, 2}},
  };
  for (const Function& f : functions)
    for (const Shape& shape : std::vector<Shape>{{1}, {33}, {7, 257}}) {
      const auto reference = [g = f.reference](Arrays x) {
        for (double& v : x[0].at) v = g(v);
        return x[0];
      };
      all.push_back({f.kernel, fmt::format("{} {}", f.name, to_string(shape)), {shape},
                     [op = f.op](auto& x) { return op(x[0]); }, reference, {}, {Range{f.range[0], f.range[1]}}});
    }
  all.push_back({"keep", "where (5, 33): (33), (5, 1)", {{33}, {5, 1}}});
  all.back().op = [](auto& x) {
    std::vector<double> mask(5 * 33);             // not only 0 and 1
    for (size_t e = 0; e < mask.size(); ++e) mask[e] = e % 3 == 0 ? std::vector<double>{1, 0.5, -2, 1e-30}[e % 4] : 0;
    return where(Tensor::from({5, 33}, mask).to(x[0].device()), x[0], x[1]);
  };
  all.back().reference = [](Arrays x) {
    Array y({5, 33});
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 33; ++j) y(i, j) = (i * 33 + j) % 3 == 0 ? x[0](j) : x[1](i, 0);
    return y;
  };
});

// x as (before, n, after) around the axis
struct Around { int before = 1, n = 1, after = 1; };
Around around(const Shape& shape, int axis) {
  Around a;
  for (int d = 0; d < int(shape.size()); ++d) (d < axis ? a.before : d == axis ? a.n : a.after) *= shape[size_t(d)];
  return a;
}

auto sum_reference(Shape shape, int axis, bool mean) {
  return [=](Arrays x) {
    const Around s = around(shape, axis);
    Shape result = shape;
    result[size_t(axis)] = 1;
    Array y(result);
    for (int b = 0; b < s.before; ++b)
      for (int j = 0; j < s.n; ++j)
        for (int a = 0; a < s.after; ++a)
          y.at[size_t(b * s.after + a)] += x[0].at[size_t((b * s.n + j) * s.after + a)] / (mean ? s.n : 1);
    return y;
  };
}

const Cases sums([](std::vector<OpCase>& all) {
  const std::vector<std::pair<Shape, int>> shapes = {
      {{1}, 0},        {{33}, 0},          {{257, 31}, 0},     {{257, 31}, 1},  {{3, 5, 7}, 1},
      {{3, 5, 1}, 2},  {{2, 600, 3}, 1},   {{70000}, 0},       {{3, 40000}, 1}, {{5000, 40}, 0},
      {{5000, 40}, 1}, {{40, 20, 300}, 1}, {{2, 1100, 300}, 1}};
  for (const auto& [shape, axis] : shapes) {
    const std::string name = fmt::format("{} axis {}", to_string(shape), axis);
    all.push_back({"sum", name, {shape}, [axis](auto& x) { return sum(x[0], axis); }});
    all.back().reference = sum_reference(shape, axis, false);
    all.back().ranges = {{0, 1}};
    all.push_back({"sum", "mean " + name, {shape}, [axis](auto& x) { return mean(x[0], axis); }});
    all.back().reference = sum_reference(shape, axis, true);
  }
  all.push_back({"sum", "all (3, 4, 5)", {{3, 4, 5}}, [](auto& x) { return sum_all(x[0]); }});
  all.back().reference = [](Arrays x) {
    Array y({1});
    for (const double v : x[0].at) y.at[0] += v;
    return y;
  };
});

auto permute_reference(Shape shape, std::vector<int> order) {
  return [=](Arrays x) {
    Shape result;
    for (const int d : order) result.push_back(shape[size_t(d)]);
    Array y(result);
    for (int64_t e = 0; e < size_of(shape); ++e) {
      std::vector<int64_t> index(shape.size());
      int64_t rest = e, place = 0;
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
      for (size_t d = 0; d < order.size(); ++d) place = place * result[d] + index[size_t(order[d])];
      y.at[size_t(place)] = x[0].at[size_t(e)];
    }
    return y;
  };
}

const Cases permutes([](std::vector<OpCase>& all) {
  const std::vector<std::pair<Shape, std::vector<int>>> shapes = {
      {{3}, {0}},
      {{31, 33}, {1, 0}},
      {{257, 70}, {1, 0}},
      {{2, 3, 4}, {2, 0, 1}},
      {{2, 40, 8, 8}, {0, 2, 1, 3}},
      {{2, 40, 8, 8}, {0, 2, 3, 1}},
      {{3, 33, 2, 40}, {2, 3, 1, 0}},
      {{2, 3, 2, 3, 2, 3}, {5, 3, 1, 4, 2, 0}},
      {{20, 33, 70}, {0, 2, 1}},
      {{5, 1, 7, 1}, {3, 2, 1, 0}}};
  for (const auto& [shape, order] : shapes) {
    const std::string name = fmt::format("permute {} by {}", to_string(shape), fmt::join(order, " "));
    all.push_back({"copy", name, {shape}, [order](auto& x) { return permute(x[0], order); }});
    all.back().reference = permute_reference(shape, order);
  }
  all.push_back({"copy", "transpose (3, 5, 7)", {{3, 5, 7}}, [](auto& x) { return transpose(x[0]); }});
  all.back().reference = permute_reference({3, 5, 7}, {0, 2, 1});
});

auto slice_reference(Shape shape, int axis, int from, int to) {
  return [=](Arrays x) {
    const Around s = around(shape, axis);
    Shape result = shape;
    result[size_t(axis)] = to - from;
    Array y(result);
    size_t place = 0;
    for (int b = 0; b < s.before; ++b)
      for (int j = from; j < to; ++j)
        for (int a = 0; a < s.after; ++a) y.at[place++] = x[0].at[size_t((b * s.n + j) * s.after + a)];
    return y;
  };
}
auto concat_reference(std::vector<Shape> shapes, int axis) {
  return [=](Arrays x) {
    Shape result = shapes[0];
    for (size_t i = 1; i < shapes.size(); ++i) result[size_t(axis)] += shapes[i][size_t(axis)];
    Array y(result);
    size_t place = 0;
    for (int b = 0; b < around(result, axis).before; ++b)
      for (Array& part : x) {
        const int run = around(part.shape, axis).n * around(part.shape, axis).after;
        for (int e = 0; e < run; ++e) y.at[place++] = part.at[size_t(b * run + e)];
      }
    return y;
  };
}

const Cases slices([](std::vector<OpCase>& all) {
  struct Slice { Shape shape; int axis, from, to; };
  const std::vector<Slice> shapes = {
      {{9}, 0, 2, 5}, {{4, 6, 8}, 0, 1, 3}, {{4, 6, 8}, 1, 5, 6}, {{4, 6, 8}, 2, 0, 8}, {{300, 300}, 1, 31, 257}};
  for (const auto& [shape, axis, from, to] : shapes) {
    all.push_back({"copy", fmt::format("slice {} axis {}", to_string(shape), axis), {shape}});
    all.back().op = [axis, from, to](auto& x) { return slice(x[0], axis, from, to); };
    all.back().reference = slice_reference(shape, axis, from, to);
    if (axis != 0) continue;
    all.push_back({"copy", fmt::format("slice in place {}", to_string(shape)), {shape}});
    all.back().op = [from, to](auto& x) { return slice_in_place(x[0], from, to); };
    all.back().reference = slice_reference(shape, 0, from, to);
  }
  const std::vector<std::pair<std::vector<Shape>, int>> joins = {{{{3}}, 0},
                                                                 {{{2, 3}, {2, 3}}, 0},
                                                                 {{{2, 3}, {2, 31}, {2, 1}}, 1},
                                                                 {{{2, 3, 4}, {2, 1, 4}}, 1},
                                                                 {{{200, 100}, {200, 33}}, 1}};
  for (const auto& [parts, axis] : joins) {
    all.push_back({"copy", fmt::format("concat {} parts, {} axis {}", parts.size(), to_string(parts[0]), axis), parts});
    all.back().op = [axis](auto& x) { return concat(x, axis); };
    all.back().reference = concat_reference(parts, axis);
  }
});

const Cases arithmetic_speed(
    [](std::vector<OpCase>& all) {
      const Shape x = {128, 40, 64}, logits = {128, 8, 40, 40};
      using Op = std::function<Tensor(const Tensors&)>;
      const auto time = [&](const char* kernel, const char* name, std::vector<Shape> shapes, Op op) {
        all.push_back({kernel, fmt::format("{} {}", name, to_string(shapes[0])), shapes, op});
      };
      time("add", "same shape", {x, x}, [](auto& t) { return t[0] + t[1]; });
      time("add", "a row for all rows", {x, {64}}, [](auto& t) { return t[0] + t[1]; });
      time("mul", "a number for each row", {x, {128, 40, 1}}, [](auto& t) { return t[0] * t[1]; });
      time("add", "a mask", {logits, {40, 40}}, [](auto& t) { return t[0] + t[1]; });
      time("sum", "of rows", {logits}, [](auto& t) { return sum(t[0], -1); });
      time("sum", "over time", {x}, [](auto& t) { return sum(t[0], 1); });
      time("sum", "of all", {logits}, [](auto& t) { return sum_all(t[0]); });
      time("copy", "heads before time", {{128, 40, 8, 8}}, [](auto& t) { return permute(t[0], {0, 2, 1, 3}); });
      time("copy", "transpose", {{128, 8, 40, 40}}, [](auto& t) { return transpose(t[0]); });
      time("copy", "slice", {{128, 40, 192}}, [](auto& t) { return slice(t[0], 2, 64, 128); });
      time("copy", "concat", {x, x}, [](auto& t) { return concat({t[0], t[1]}, 2); });
    }, For::bench);

}  // namespace
}  // namespace poslab::test
