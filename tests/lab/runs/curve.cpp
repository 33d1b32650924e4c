// Tests during training: their strings, that they leave the run unchanged, and the seconds in pictures of them.
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "lab/runs/checkpoint.h"
#include "lab/runs/curve.h"
#include "lab/runs/training_clock.h"
#include "tests/lab/helpers.h"
#include "tests/lab/learners.h"

using namespace poslab;
using namespace poslab::test;
using nlohmann::json;

namespace {

std::vector<json> lines(const std::string& path) {
  std::vector<json> all;
  std::istringstream text(read_file(path));
  for (std::string line; std::getline(text, line);) all.push_back(json::parse(line));
  return all;
}

// Only the numbers: the header also has the configuration.
std::string weights(const State& s) {
  const std::string bytes = checkpoint_bytes(s);
  return bytes.substr(bytes.size() - 3 * size_t(s.params.count()) * sizeof(real));
}

}  // namespace

TEST_CASE("a test during training takes a range of lengths, and more strings if it is rarer") {
  const auto asked = [](const Settings& more) { return small_test(tiny_config(more)); };
  CHECK(asked({{"eval_lengths", "1:9"}}).lengths == std::vector<int>{1, 2, 3, 4, 6, 7, 8, 9});
  CHECK(asked({{"eval_lengths", "3:5"}}).lengths == std::vector<int>{3, 4, 5});
  const Settings paper = {{"preset", "paper"},    {"layers", "5"},        {"d_model", "64"},
                          {"batch", "128"},       {"train_length", "40"}, {"eval_lengths", "41:500"},
                          {"eval_samples", "500"}};
  const auto samples = [&](int64_t every, Settings more = {}) {
    more.emplace_back("test_every", fmt::format("{}", every));
    return asked(overlaid(all_choices(), paper, more)).samples;
  };
  const std::vector<int> lengths = asked(paper).lengths;
  CHECK(lengths == std::vector<int>{69, 127, 184, 242, 299, 357, 414, 472});
  CHECK(std::accumulate(lengths.begin(), lengths.end(), 0) / 8.0 == doctest::Approx((41 + 500) / 2.0).epsilon(.001));
  CHECK(samples(1) == 1);
  CHECK(samples(200) > 1);
  CHECK(samples(400) >= 2 * samples(200));
  CHECK(samples(400, {{"batch", "64"}}) == samples(200));
  CHECK(samples(1000000) == 32);
  CHECK(samples(1000000, {{"eval_samples", "5"}}) == 5);
}

TEST_CASE("tests during training: at their steps, the accuracies of the full test, and the same run as without tests") {
  const TemporaryFolder folder;
  const Settings settings = {{"eval_samples", "1"}, {"steps", "40"}, {"dropout", "0.1"}};
  State plain(tiny_config(settings)), tested(tiny_config(settings));
  tested.config.set("test_every", "7");
  const RunFolder without = RunFolder::create(folder / "without", plain),
                  with = RunFolder::create(folder / "with", tested);
  train(without, plain);
  train(with, tested);
  CHECK(weights(plain) == weights(tested));
  CHECK(read_file(without.file("metrics.jsonl")) == read_file(with.file("metrics.jsonl")));
  CHECK(!std::filesystem::exists(without.file("tests.jsonl")));

  const std::vector<json> all = lines(with.file("tests.jsonl"));
  REQUIRE(all.size() == 6);
  double before = 0;
  for (size_t i = 0; i < 6; ++i) {
    CHECK(all[i]["step"] == std::vector<int>{7, 14, 21, 28, 35, 40}[i]);
    CHECK(all[i]["lengths"] == json{1, 2, 3, 4, 6, 7, 8, 9});
    CHECK(all[i]["seconds"] > before);
    before = all[i]["seconds"];
    const auto& a = all[i]["accuracies"];  // trained up to length 6
    CHECK(all[i]["accuracy"].get<double>() ==
          doctest::Approx((a[5].get<double>() + a[6].get<double>() + a[7].get<double>()) / 3));
  }
  const std::vector<AtLength> full = evaluate(tested);
  for (size_t i = 0; i < 8; ++i)
    CHECK(all.back()["accuracies"][i] == full[size_t(all.back()["lengths"][i].get<int>() - 1)].accuracy);
}

TEST_CASE("the clock of training stops during tests, and continues from the last checkpoint") {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder / "r", State(tiny_config()));
  double saved = 0;
  {
    TrainingClock clock(run, 0);
    clock.pause();
    const double paused = *clock.seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(*clock.seconds() == paused);
    clock.resume();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(*clock.seconds() > paused);
    clock.save(10, {});
    saved = lines(run.file("clock.jsonl"))[0]["seconds"];
    CHECK(saved > paused);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    clock.save(20, {});  // as if the checkpoint of step 20 had not been written
  }
  {
    TrainingClock clock(run, 10);
    clock.pause();
    CHECK(*clock.seconds() >= saved);
    clock.save(20, {});
  }
  const std::vector<json> all = lines(run.file("clock.jsonl"));
  REQUIRE(all.size() == 2);
  CHECK(all[1]["step"] == 20);
  CHECK(TrainingClock(run, 20).seconds() >= all[1]["seconds"].get<double>());
  CHECK(!TrainingClock(run, 30).seconds());  // the seconds are unknown
}
