// The tests of a step: cases, each with a formula. A difference is reported in one line: the index, the expected and
// the actual value, and the usual mistake with this result. An output line is "course" and words with tabs between
// them, on a line of its own, whatever the student's code prints; course.py reads it.
//
//   CASE("softmax of a row") {
//     check("y_j = exp(x_j) / sum_k exp(x_k)", softmax(x), expected, {{"it is not divided by the sum", exponentials}});
//   }
#pragma once
#include <cmath>
#include <exception>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/tensor.h"

namespace course {

using poslab::real;
using poslab::Shape;
using poslab::Tensor;
using Values = std::vector<double>;
inline std::vector<real> reals(const Values& x) { return {x.begin(), x.end()}; }
inline Values of_reals(const std::vector<real>& x) { return {x.begin(), x.end()}; }
inline Values some(int n, double seed) {  // numbers without a pattern, from -1 to 1
  Values all;
  for (int e = 0; e < n; ++e) all.push_back(std::sin(1.7 * e + seed * (e + 1)));
  return all;
}
inline Values whole(int n, int seed) {  // small whole numbers, so that all sums are exact
  Values all;
  for (int e = 0; e < n; ++e) all.push_back((e * 7 + seed * 5 + e / 3) % 9 - 4);
  return all;
}

struct AddCase {
  AddCase(const char* title, void (*run)());
};

// A usual mistake, and the values that it gives.
struct Mistake {
  std::string hint;
  Values gives;  // or not_finite: a number that is not finite, in any place
};
inline const Values not_finite = {std::nan("")};

Values values(const Tensor&);
Values values(const Shape&);

// Reports the mistake, in a line; the case ends here.
[[noreturn]] void wrong(const std::string& formula, const std::string& at, const std::string& expected,
                        const std::string& got, const std::string& hint);

// Fails the case unless got is expected, element by element, to |difference| <= tolerance (1 + |expected|).
void check(const std::string& formula, const Shape&, const Values& got, const Values& expected,
           const std::vector<Mistake>& = {}, double tolerance = 1e-4);
void check(const std::string& formula, const Tensor& got, const Values& expected, const std::vector<Mistake>& = {},
           double tolerance = 1e-4);
void check(const std::string& formula, const Values& got, const Values& expected, const std::vector<Mistake>& = {},
           double tolerance = 1e-4);
void check(const std::string& formula, double got, double expected, const std::vector<Mistake>& = {});

// The usual mistake behind an exception or a signal that ends the case from here on.
void explain_end(const std::string& hint);

// Fails the case unless work() throws BadInput. Wrong and Hole, which are no std::exception, pass through.
template <class Work>
void expect_refusal(const std::string& what, const Work& work, const std::string& hint) {
  try {
    work();
  } catch (const poslab::BadInput&) { return; } catch (const std::exception& e) {
    wrong(what, "", "BadInput", std::string("another exception, ") + e.what(),
          "it is refused, but not by bad_input(...), which throws BadInput");
  }
  wrong(what, "", "BadInput", "no exception", hint);
}

}  // namespace course

#define CASE_NAME(line) case_##line
#define CASE_AT(title, line)                                       \
  static void CASE_NAME(line)();                                   \
  static const course::AddCase add_##line(title, CASE_NAME(line)); \
  static void CASE_NAME(line)()
#define CASE_OF(title, line) CASE_AT(title, line)
#define CASE(title) CASE_OF(title, __LINE__)
