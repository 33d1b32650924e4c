// The whole model against an independent one: logits, loss and all parameter gradients of the PyTorch model of
// tests/reference/, for every encoding, from the golden files there. tests/reference/README.md says how the files come
// to be.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "autograd/tape.h"
#include "nn/transformer.h"
#include "tests/formula.h"
#include "tests/places.h"

using namespace poslab;
using nlohmann::json;

namespace {

// PyTorch's own float32 is within 3e-6 of its float64 on these cases.
const double tolerance = sizeof(real) == 8 ? 1e-9 : 1e-4;

Ids ids(const json& rows) {
  std::vector<int> at;
  for (const json& row : rows)
    for (const json& id : row) at.push_back(id);
  return Ids({int(rows.size()), int(rows[0].size())}, at);
}

PositionSample positions(const json& layers) {
  std::vector<Positions> given;
  for (const json& layer : layers) {
    const bool offsets = layer.contains("offsets");
    const json& rows = layer[offsets ? "offsets" : "tokens"];
    std::vector<double> at;
    for (const json& row : rows) at.insert(at.end(), row.begin(), row.end());
    given.push_back(offsets ? Positions::of_offsets(int(rows.size()), at) : Positions::of_tokens(int(rows.size()), at));
  }
  return PositionSample(given);
}

TransformerSpec spec(const json& golden) {
  TransformerSpec s;
  s.symbols_in = golden["symbols_in"], s.symbols_out = golden["symbols_out"];
  s.layers = golden["layers"], s.heads = golden["heads"], s.d_model = golden["d_model"];
  s.causal = bool(golden["causal"]);
  s.pool = golden["max_position"];
  const bool symmetric = golden["symmetric"];
  s.encoding = choose_encoding(golden["encoding"], {{"relative_mode", golden["mode"]},
                                                    {"alibi_symmetric", symmetric ? "on" : "off"},
                                                    {"rope_pairing", golden["pairing"]}});
  return s;
}

// The largest error of any figure of the digest, relative to the gradient's norm.
double error(const std::string& name, const std::vector<real>& g, const json& digest) {
  const double n = double(g.size());
  double squares = 0, sum = 0, largest = 0, worst = 0;
  for (const real x : g) squares += double(x) * x, sum += x, largest = std::max(largest, std::abs(double(x)));
  const bool whole = digest.contains("norm");  // own.py leaves out what takes all of the gradient
  const double norm = whole ? double(digest["norm"]) : std::sqrt(squares);
  const auto compare = [&](double got, double expected, double scale) {
    worst = std::max(worst, std::abs(got - expected) / scale);
  };
  compare(std::sqrt(squares), norm, norm);
  compare(sum, digest["sum"], norm);
  if (whole) compare(largest, digest["largest"], norm);
  const auto at = formula::integers(name + "#samples", int64_t(digest["samples"].size()), int(n));
  for (size_t i = 0; i < at.size(); ++i) compare(g[size_t(at[i])], digest["samples"][i], norm);
  for (size_t i = 0; i < digest["projections"].size(); ++i) {
    const formula::Mix mix(fmt::format("{}#signs{}", name, i));
    double projection = 0;
    for (size_t e = 0; e < g.size(); ++e) projection += formula::sign(mix, int64_t(e)) * g[e];
    compare(projection, digest["projections"][i], norm);
  }
  return worst;
}

void compare_with(const json& golden) {
  const std::string title = golden["name"];
  INFO(title);
  Params params(1);
  const Transformer model(params, spec(golden));
  params.pack();
  formula::fill(params);

  const PositionSample draw = positions(golden["positions"]);
  const Tensor logits = model(ids(golden["tokens"]), golden["outputs"], Pass{draw, {}});
  const Tensor loss = cross_entropy(logits, ids(golden["targets"]));
  backward(loss);

  double worst_logit = 0, size = 0;
  REQUIRE(logits.size() == int64_t(golden["logits"].size()));
  for (int64_t i = 0; i < logits.size(); ++i) {
    const double expected = golden["logits"][size_t(i)];
    worst_logit = std::max(worst_logit, std::abs(logits.data()[i] - expected)),
    size = std::max(size, std::abs(expected));
  }
  CHECK(worst_logit / size <= tolerance);
  const double loss_error = std::abs(loss.item() / double(golden["loss"]) - 1);
  CHECK(loss_error <= tolerance);

  double worst = 0;
  std::string where;
  CHECK(params.entries().size() == golden["gradients"].size());
  for (const auto& entry : params.entries()) {
    INFO(entry.name);
    REQUIRE(golden["gradients"].contains(entry.name));
    const json& digest = golden["gradients"][entry.name];
    REQUIRE(entry.tensor.size() == int64_t(digest["size"]));
    const double e = error(entry.name, entry.tensor.grad().values(), digest);
    CHECK(e <= tolerance);
    if (!(e <= worst)) worst = e, where = entry.name;
  }
  fmt::print("reference {:32} logits {:.1e}   loss {:.1e}   worst gradient {:.1e}  {}\n", title, worst_logit / size,
             loss_error, worst, where);
}

}  // namespace

TEST_CASE("reference: the model equals an independent PyTorch model, for every encoding") {
  std::set<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(test::source_folder) + "/tests/reference/golden"))
    if (entry.path().extension() == ".json") files.insert(entry.path());
  std::set<std::string> covered;
  for (const auto& file : files) {
    const json golden = json::parse(std::ifstream(file));
    covered.insert(read_spelling(golden["encoding"]).name);
    compare_with(golden);
  }
  for (const Scheme& scheme : all_encodings()) {
    INFO(scheme.name, " has no golden file; write one with `./dev reference NAME` (tests/reference/README.md)");
    CHECK(covered.count(scheme.name) == 1);
  }
}
