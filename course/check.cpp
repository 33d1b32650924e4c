// The program of a step: stepNN [FIRST] runs its cases from number FIRST on, from 0, and reports mistakes (check.h).
#include "check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "hole.h"

namespace course {
namespace {

struct Case {
  const char* title;
  void (*run)();
};
std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}
struct Wrong {};  // the mistake in this case has been reported

std::string& hint_at_end() {
  static std::string hint;
  return hint;
}

// Prints a line of output. The student's code may have printed text without a newline, and `words` may have newlines.
void say(std::vector<std::string> words) {
  for (std::string& word : words)
    for (char& c : word)
      if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  fmt::print("\ncourse\t{}\n", fmt::join(words, "\t"));
}

bool near(double a, double b, double tolerance) {
  if (!std::isfinite(b)) return a == b || (std::isnan(a) && std::isnan(b));
  return std::abs(a - b) <= tolerance * (1 + std::abs(b));
}
bool near(const Values& a, const Values& b, double tolerance) {
  if (a.size() != b.size()) return false;
  for (size_t n = 0; n < a.size(); ++n)
    if (!near(a[n], b[n], tolerance)) return false;
  return true;
}

bool all_finite(const Values& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

// "[1][0][2]", of element n of the shape
std::string place(size_t n, const Shape& shape) {
  std::string at;
  for (size_t d = shape.size(); d-- > 0; n /= size_t(shape[d])) at = fmt::format("[{}]{}", n % size_t(shape[d]), at);
  return at;
}

// The hint for a usual mistake that gives these values in any formula; empty if none is known.
std::string usual(const Values& got, const Values& expected, double tolerance) {
  const auto is = [&](const auto& f) {
    for (size_t n = 0; n < got.size(); ++n)
      if (!near(got[n], f(expected[n]), tolerance)) return false;
    return true;
  };
  if (!all_finite(got) && all_finite(expected))
    return "a number is not finite: something overflows, is divided by 0, or was never written";
  if (is([](double) { return 0; })) return "all are 0: nothing was written or added";
  if (is([](double e) { return -e; })) return "the sign is reversed";
  for (size_t n = 0; n < got.size(); ++n)
    if (expected[n] != 0 && std::abs(got[n]) > 1e-6) {
      const double factor = got[n] / expected[n];
      if (is([&](double e) { return e * factor; }))
        return fmt::format("all are {:.4g} times what they should be", factor);
      break;
    }
  return "";
}

}  // namespace

AddCase::AddCase(const char* title, void (*run)()) { cases().push_back({title, run}); }

Values values(const Tensor& x) {
  const std::vector<real> all = x.values();
  return {all.begin(), all.end()};
}
Values values(const Shape& x) { return {x.begin(), x.end()}; }

void wrong(const std::string& formula, const std::string& at, const std::string& expected, const std::string& got,
           const std::string& hint) {
  say({"wrong", formula, at, expected, got, hint});
  throw Wrong();
}

void explain_end(const std::string& hint) {
  hint_at_end() = hint;
  say({"at its end", hint});
}

void check(const std::string& formula, const Shape& shape, const Values& got, const Values& expected,
           const std::vector<Mistake>& mistakes, double tolerance) {
  if (near(got, expected, tolerance)) return;
  std::string hint;
  for (const Mistake& m : mistakes)
    if (hint.empty() && (near(got, m.gives, tolerance) || (near(m.gives, not_finite, 0) && !all_finite(got))))
      hint = m.hint;
  if (got.size() != expected.size())
    wrong(formula, "the number of values", fmt::format("{}", expected.size()), fmt::format("{}", got.size()), hint);
  size_t n = 0;
  while (near(got[n], expected[n], tolerance)) ++n;
  if (hint.empty()) hint = usual(got, expected, tolerance);
  wrong(formula, place(n, shape), fmt::format("{:.6g}", expected[n]), fmt::format("{:.6g}", got[n]), hint);
}
void check(const std::string& formula, const Tensor& got, const Values& expected, const std::vector<Mistake>& mistakes,
           double tolerance) {
  check(formula, got.shape(), values(got), expected, mistakes, tolerance);
}
void check(const std::string& formula, const Values& got, const Values& expected, const std::vector<Mistake>& mistakes,
           double tolerance) {
  check(formula, Shape{int(got.size())}, got, expected, mistakes, tolerance);
}
void check(const std::string& formula, double got, double expected, const std::vector<Mistake>& mistakes) {
  check(formula, Values{got}, Values{expected}, mistakes);
}

}  // namespace course

int main(int count, char** words) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  for (size_t n = count > 1 ? size_t(std::atoi(words[1])) : 0; n < course::cases().size(); ++n) {
    course::say({"case", std::to_string(n), course::cases()[n].title});
    course::hint_at_end().clear();
    try {
      course::cases()[n].run();
      course::say({"passed"});
    } catch (const course::Wrong&) {  // it has been reported
    } catch (const course::Hole& h) { course::say({"hole", h.key}); } catch (const std::exception& e) {
      course::say({"wrong", "no exception", "", "", e.what(), course::hint_at_end()});
    }
  }
  course::say({"end"});
}
