// Tests every op by its OpCase (tests/op_cases/op_case.h): values against the reference in double; gradients against
// central differences of the reference; fused = composed; the same bits for any number of threads; every instruction
// set; gradients that are left out because they are not needed, or that are added to others.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <set>

#include "core/backend.h"
#include "core/debug.h"
#include "core/profile.h"
#include "tests/support/op_run.h"

namespace poslab::test {
namespace {

// Some elements of an input's gradient are checked one by one; then its sum along a random direction is checked.
// Returns `most` of the n elements, or all if there are no more than that.
std::vector<int> elements(int64_t n, int most) {
  std::vector<int> some = n <= most ? std::vector<int>{0, 1, 2, 3, 4, 5} : random_ids(most, int(n), uint32_t(n));
  std::erase_if(some, [&](int e) { return e >= n; });
  return some;
}
std::vector<double> random_direction(size_t input, size_t n) {
  std::vector<double> direction(n);
  Rng rng({0, 4, uint32_t(input)});
  for (double& d : direction) d = 2 * rng.uniform() - 1;
  return direction;
}

// Results of the reference: values, and for each input the derivatives to check. Most time of these tests goes into
// central differences, so they are computed once for each of op_cases().
struct Expected {
  Array value;
  int elements = sizeof(real) == 8 ? 4 : 2;          // number of elements of each input whose derivatives are checked
  std::vector<std::vector<double>> derivatives = {};
};
const Expected& expected(const OpCase& c, const Arrays& x) {
  static std::map<const OpCase*, Expected> all;
  const auto [at, is_new] = all.try_emplace(&c);
  Expected& y = at->second;
  if (!is_new) return y;
  y.value = c.reference(x);
  size_t numbers = 0;
  for (const Array& a : x) numbers += a.at.size();
  if (numbers > 10000) y.elements = 2;               // a few cases are large, to fill the kernels' blocks
  for (size_t i = 0; c.differentiable && i < x.size(); ++i) {
    const size_t n = x[i].at.size();
    y.derivatives.emplace_back();
    for (const int e : elements(int64_t(n), y.elements)) {
      std::vector<double> unit(n);
      unit[size_t(e)] = 1;
      y.derivatives[i].push_back(numeric(c, x, i, unit));
    }
    y.derivatives[i].push_back(numeric(c, x, i, random_direction(i, n)));
  }
  return y;
}

// Errors are relative to the number itself, or to a share of the largest number of its gradient if that is more.
double gradient_error(const Expected& y, const Result& r) {
  double worst = 0;
  for (size_t i = 0; i < y.derivatives.size(); ++i) {
    const std::vector<real>& g = r.grads[i];
    double norm = 0, along = 0;
    for (const real v : g) norm += double(v) * double(v);
    const double most = std::max(largest(g), floor_of(r));
    const auto compare = [&](double ours, double theirs, double scale) {
      const double error = std::abs(ours - theirs) / std::max({std::abs(ours), std::abs(theirs), scale, 1e-300});
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    };
    const std::vector<int> some = elements(int64_t(g.size()), y.elements);
    for (size_t s = 0; s < some.size(); ++s)
      compare(double(g[size_t(some[s])]), y.derivatives[i][s], most * small_share);
    const std::vector<double> direction = random_direction(i, g.size());
    for (size_t e = 0; e < g.size(); ++e) along += direction[e] * double(g[e]);
    compare(along, y.derivatives[i].back(), std::max(std::sqrt(norm) / 2, most * small_share));
  }
  return worst;
}

// The work of the CPU's kernels in one run of a case, its loss included, from the table that POSLAB_DEBUG=2 prints.
std::map<std::string, Cost> work(const OpCase& c, const Tensors& x, const Wanted& wanted) {
  const int before = debug_level();
  set_debug_level(2), clear_profile_totals();
  run(c, c.op, x, wanted);
  std::map<std::string, Cost> work;
  for (const ProfileTotals& k : profile_totals()) work[k.kernel] = k.cost;
  set_debug_level(before);
  return work;
}

struct Worst { double value = 0, gradient = 0, twin = 0; int cases = 0; bool has_twin = false, has_gradient = false; };

// The worst errors of values, gradients and composed twins by kernel, in all cases or only in cases of matrix products.
std::map<std::string, Worst> against_references(bool products_only = false) {
  std::map<std::string, Worst> table;
  for (const OpCase& c : op_cases()) {
    if (products_only && !is_product(c)) continue;
    const Tensors x = inputs(c);
    INFO(title(c));
    Worst& worst = table[c.kernel];
    ++worst.cases;
    const Result r = run(c, x);
    const Expected& y = expected(c, in_double(x));
    const double value = value_error(c, r.value, y.value);
    CHECK(value <= value_tolerance);
    worst.value = std::max(worst.value, value);
    if (c.differentiable) {
      const double gradient = gradient_error(y, r);
      CHECK(gradient <= gradient_tolerance);
      worst.gradient = std::max(worst.gradient, gradient), worst.has_gradient = true;
    }
    if (c.twin) {
      const double twin = difference(r, run(c, c.twin, x, all_inputs));
      CHECK(twin <= twin_tolerance);
      worst.twin = std::max(worst.twin, twin), worst.has_twin = true;
    }
  }
  return table;
}

// Calls `check` for each case with gradients; cases of matrix products are checked with every engine.
void for_each_engine(const std::function<void(const OpCase&)>& check) {
  for (const Engine e : engines_here()) {
    const UseEngine by(e);
    INFO("products = ", engine_names[int(e)]);
    for (const OpCase& c : op_cases())
      if (c.differentiable && (e == Engine::own || is_product(c))) check(c);
  }
}

}  // namespace

TEST_CASE("ops: every kernel is called by an OpCase, which names the one that it calls") {
  const OneThread one;
  std::set<std::string> called;
  for (const OpCase& c : op_cases()) {
    const auto kernels = work(c, inputs(c), all_inputs);
    INFO(title(c));
    CHECK(kernels.count(c.kernel) == (c.of_gpu ? 0 : 1));
    for (const auto& [kernel, cost] : kernels) called.insert(kernel);
  }
  const char* kernels[] = {
#define KERNEL(name, ...) #name,
#include "core/kernels.def"
#undef KERNEL
  };
  for (const std::string kernel : kernels) {
    INFO(kernel << " is called by no OpCase; add one to tests/op_cases");
    CHECK(called.count(kernel) == 1);
  }
}

TEST_CASE("ops: values and gradients equal slow references, and fused ops equal composed ones") {
  const OneThread one;
  const std::map<std::string, Worst> table = against_references();
  fmt::print("\nWorst relative errors ({}; instruction set {})\n", sizeof(real) == 8 ? "double" : "float", isa());
  fmt::print("{:<18}{:>6}{:>10}{:>11}{:>16}\n", "kernel", "cases", "value", "gradient", "fused-composed");
  for (const auto& [kernel, w] : table)
    fmt::print("{:<18}{:>6}{:>10.1e}{:>11}{:>16}\n", kernel, w.cases, w.value,
               w.has_gradient ? fmt::format("{:.1e}", w.gradient) : "-",
               w.has_twin ? fmt::format("{:.1e}", w.twin) : "-");
}

TEST_CASE("ops: products of every engine: the same references, and the same bits for any number of threads") {
  const OneThread one;
  std::vector<OpCase> large = op_cases(For::bench);                  // large enough to be split between threads
  std::erase_if(large, [](const OpCase& c) {                         // one gate is enough: all are split alike
    return !is_product(c) || (c.kernel == "gated_feed_forward" && !c.name.starts_with("silu ("));
  });
  CHECK(large.size() > 4);
  if (sizeof(real) == sizeof(double)) large.clear();  // doubles are split at the same indices, and naive is slow
  std::map<const OpCase*, Result> ours;
  for (const Engine e : engines_here()) {
    const UseEngine by(e);
    INFO("products = ", engine_names[int(e)]);
    CHECK(against_references(true).size() > 2);
    for (const OpCase& c : large) {
      INFO(title(c));
      const Tensors x = inputs(c);
      set_threads(1);
      const Result r = run(c, x);
      for (const int n : {2, 3}) {
        if (n == 2 && e == Engine::naive) continue;  // it is slow
        set_threads(n);
        CHECK(same_bits(run(c, x), r));
      }
      if (e == Engine::own) ours[&c] = r;
      CHECK(difference(r, ours.at(&c)) <= twin_tolerance);
    }
  }
}

TEST_CASE("ops: results have the same bits for any number of threads") {
  const int before = threads();
  for (const OpCase& c : op_cases()) {
    INFO(title(c));
    const Tensors x = inputs(c);
    set_threads(1);
    const Result one = run(c, x);
    for (const int n : {2, 3, 4, 7}) {
      set_threads(n);
      CHECK(same_bits(run(c, x), one));
    }
  }
  set_threads(before);
}

TEST_CASE("ops: every instruction set of this processor gives the results of the references") {
  const OneThread one;
  const std::string before = isa();
  for (const OpCase& c : op_cases()) {
    const Tensors x = inputs(c);
    const Array y = c.reference(in_double(x));
    use_isa(available_isas().front());      // baseline, unless the build is for one machine
    const Result simplest = run(c, x);
    for (const std::string& name : available_isas()) {
      INFO(title(c) << " on " << name);
      use_isa(name);
      const Result r = run(c, x);
      CHECK(value_error(c, r.value, y) <= value_tolerance);
      CHECK(difference(r, simplest) <= twin_tolerance);
    }
  }
  use_isa(before);
}

TEST_CASE("ops: every engine computes no gradient that is not needed, and the others do not change") {
  const OneThread one;
  for_each_engine([](const OpCase& c) {
    const Tensors x = inputs(c);
    const Result all = run(c, x);
    const auto bytes = [&](const Wanted& wanted) {   // bytes read and written: none for an unwanted gradient
      double sum = 0;
      for (const auto& [kernel, cost] : work(c, x, wanted)) sum += cost.bytes;
      return sum;
    };
    const double all_bytes = bytes(all_inputs);
    for (size_t only = 0; only < x.size(); ++only) {
      INFO(title(c) << ", input " << only);
      if (x.size() > 1) CHECK(bytes([&](size_t i) { return i == only; }) < all_bytes);
      const Result r = run(c, c.op, x, [&](size_t i) { return i == only; });
      CHECK(difference(r.grads[only], all.grads[only], floor_of(all)) <= repeat_tolerance);
    }
  });
}

TEST_CASE("ops: every engine adds gradients to existing values") {
  const OneThread one;
  for_each_engine([](const OpCase& c) {
    INFO(title(c));
    const Tensors x = inputs(c);
    const Result once = run(c, x), thrice = run(c, c.op, x, all_inputs, 3);
    for (size_t i = 0; i < x.size(); ++i)
      CHECK(difference(thrice.grads[i], once.grads[i], floor_of(once), 3) <= repeat_tolerance);
  });
}

TEST_CASE("ops: one tensor as two inputs gets both gradients") {
  const OneThread one;
  for (const OpCase& c : op_cases()) {
    if (!c.differentiable) continue;
    Tensors x = inputs(c);
    for (size_t i = 0; i < x.size(); ++i)
      for (size_t j = i + 1; j < x.size(); ++j) {
        if (x[i].shape() != x[j].shape()) continue;
        INFO(title(c) << ", inputs " << i << " and " << j);
        Tensors equal = x;
        equal[j] = x[i];
        const Result apart = run(c, equal);
        const Result shared = run(
            c,
            [&](const Tensors& t) {
              Tensors u = t;
              u[j] = u[i];
              return c.op(u);
            },
            equal, all_inputs);
        std::vector<real> sum = apart.grads[i];
        for (size_t e = 0; e < sum.size(); ++e) sum[e] += apart.grads[j][e];
        CHECK(difference(shared.grads[i], sum, floor_of(apart)) <= 10 * repeat_tolerance);
      }
  }
}

}  // namespace poslab::test
