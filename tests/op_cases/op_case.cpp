#include "tests/op_cases/op_case.h"

#include <cstdlib>

#include "core/error.h"
#include "core/names.h"
#include "core/random.h"

namespace poslab::test {
namespace {

struct File { Cases::Make make; For purpose; };
std::vector<File>& files() {
  static std::vector<File> all;
  return all;
}

// Whether the case's kernel begins with this environment variable's value. POSLAB_OPS=scan runs only scan's cases;
// POSLAB_OPS_FIRST=scan runs them before the others, so that tools/mutate sees a changed kernel fail sooner.
bool is_named(const OpCase& c, const char* variable) {
  const char* word = std::getenv(variable);
  return word && c.kernel.rfind(word, 0) == 0;
}

std::vector<OpCase> collect(For purpose) {
  std::vector<OpCase> cases;
  for (const File& file : files())
    if (file.purpose == purpose) file.make(cases);
  std::stable_sort(cases.begin(), cases.end(), [](const OpCase& a, const OpCase& b) { return a.kernel < b.kernel; });
  std::stable_partition(cases.begin(), cases.end(), [](auto& c) { return is_named(c, "POSLAB_OPS_FIRST"); });
  const char* only = std::getenv("POSLAB_OPS");
  if (!only || purpose == For::bench) return cases;
  std::vector<std::string> kernels;   // in their order
  for (const OpCase& c : cases)
    if (kernels.empty() || kernels.back() != c.kernel) kernels.push_back(c.kernel);
  std::erase_if(cases, [](auto& c) { return !is_named(c, "POSLAB_OPS"); });
  if (cases.empty()) raise<BadInput>("POSLAB_OPS: " + unknown("kernel", only, kernels));
  return cases;
}

}  // namespace

Cases::Cases(Make make, For purpose) { files().push_back({make, purpose}); }

const std::vector<OpCase>& op_cases(For purpose) {
  static const std::vector<OpCase> tests = collect(For::tests), bench = collect(For::bench);
  return purpose == For::tests ? tests : bench;
}

std::vector<int> random_ids(int64_t n, int below, uint32_t site) {
  Rng rng({0, 1, site});
  std::vector<int> ids(static_cast<size_t>(n));
  for (int& id : ids) id = int(rng.below(uint32_t(below)));
  return ids;
}

Tensors inputs(const OpCase& c) {
  uint32_t site = 0;
  for (const char letter : c.kernel + c.name) site = site * 31 + uint32_t(letter);
  Rng rng({0, 2, site});
  Tensors all;
  for (size_t i = 0; i < c.shapes.size(); ++i) {
    const Range range = i < c.ranges.size() ? c.ranges[i] : Range{};
    Tensor x(c.shapes[i]);
    for (int64_t e = 0; e < x.size(); ++e) x.data()[e] = real(range.low + (range.high - range.low) * rng.uniform());
    all.push_back(x);
  }
  return all;
}

Arrays in_double(const Tensors& tensors) {
  Arrays all;
  for (const Tensor& x : tensors) {
    Array a(x.shape());
    std::copy_n(x.data(), x.size(), a.at.begin());
    all.push_back(std::move(a));
  }
  return all;
}

}  // namespace poslab::test
