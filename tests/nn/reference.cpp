// The whole model against an independent one: logits, loss and all parameter gradients of the PyTorch model in
// tests/reference/, for every encoding, from golden files. tests/reference/README.md says how to make these.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "autograd/tape.h"
#include "nn/transformer.h"
#include "tests/support/formula.h"
#include "tests/support/golden.h"
#include "tests/support/places.h"

using namespace poslab;
using golden::gradient_error, golden::ids, golden::logit_error, golden::tolerance;
using nlohmann::json;

namespace {

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
  RunValues run = {{"mode", golden["mode"]},
                   {"symmetric", symmetric ? "on" : "off"},
                   {"pairing", golden["pairing"]}};
  run.merge(trained_on(40));
  s.encoding = choose_encoding(golden["encoding"], run);
  return s;
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

  const double worst_logit = logit_error(logits, golden["logits"]);
  CHECK(worst_logit <= tolerance);
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
    const double e = gradient_error(entry.name, entry.tensor.grad().values(), digest);
    CHECK(e <= tolerance);
    if (!(e <= worst)) worst = e, where = entry.name;
  }
  fmt::print("reference {:32} logits {:.1e}   loss {:.1e}   worst gradient {:.1e}  {}\n", title, worst_logit,
             loss_error, worst, where);
}

}  // namespace

TEST_CASE("reference: the model equals an independent PyTorch model, for every encoding") {
  std::set<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(test::source_folder) + "/tests/data/reference"))
    if (entry.path().extension() == ".json") files.insert(entry.path());
  std::set<std::string> covered;
  for (const auto& file : files) {
    const json golden = json::parse(std::ifstream(file));
    covered.insert(read_spelling(golden["encoding"]).name);
    compare_with(golden);
  }
  for (const Scheme& scheme : all_encodings()) {
    INFO(scheme.name, " has no golden file; write one with `tools/reference NAME` (tests/reference/README.md)");
    CHECK(covered.count(scheme.name) == 1);
  }
}
