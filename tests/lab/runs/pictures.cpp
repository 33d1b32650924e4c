// pictures.json of small untrained models: attention rows sum to 1, answers are the model's, and the report reads the
// file.
#include "lab/runs/pictures.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "encodings/encoding.h"
#include "lab/files/files.h"
#include "lab/pages/report/report.h"
#include "lab/runs/whole_run.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Folder : test::TemporaryFolder {
  const fs::path path = TemporaryFolder::path;
};

std::vector<double> decode(const json& m) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const double low = m["low"], high = m["high"];
  std::vector<double> values;
  unsigned bits = 0, held = 0;
  for (const char c : m["cells"].get<std::string>()) {
    if (c == '=') break;
    held = (held << 6 | unsigned(digits.find(c))) & 0xffff, bits += 6;
    if (bits >= 8) bits -= 8, values.push_back(low + (held >> bits & 255) / 255. * (high - low));
  }
  REQUIRE(values.size() == m["rows"].get<size_t>() * m["cols"].get<size_t>());
  return values;
}

State small_model(const std::string& task, const std::string& encoding, const std::string& positions) {
  const Chosen<Scheme> scheme = choose_encoding(encoding);
  const bool causal = !scheme->causal_only(scheme.choices).empty();
  return State(RunSpec(configure({{"task", task},
                                  {"encoding", encoding},
                                  {"positions", positions},
                                  {"causal", causal ? "on" : "off"},
                                  {"layers", "2"},
                                  {"heads", "2"},
                                  {"causal", scheme->causal_only(scheme.choices).empty() ? "false" : "true"},
                                  {"d_model", "8"},
                                  {"batch", "2"},
                                  {"steps", "2"},
                                  {"log_every", "1"},
                                  {"train_length", "6"},
                                  {"max_position", "256"},
                                  {"eval_lengths", "50:50"},
                                  {"eval_samples", "1"}})));
}

json pictures_of(const RunFolder& run, const State& state) {
  write_pictures(run, state);
  return json::parse(read_file(run.file("pictures.json")));
}

}  // namespace

TEST_CASE("pictures: attention maps of a short and a long string") {
  const Folder folder;
  State state = small_model("reverse_string", "relative", "sequential");
  const RunFolder run = RunFolder::create((folder.path / "run").string(), state);
  const json p = pictures_of(run, state);
  REQUIRE(p["examples"].size() == 2);
  const json &low = p["examples"][0], &high = p["examples"][1];
  CHECK(low["length"] == 6);
  CHECK(low["trained"] == true);
  CHECK(high["length"] == 50);
  CHECK(high["trained"] == false);
  CHECK(low["input"].size() == 6);
  json turned = low["input"];
  std::reverse(turned.begin(), turned.end());
  CHECK(low["expected"] == turned);
  CHECK(low["layers"].size() == 2);
  CHECK(high["block"] == 2);  // 100 slots, at most 80 cells
  for (const json& layer : low["layers"]) {
    std::vector<double> most(144, 0.);
    for (const json& head : layer["heads"]) {
      CHECK(head["rows"] == 12);
      const std::vector<double> a = decode(head);
      for (size_t i = 0; i < 12; ++i) {
        double sum = 0;
        for (size_t j = 0; j < 12; ++j)
          sum += a[12 * i + j], most[12 * i + j] = std::max(most[12 * i + j], a[12 * i + j]);
        CHECK(sum == doctest::Approx(1).epsilon(.03));  // cells have eight bits
      }
    }
    const std::vector<double> top = decode(layer["max"]);
    for (size_t n = 0; n < top.size(); ++n) CHECK(std::abs(top[n] - most[n]) < 1. / 200);
  }
  CHECK(high["layers"][0]["max"]["cols"] == 50);
}

TEST_CASE("pictures: learned matrices are drawn with the weights of this run, before and after training") {
  const Folder folder;
  for (const char* encoding : {"relative", "learned", "rope"}) {
    CAPTURE(encoding);
    State state = small_model("even_pairs", encoding, "sequential");
    const RunFolder run = RunFolder::create((folder.path / encoding).string(), state);
    const json untrained = pictures_of(run, state)["positions"];
    CHECK_FALSE(untrained.contains("before"));
    const std::vector<double> m = decode(untrained["layers"][0][0]), values = untrained["layers"][0][0]["values"];
    REQUIRE(values.size() == 49);  // 6 + 1 slots
    const json& drawn = untrained["layers"][0][0];
    const double range = drawn["high"].get<double>() - drawn["low"].get<double>();
    for (size_t i = 0; i < 49; ++i) CHECK(std::abs(m[i] - values[i]) <= range / 509 + 1e-5);
    for (const Params::Entry& entry : state.params.entries()) {
      std::vector<real> w = entry.tensor.values();
      for (size_t n = 0; n < w.size(); ++n) w[n] += real(n % 3);
      Tensor(entry.tensor).set(w.data());
    }
    const json trained = pictures_of(run, state)["positions"];
    CHECK(trained.contains("before") == (std::string(encoding) != "rope"));
    if (trained.contains("before")) CHECK(trained["before"] == untrained["layers"]);
    CHECK((trained["layers"] == untrained["layers"]) == (std::string(encoding) == "rope"));
  }
}

TEST_CASE("pictures: up to eight matrices of positions have numbers, more have only colors") {
  const Folder folder;
  for (const int heads : {4, 8, 9}) {
    CAPTURE(heads);
    State state(RunSpec(configure({{"task", "even_pairs"},
                                   {"encoding", "alibi"},
                                   {"layers", "1"},
                                   {"heads", std::to_string(heads)},
                                   {"d_model", std::to_string(2 * heads)},
                                   {"train_length", "6"},
                                   {"eval_lengths", "6:6"}})));
    const json drawn =
        pictures_of(RunFolder::create((folder.path / std::to_string(heads)).string(), state), state)["positions"];
    REQUIRE(drawn["layers"].size() == 1);
    REQUIRE(drawn["layers"][0].size() == size_t(heads));
    for (const json& head : drawn["layers"][0]) CHECK(head.contains("values") == (heads <= 8));
  }
}

TEST_CASE("pictures: every scheme has them, and the report reads complete runs, here tested at one length") {
  const Folder folder;
  std::vector<std::string> runs;
  for (size_t n = 0; const Scheme& scheme : all_encodings())
    for (const std::string positions : {"randomized", "sequential"}) {
      if (positions == "sequential" && n++ % 3) continue;
      CAPTURE(scheme.name);
      CAPTURE(positions);
      const State state = small_model("even_pairs", scheme.name, positions);
      const std::string path = (folder.path / (scheme.name + positions)).string();
      RunFolder::create(path, state);
      resume_run(path, {});
      const RunFolder run = RunFolder::open(path);
      const json p = pictures_of(run, run.load());
      for (const json& head : p["examples"][0]["layers"][0]["heads"]) CHECK(decode(head).size() == 49);
      runs.push_back(run.path());
    }
  const std::string out = (folder.path / "report.html").string();
  report::write(runs, out);
  CHECK(read_file(out).find("encoding=rope positions=randomized") != std::string::npos);
}

TEST_CASE("pictures: symbols of the input are written as the task writes them") {
  const Folder folder;
  const State state = small_model("solve_equation", "none", "sequential");
  const json p = pictures_of(RunFolder::create((folder.path / "run").string(), state), state);
  std::string text;
  for (const json& symbol : p["examples"][0]["input"]) text += symbol.get<std::string>();
  CHECK(read_input(task("solve_equation"), text).size() == 6);
  CHECK(text[4] == '=');
}
