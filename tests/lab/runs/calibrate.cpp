// `poslab calibrate`: a head's kept biases, against a slow formula; two runs, the second with the first's biases.
#include <cmath>
#include <map>

#include "experiment/attention_maps.h"
#include "experiment/build.h"
#include "experiment/calibrate.h"
#include "experiment/dispersion.h"
#include "experiment/evaluate.h"
#include "lab/runs/naming.h"
#include "lab/runs/run_folder.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::test;

TEST_CASE("calibrate: the distances that stand out in a made-up matrix, as a mean and as a sum") {
  constexpr int T = 7;
  std::vector<double> a(T * T);
  for (int i = 0; i < T; ++i)
    for (int j = 0; j < T; ++j) a[size_t(i * T + j)] = (i - j == 2 ? 3 : 1) / (1.0 + std::abs(i - 2 * j));
  for (const bool causal : {false, true})
    for (const bool sum : {false, true})
      for (const double deviations : {0.87, -1., 9.}) {
        std::map<int, std::vector<double>> diagonals;
        for (int i = 0; i < T; ++i)
          for (int j = 0; j < (causal ? i + 1 : T); ++j) diagonals[j - i].push_back(a[size_t(i * T + j)]);
        std::map<int, double> value;
        double mean = 0, variance = 0;
        for (const auto& [d, cells] : diagonals) {
          for (const double cell : cells) value[d] += cell / (sum ? 1 : double(cells.size()));
          mean += value[d] / double(diagonals.size());
        }
        for (const auto& [d, v] : value) variance += (v - mean) * (v - mean) / double(value.size());
        std::erase_if(value, [&](const auto& one) { return one.second < mean + deviations * std::sqrt(variance); });
        const SlotBiases found = kept(a, T, causal, {.deviations = deviations, .sum = sum});
        REQUIRE(found.size() == value.size());
        for (const auto& [d, v] : value) CHECK(found.at(d) == doctest::Approx(v));
        if (deviations == 0.87) CHECK(found.count(-2));
        CHECK(found.empty() == (deviations == 9));
      }
  // If all distances have equal weight, all are kept. Diagonals without any weight do not count.
  CHECK(kept(std::vector<double>(T * T, 0.1), T, false, {}).size() == 2 * T - 1);
  std::vector<double> own(T * T, 0.);
  for (int i = 0; i < T; ++i) own[size_t(i * T + i)] = 1;
  CHECK(kept(own, T, false, {}) == SlotBiases{{0, 1}});
}

TEST_CASE("calibrate: the mean attention of a run, head by head; one layer's for all on request") {
  State state(tiny_config({{"heads", "4"}}));
  const Calibration own = calibrate(state, {.length = 5, .samples = 3}),
                    last = calibrate(state, {.length = 5, .samples = 3, .last_layer = true});
  CHECK((own.layers == 2 && own.heads == 4 && own.of_heads.size() == 8));
  for (int layer = 0; layer < 2; ++layer)
    for (int h = 0; h < 4; ++h) {
      const int T = slots(state.config, 5);
      std::vector<double> mean(size_t(T * T), 0.);
      for (int n = 0; n < 3; ++n) {
        const Batch batch = test_batch(state.config, 5, n, 1);
        const Tensor a = attention_of(state, batch, test_draw(state.config, 5, n, 1, T, batch.tokens), layer);
        for (int e = 0; e < T * T; ++e) mean[size_t(e)] += double(a.data()[h * T * T + e]) / 3;
      }
      const SlotBiases expected = kept(mean, T, false, {});
      CHECK_FALSE(expected.empty());
      CHECK(own.of(layer, h) == expected);
      CHECK(last.of(layer, h) == own.of(1, h));
    }
}

TEST_CASE("calibrate: if a task draws shorter strings than requested, slots are counted by these") {
  const State state(tiny_config({{"task", "modular_arithmetic"}, {"heads", "2"}, {"encoding", "none"}}));
  const Calibration made = calibrate(state, {.length = 8, .samples = 3});  // strings of 7 symbols and an answer
  for (const SlotBiases& head : made.of_heads)
    for (const auto& [distance, weight] : head) {
      CHECK(std::abs(distance) < 8);
      CHECK((weight > 0 && weight < 1));
    }
  CHECK(probed(state, 2).keys(8) == 8);
}

