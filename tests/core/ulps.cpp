// The error of each kernel in units in the last place, by instruction set: bench/results/ulps.csv. tools/ulps writes
// that file, and a test compares this build with it.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <map>
#include <set>

#include "core/choices.h"
#include "tests/support/op_run.h"
#include "tests/support/places.h"

#ifndef POSLAB_DOUBLE
namespace poslab::test {
namespace {

// For these kernels the unit is the last place of each result; for sums, that of the largest number of a result.
const std::set<std::string> by_element = {
    "add", "cos",  "div", "exp", "gelu", "gelu_tanh", "keep",     "log",  "copy",    "maximum", "minimum", "mul",
    "pow", "relu", "sin", "sub", "silu", "sigmoid",   "softplus", "sqrt", "squares", "tanh",    "max",     "top_k"};

enum Column { as_given, tiny, huge, subnormal, infinite, not_a_number, gradient, from_baseline };
const char* const columns[] = {"value", "tiny", "huge", "subnormal", "infinite", "nan", "gradient", "from_baseline"};
// The inputs of a case are scaled by 2 to this power: products of three inputs stay in range, those of four do not.
const std::pair<Column, int> powers[] = {{tiny, -40}, {huge, 40}, {subnormal, -140}};

struct Worst {
  double ulps = 0;
  int differ = 0;  // results that are finite where the formula is infinite, or not finite where it is finite
  void meet(real got, double want, double scale) {
    if (std::isnan(want)) return;
    const bool fits = std::isinf(real(want)) ? got == real(want) : std::isfinite(got);
    if (!fits) ++differ;
    if (!fits || !std::isfinite(real(want))) return;
    const double smallest = std::ldexp(1, -149);
    const double unit = scale == 0 ? smallest : std::max(std::ldexp(1, std::ilogb(std::abs(scale)) - 23), smallest);
    ulps = std::max(ulps, std::abs(double(got) - want) / unit);
  }
  std::string words() const {
    return differ       ? fmt::format("{} differ", differ)
           : ulps < 1e5 ? fmt::format("{:.1f}", ulps)
                        : fmt::format("{:.0e}", ulps);
  }
};
using BySet = std::map<std::string, Worst>;

// The inputs of a case, but with one number replaced in one of them.
Tensors with_one(const Tensors& inputs, size_t which, size_t at, real value) {
  Tensors all = inputs;
  std::vector<real> x = inputs[which].values();
  x[at] = value;
  all[which] = Tensor::from(inputs[which].shape(), x);
  return all;
}

Tensors times_two_to(int power, const Tensors& inputs) {
  Tensors all;
  for (const Tensor& x : inputs) {
    std::vector<real> scaled = x.values();
    for (real& e : scaled) e = std::ldexp(e, power);
    all.push_back(Tensor::from(x.shape(), scaled));
  }
  return all;
}

std::vector<real> value(const OpCase& c, const Tensors& x) {
  return run(c, c.op, x, [](size_t) { return false; }).value;
}

// Compares values with the formula, by instruction set; and, if `beside` is given, with the values of baseline.
void meet_formula(const OpCase& c, const Tensors& x, BySet& by_set, BySet* beside = nullptr) {
  const Array want = c.reference(in_double(x));
  double most = 0;
  for (const double w : want.at)
    if (std::isfinite(w)) most = std::max(most, std::abs(w));
  std::vector<real> baseline;
  for (const std::string& set : available_isas()) {
    use_isa(set);
    const std::vector<real> got = value(c, x);
    if (set == "baseline") baseline = got;
    for (size_t e = 0; e < got.size(); ++e) {
      const double scale = by_element.count(c.kernel) ? want.at[e] : most;
      by_set[set].meet(got[e], want.at[e], scale);
      if (beside && !baseline.empty()) (*beside)[set].meet(got[e], double(baseline[e]), scale);
    }
  }
}

// Compares results when one number of the inputs is infinite, in each input in turn.
void meet_infinite(const OpCase& c, const Tensors& x, BySet& by_set) {
  for (size_t which = 0; which < x.size(); ++which)
    if (const size_t size = size_t(x[which].size())) meet_formula(c, with_one(x, which, size / 2, INFINITY), by_set);
}

// Counts the results that depend on a number and yet are not NaN when that number is NaN.
void meet_nan(const OpCase& c, const Tensors& x, BySet& by_set) {
  for (const std::string& set : available_isas()) {
    use_isa(set);
    const std::vector<real> one = value(c, x);
    for (size_t which = 0; which < x.size(); ++which)
      for (const size_t at : {size_t(0), size_t(x[which].size() - 1)}) {
        const real was = x[which].values()[at];
        const std::vector<real> other = value(c, with_one(x, which, at, was == 0 ? 1 : was / 2)),
                                nan = value(c, with_one(x, which, at, NAN));
        for (size_t e = 0; e < one.size(); ++e) by_set[set].differ += one[e] != other[e] && !std::isnan(nan[e]);
      }
  }
}

// Compares some elements of each gradient, for normal inputs, in last places of the gradient's largest number.
void meet_gradients(const OpCase& c, BySet& by_set) {
  if (!c.differentiable) return;
  const Tensors x = inputs(c);
  const Arrays at = in_double(x);
  std::map<std::string, Result> got;
  for (const std::string& set : available_isas()) use_isa(set), got[set] = run(c, x);
  for (size_t i = 0; i < x.size(); ++i)
    for (const int e : random_ids(3, int(x[i].size()), uint32_t(i))) {
      std::vector<double> unit(size_t(x[i].size()));
      unit[size_t(e)] = 1;
      const double want = numeric(c, at, i, unit);
      for (auto& [set, r] : got)
        by_set[set].meet(r.grads[i][size_t(e)], want, std::max(largest(r.grads[i]), floor_of(r)));
    }
}

using Row = std::vector<std::string>;                              // a cell for each column
using Tables = std::map<std::string, std::map<std::string, Row>>;  // by instruction set and kernel

// The tables, measured on every `step`-th case.
Tables measured(size_t step) {
  const OneThread one;
  const std::string before = isa();
  std::map<std::string, std::vector<BySet>> all;
  for (size_t n = 0; n < op_cases().size(); n += step) {
    const OpCase& c = op_cases()[n];
    if (c.of_gpu) continue;
    auto& row = all[c.kernel];
    row.resize(std::size(columns));
    const Tensors x = inputs(c);
    meet_formula(c, x, row[as_given], &row[from_baseline]);
    for (const auto& [column, power] : powers) meet_formula(c, times_two_to(power, x), row[column]);
    meet_infinite(c, x, row[infinite]);
    meet_nan(c, x, row[not_a_number]);
    meet_gradients(c, row[gradient]);
  }
  use_isa(before);
  Tables tables;
  for (const auto& [kernel, row] : all)
    for (const std::string& set : available_isas())
      for (const auto& cell : row) tables[set][kernel].push_back(cell.count(set) ? cell.at(set).words() : "-");
  return tables;
}

Tables committed() {
  std::ifstream file(source_folder + std::string("/bench/results/ulps.csv"));
  Tables tables;
  std::string line;
  std::getline(file, line);  // names of columns
  while (std::getline(file, line)) {
    const Row cells = split(line, ',');
    tables[cells[0]][cells[1]] = {cells.begin() + 2, cells.end()};
  }
  return tables;
}

}  // namespace

TEST_CASE("ulps: no kernel is further off than bench/results/ulps.csv says, by every eighth case") {
  const Tables before = committed();
  CHECK(before.size() == 3);
  for (const auto& [set, table] : measured(8))
    for (const auto& [kernel, row] : table) {
      INFO(kernel, " on ", set, "; tools/ulps writes the table anew");
      REQUIRE(before.at(set).count(kernel) == 1);
      const Row& then = before.at(set).at(kernel);
      REQUIRE(then.size() == row.size());
      for (size_t k = 0; k < row.size(); ++k) {
        INFO(columns[k], ": ", row[k], ", and the table says ", then[k]);
        if (row[k] == "-" || row[k] == then[k]) continue;
        const bool differs = row[k].ends_with("differ"), differed = then[k].ends_with("differ");
        CHECK((!differs || differed));
        if (differs == differed) CHECK(std::stod(row[k]) <= 1.3 * std::stod(then[k]) + 0.5);
      }
    }
}

TEST_CASE("ulps: the table of all cases" * doctest::skip()) {
  fmt::print("isa,kernel");
  for (const char* column : columns) fmt::print(",{}", column);
  fmt::print("\n");
  for (const auto& [set, table] : measured(1)) {
    for (const auto& [kernel, row] : table) fmt::print("{},{},{}\n", set, kernel, fmt::join(row, ","));
    CHECK(table.size() > 40);
  }
}

}  // namespace poslab::test
#endif
