// Schemes against published code on PyPI. Its results for small queries, keys, states and parameters are the golden
// files of tests/published/; the README.md there says how they are made.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "encodings/encoding.h"
#include "tests/support/formula.h"
#include "tests/support/places.h"

using namespace poslab;
using nlohmann::json;

namespace {

// centre + width u, with u in [-1, 1) from a stream of this name; for the widths of these cases exact in float.
void fill(const Tensor& x, const std::string& name, double centre, double width) {
  const formula::Mix mix(name);
  for (int64_t e = 0; e < x.size(); ++e)
    x.data()[e] = real(centre + width * (int(mix(uint32_t(e)) >> 16) - 32768) / 32768.0);
}

struct Case {
  json golden;
  std::string name = golden["name"];
  int T = int(golden["positions"].size()), H = golden["heads"], D = golden["head_dim"];
  bool causal = golden["causal"];
  std::string expects = golden["expects"];   // logits | logits up to a constant per row | weights | output | embedding

  Positions positions() const { return Positions::of_tokens(1, golden["positions"].get<std::vector<double>>()); }
  Tensor drawn(const std::string& what, Shape shape) const {
    Tensor x(std::move(shape));
    fill(x, name + "." + what, 0, golden["width"]);
    return x;
  }
};

// Sets the layer's parameters to the library's; both must have the same parameters.
void set(const Params& params, const json& given) {
  std::map<std::string, Tensor> left;
  for (const auto& entry : params.entries()) left[entry.name] = entry.tensor;
  for (const auto& [name, p] : given.items()) {
    CAPTURE(name);
    const auto at = left.find("encoding." + name);
    REQUIRE(at != left.end());
    REQUIRE(at->second.shape() == p["shape"].get<Shape>());
    fill(at->second, name, p["centre"], p["width"]);
    left.erase(at);
  }
  for (const auto& [name, tensor] : left) FAIL_CHECK(name, " ", to_string(tensor.shape()), " has no value in the file");
}

Tensor computed(const Case& c, const Chosen<Scheme>& scheme) {
  const int layer = c.golden["layer"];
  const ModelShape shape{.layers = layer + 1, .heads = c.H, .d_model = c.H * c.D, .causal = c.causal,
                         .pool = c.golden["max_position"]};
  const Params params(1);
  const PositionLayers layers(params / "encoding", scheme, shape);
  if (!params.entries().empty()) params.pack();
  set(params, c.golden["parameters"]);

  const Positions p = c.positions();
  const Tensor x = c.drawn("x", {1, c.T, c.H * c.D});
  if (c.expects == "embedding") return layers.embed(x, p);
  const Heads in{c.drawn("q", {1, c.T, c.H, c.D}), c.drawn("k", {1, c.T, c.H, c.D}), x, x};
  const Encoding& encoding = *layers.layers[size_t(layer)];
  const Span span{.causal = c.causal};
  if (c.expects == "weights") return encoding.weights(in, p, span);
  if (c.expects == "output") return encoding.attend(in, c.drawn("v", {1, c.T, c.H, c.D}), p, span);
  return encoding.logits(in, p, span);
}

// The largest difference, relative to the largest golden magnitude or to 1 if that is larger.
double deviation(const Case& c, const Tensor& got) {
  const std::vector<double> expected = c.golden["values"];
  const bool pairs = c.expects != "embedding" && c.expects != "output", shifted = c.expects == "logits but for a row's";
  const double masked = c.expects == "weights" ? 0 : -INFINITY;
  double most = 0, size = 1;
  size_t n = 0;
  for (int64_t row = 0; row < got.rows(); ++row) {
    const int length = got.dim(-1), seen = pairs && c.causal ? int(row % c.T) + 1 : length;
    const real* at = got.data() + row * length;
    for (int j = 0; j < length; ++j) {
      if (j >= seen) {
        CHECK(at[j] == masked);
        continue;
      }
      REQUIRE(n < expected.size());
      const double first = shifted ? expected[n - size_t(j)] - at[0] : 0, want = expected[n++] - first;
      CHECK(std::isfinite(at[j]));
      most = std::max(most, std::abs(at[j] - want)), size = std::max(size, std::abs(want));
    }
  }
  CHECK(n == expected.size());
  return most / size;
}

std::vector<Case> all_cases() {
  std::set<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(test::source_folder) + "/tests/data/published"))
    if (entry.path().extension() == ".json") files.insert(entry.path());
  std::vector<Case> all;
  for (const auto& file : files) all.push_back({json::parse(std::ifstream(file))});
  return all;
}

}  // namespace

TEST_CASE("published: every golden file names a scheme that exists"
) {
  for (const Case& c : all_cases()) {
    CAPTURE(c.name);
    CHECK_NOTHROW(choose_encoding(c.golden["encoding"]));
  }
}

TEST_CASE("published: schemes compute what published code computes") {
  std::set<std::string> schemes;
  for (const Case& c : all_cases()) {
    const std::string spelled = c.golden["encoding"], source = c.golden["source"];
    CAPTURE(c.name);
    CAPTURE(spelled);
    Chosen<Scheme> scheme;
    try {
      scheme = choose_encoding(spelled, trained_on(1024));
    } catch (const BadInput& e) {
      fmt::print("published {:32} skipped: {}\n", c.name, e.what());
      continue;
    }
    schemes.insert(scheme->name);
    const double e = deviation(c, computed(c, scheme)), tolerance = c.golden["tolerance"],
                 allowed = std::max(tolerance, sizeof(real) == 4 ? 1e-5 : 1e-9);
    CHECK(e <= allowed);
    fmt::print("published {:32} {:.1e} of {:.0e}   {:40} {}\n", c.name, e, allowed, spelled, source);
  }
  fmt::print("published: {} schemes\n", schemes.size());
  CHECK(!schemes.empty());
}
