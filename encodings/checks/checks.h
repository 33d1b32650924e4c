// The checks of a scheme: the laws of spec A.7 as it declares them (Scheme::laws), fused attention against its composed
// twin, decoding slot by slot against one pass, gradients against differences. One list for the tests, which run it on
// every scheme, and for `poslab check`.
#pragma once
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "encodings/checks/setup.h"

namespace poslab::checks {

inline constexpr double seen = 1e-3;   // a visible difference, far above rounding
inline constexpr double gradient_bound = sizeof(real) == 4 ? 2e-2 : 1e-6;   // in float with wide steps

// The error of a check in one setup, and its expected size: below a bound; visible in this setup; or, for a law that
// the scheme declares broken, visible in at least one setup.
struct Outcome {
  enum class Expect { below, shows, shows_somewhere };
  double error;
  Expect expect;
  double bound = tolerance;   // for Expect::below
  std::string of = "";        // where the error is, if the setup alone does not tell
};
struct Outcomes {
  std::vector<Outcome> all;
  std::string why_not = "";   // why the check does not apply to this setup; else empty
};

struct Check {
  std::string name, law;      // "shift", and the law in a sentence
  enum class Mask { none, causal, both, causal_if_needed } mask;
  std::function<Outcomes(const Setup&)> run;
};
const std::vector<Check>& all_checks();
const Check& check_named(const std::string& name);   // throws BadInput with did-you-mean

// A check over all setups of one spelling.
struct Report {
  int below = 0, shown = 0;               // outcomes expected below a bound, and outcomes expected to be visible
  double worst = 0, bound = 0;            // the outcome nearest to its bound, or farthest above it
  // the least error that had to be visible; the largest error of a law declared broken
  double least = INFINITY, broken = -1;
  std::vector<std::string> failures;      // each with the name of its setup
  std::vector<std::string> unseen;        // errors that had to be visible but were not
  std::string why_not = "";               // why no setup was run, or ""
  double seconds = 0;
};
Report run(const Check&, const std::string& spelling);

}  // namespace poslab::checks