TEST_CASE("calibrated and given without numbers: training reports that they use the numbers of an example") {
  const TemporaryFolder folder;
  const auto output = [&](const std::string& out, const std::string& encoding, const std::string& positions) {
    Program p(folder, "train" + tiny_options({{"steps", "2"}, {"train_length", "2"}, {"eval_lengths", "1:2"}}) +
                          fmt::format(" --set 'encoding={}' --set positions={} --out {}", encoding, positions,
                                      folder / out));
    CHECK(p.status() == 0);
    return p.output();
  };
  const std::string biases = "calibrated has the biases of an example, all -1:0.6 0:0.3, because none are given; ";
  CHECK(holds(output("one", "rope|calibrated", "sequential"), biases));
  CHECK(!holds(output("two", "calibrated:of=all -1:0.5 0:0.3", "sequential"), "of an example"));
  CHECK(holds(output("three", "rope", "given"),
              "given has the positions of an example, 0 1 2 4 8 16 32 64, because none are given"));
}

TEST_CASE("calibrate: a run is trained, calibrated, and trained again; the result needs no file") {
  const TemporaryFolder folder;
  const std::string first = folder / "first", second = folder / "second", file = folder / "biases.txt";
  const auto run = [&](const std::string& words) {
    Program p(folder, words);
    const std::string said = p.output();
    CAPTURE(said);
    CHECK(p.status() == 0);
    return said;
  };
  run("train" + tiny_options() + " --out " + first);
  const std::string said = run(fmt::format("calibrate {} --samples 4 -o {}", first, file));
  CHECK(holds(said, "2 heads of 2 layers look at"));
  CHECK(holds(said, "--encoding calibrated:of=@" + file));
  const std::string text = read_file(file);
  CHECK(holds(text, "# Attention Bias Calibration of a run of reverse_string, relative, after 40 steps"));
  CHECK((holds(text, "\n1.1 ") && holds(text, "\n2.2 ")));
  run(fmt::format("train{} --set encoding=calibrated:of=@{} --set steps=20 --out {}", tiny_options(), file, second));
  CHECK(!holds(said, "beyond"));
  CHECK(holds(run(fmt::format("calibrate {} --samples 1 --length 7 -o {}", first, folder / "long.txt")),
              "--length 7 is beyond the trained lengths, up to 6: values there were never trained"));
  CHECK(holds(run(fmt::format("align {} --samples 1 --short 7 --long 9 -o {}", first, folder / "t.json")),
              "--short 7 is beyond the trained lengths, up to 6"));
  std::filesystem::remove(file);
  run("eval " + second + " --lengths 1:12 --samples 4");
  const State state = RunFolder::open(second).load();
  CHECK(state.adam.step == 20);
  CHECK(state.config["encoding"].rfind("calibrated:of=1.1 ", 0) == 0);
  const Batch batch = test_batch(state.config, 9, 0, 1);
  const int T = slots(state.config, 9);
  const Tensor a = attention_of(state, batch, test_draw(state.config, 9, 0, 1, T, batch.tokens), 0);
  const auto calibration = read_calibration(state.config.scheme.choices["of"]);
  const SlotBiases& head = calibration.of(0, 0);
  REQUIRE_FALSE(head.empty());
  for (int i = 0; i < T; ++i) {
    bool sees = false;
    for (int j = 0; j < T; ++j) sees = sees || head.count(j - i);
    for (int j = 0; j < T && sees; ++j) CHECK((a.data()[i * T + j] > 0) == (head.count(j - i) > 0));
  }
  Program other(folder, fmt::format("train{} --set 'encoding={}' --set heads=4 --out {}", tiny_options(),
                                    state.config["encoding"], folder / "other"));
  CHECK(other.status() == 2);
  CHECK(holds(other.output(), "calibrated has biases for 2 layers of 2 heads, but the model has --layers 2"));
}

TEST_CASE("runs with different lists of biases have different names, each on one line") {
  std::string list = "calibrated:of=";
  for (int h = 1; h <= 20; ++h) list += fmt::format("1.{} -1:0.5 0:0.25 ", h);
  const Values one = values_of(configure({{"task", "even_pairs"}, {"encoding", list + "1.21 0:1"}})),
               two = values_of(configure({{"task", "even_pairs"}, {"encoding", list + "1.21 0:2"}}));
  const Naming naming({one, two});
  CHECK(naming.name(one) != naming.name(two));
  CHECK(naming.name(one).rfind("encoding=calibrated:of=1.1 -1:0.5 0:0.25", 0) == 0);
  CHECK(naming.name(one).size() < 100);
  CHECK(shortened("alibi:symmetric") == "alibi:symmetric");
}
