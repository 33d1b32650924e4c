#include "lab/runs/curve.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace poslab {
namespace {

constexpr int max_lengths = 8, max_samples = 32;
constexpr double share = 0.015;  // of the products; long strings are slower, so this is 2 to 3 % of the time

// Products in one pass over a string of this length, up to a constant factor: for each slot the projections of
// attention and the feed-forward layer, for each pair of slots a logit and a weighted value.
double work(const RunSpec& c, int length) {
  const double n = slots(c, length);
  return n * ((4 + 2.0 * c.whole("ffn_multiplier")) * c.whole("d_model") + 2 * n);
}

double work_of_step(const RunSpec& c) {
  double mean = 0;
  for (int length = 1; length <= c.whole("train_length"); ++length) mean += work(c, length) / c.whole("train_length");
  return 3 * c.whole("batch") * mean;  // the backward pass costs twice the forward pass
}

}  // namespace

SmallTest small_test(const RunSpec& c) {
  const int64_t all = c.lengths("eval_lengths").to - c.lengths("eval_lengths").from + 1,
                parts = std::min<int64_t>(max_lengths, all);
  SmallTest t{{}, 0};
  double one = 0;
  for (int64_t part = 0; part < parts; ++part) {
    t.lengths.push_back(c.lengths("eval_lengths").from + int(all * (2 * part + 1) / (2 * parts)));
    one += work(c, t.lengths.back());
  }
  const double fits = share * double(c.count("test_every")) * work_of_step(c) / one;
  t.samples = int(std::clamp(fits, 1.0, double(std::min(max_samples, c.whole("eval_samples")))));
  return t;
}

SmallTests::SmallTests(const RunFolder& run, const Learner& learner) : learner_(learner) {
  const RunSpec& c = learner.config();
  if (!c.has("test_every") || c.count("test_every") == 0) return;
  test_ = small_test(c);
  const int64_t step = learner.adam().step;
  lines_.emplace(run, "tests.jsonl", step);
  must_reach(lines_->last(), step / c.count("test_every") * c.count("test_every"), run.file("tests.jsonl"));
}

bool SmallTests::due() const {
  if (!lines_) return false;
  const RunSpec& c = learner_.config();
  const int64_t step = learner_.adam().step;
  return step % c.count("test_every") == 0 || step == c.count("steps");
}

void SmallTests::test(std::optional<double> seconds) {
  std::vector<double> accuracies;
  double sum = 0, sum_beyond = 0;
  int beyond = 0;
  for (const int length : test_.lengths) {
    accuracies.push_back(learner_.accuracy_at(length, test_.samples));
    sum += accuracies.back();
    if (length > learner_.config().whole("train_length")) sum_beyond += accuracies.back(), ++beyond;
  }
  nlohmann::ordered_json line;
  line["step"] = learner_.adam().step;
  line["seconds"] = seconds ? nlohmann::json(*seconds) : nlohmann::json();
  line["accuracy"] = beyond ? sum_beyond / beyond : sum / double(accuracies.size());
  line["samples"] = test_.samples;
  line["lengths"] = test_.lengths;
  line["accuracies"] = accuracies;
  lines_->line(line.dump());
}

void SmallTests::sync() {
  if (lines_) lines_->sync();
}

}  // namespace poslab
