// Runs the checks of encodings/checks/ in doctest: every scheme and every composition of schemes must pass them.
#pragma once
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "autograd/composed.h"
#include "autograd/tape.h"
#include "core/error.h"
#include "core/params.h"
#include "encodings/checks/checks.h"
#include "encodings/compose.h"
#include "encodings/explicit_weights.h"
#include "encodings/picture.h"

namespace poslab::test {

using namespace poslab::checks;

inline ModelShape shape_of(int heads = H, bool causal = false) { return {layers, heads, heads * D, causal, 24, 0}; }
inline Model model_of(const std::string& spelled, const ModelShape& shape = shape_of()) {
  return {choose_encoding(spelled, trained_on(1024)), shape};
}

// The error of a scheme that cannot be built, or "".
inline std::string refused(const std::string& spelled, const ModelShape& shape = shape_of()) {
  try {
    model_of(spelled, shape);
    return "";
  } catch (const BadInput& e) { return e.what(); }
}

// Sets all numbers of a parameter of layer 1.
inline void set(const Model& m, const std::string& name, double value) {
  const Tensor& x = m.params.at("encoding.layer1." + name);
  std::fill_n(x.data(), x.size(), real(value));
}

// Runs the check over all schemes. Report: how many numbers had to be below their bound, and how many above.
inline Report hold_to(const std::string& name) {
  Report all;
  std::string worst = "none";
  for (const std::string& spelling : all_spellings()) {
    CAPTURE(spelling);
    const Report r = run(check_named(name), spelling);
    for (const std::string& failure : r.failures) FAIL_CHECK(failure);
    for (const std::string& unseen : r.unseen) FAIL_CHECK(unseen);
    all.below += r.below, all.shown += r.shown;
    if (r.worst > all.worst) all.worst = r.worst, worst = spelling;
  }
  fmt::print("  {}: worst {:.1e}, of {}\n", name, all.worst, worst);
  return all;
}

}  // namespace poslab::test
