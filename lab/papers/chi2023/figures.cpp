// The figures: biases of heads, quantiles of logits, temperatures against length.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "autograd/tape.h"
#include "encodings/picture.h"
#include "encodings/samplers.h"
#include "experiment/align.h"
#include "experiment/t5/inside.h"
#include "experiment/t5/learner.h"
#include "lab/pages/page/page.h"
#include "lab/papers/chi2023/chi2023.h"
#include "lab/papers/wording.h"
#include "lab/runs/run.h"

namespace poslab::reproduce::chi2023 {
namespace {

constexpr int first_seed = 0;

std::unique_ptr<t5::QuestionLearner> first_run(const Results& r, const std::string& model) {
  const std::string tested = r.trained().file(model, first_seed, own_test);
  if (!std::filesystem::exists(tested)) return {};
  return open_as<t5::QuestionLearner>(t5_kind(), std::filesystem::path(tested).parent_path()).learner;
}
const char* not_yet = "The model of this figure is not trained yet.";

constexpr int quantile_questions = 4;

// Of one task and length: quantiles of its logits against those of the normal distribution of the same variance.
void add_quantiles(Section& s, const t5::State& state, const std::string& task, int length) {
  constexpr int points = 41;
  const std::vector<double> sorted =
      sorted_logits(t5::probed(state, quantile_questions), length, points, quantile_questions);
  double variance = 0, off = 0;
  for (const double x : sorted) variance += x * x / points;
  const std::string title = fmt::format("{}, {} tokens", task, length);
  page::Chart chart = chart_of(fmt::format("quantiles-{}-{}", task, length), title,
                               "quantile of the normal distribution", "averaged sorted logit", 0, 0);
  page::Curve ours{"logits", 0, {}, {}}, normal{"y = x", page::Curve::baseline, {}, {}};
  for (int k = 0; k < points; ++k) {
    const double x = std::sqrt(variance) * normal_quantile((k + 0.5) / points), y = sorted[size_t(k)];
    ours.points.push_back({x, y}), normal.points.push_back({x, x});
    off += (y - x) * (y - x) / points / variance;
    s.data.rows.push_back({task, length, x, y});
    chart.x_low = std::min(chart.x_low, x), chart.x_high = std::max(chart.x_high, x);
    chart.y_low = std::min({chart.y_low, x, y}), chart.y_high = std::max({chart.y_high, x, y});
  }
  chart.curves = {normal, ours}, chart.unit = "quantile";
  s.readings.push_back(fmt::format("{}: standard deviation {:.2f}; {:.1f} % of the variance is off the line.", title,
                                   std::sqrt(variance), 100 * off));
  s.pictures.push_back(picture(chart, fmt::format("<b>{}.</b> On the line the logits are normal.", title)));
}

}  // namespace

Section biases(const Results& r) {
  Section s;
  s.data = {{"head", "distance", "bias"}, {}};
  const auto run = first_run(r, "t5");
  if (!run) {
    s.readings = {not_yet};
    return s;
  }
  const NoGrad still;
  const T5& net = run->state.net;
  const int reach = 160, T = 2 * reach + 1;  // beyond the last bucket, whose first distance is 91
  const Positions slots = Positions::of_tokens(1, even_steps(0, 1, T));
  const Tensor all = position_matrix(net.encoding(), net.spec().shape(false), slots);  // (H, T, T)
  page::Chart chart =
      chart_of("biases", "The bias of each head by distance", "key minus query, in tokens", "bias", -reach, reach);
  int near = 0, far = 0;
  for (int h = 0; h < all.dim(0); ++h) {
    page::Curve curve{fmt::format("head {}", h + 1), h, {}, {}};
    const real* row = all.data() + (int64_t(h) * T + reach) * T;
    for (int j = 0; j < T; ++j) {
      const double b = double(row[j]);
      curve.points.push_back({double(j - reach), b});
      chart.y_low = std::min(chart.y_low, b), chart.y_high = std::max(chart.y_high, b);
      s.data.rows.push_back({h + 1, j - reach, b});
    }
    const double around = (double(row[reach - 1]) + double(row[reach + 1])) / 2,
                 ends = (double(row[0]) + double(row[T - 1])) / 2;
    near += around > ends, far += around < ends;
    chart.curves.push_back(std::move(curve));
  }
  chart.unit = "distance";
  s.readings = {
      fmt::format("Heads that add more to the logits of neighbours than to those of far keys: {} of {}; less: {}.",
                  near, all.dim(0), far)};
  s.pictures = {picture(chart, "<b>One table for all layers of the encoder.</b> The first of the seeds.")};
  s.notes = {
      "The source shows two heads of Flan-T5-XL at query 7,500 of 15,000 tokens: one that prefers near keys and one "
      "that prefers far ones. Beyond the last bucket all keys of a side get the same bias."};
  return s;
}

Section quantiles(const Results& r) {
  Section s;
  s.data = {{"task", "length", "normal", "logit"}, {}};
  const std::vector<int> longer = r.setup().longer();
  for (const std::string& task : r.setup().tasks())
    if (const auto run = first_run(r, r.setup().model_of(task))) {
      run->state.config.set("tasks", task);
      for (const int length : {r.setup().length(), longer[std::min<size_t>(longer.size() - 1, 2)]})
        add_quantiles(s, run->state, short_task(task), length);
    }
  if (s.pictures.empty()) s.readings = {not_yet};
  s.notes = {
      fmt::format("Logits of the first layer, less their mean, sorted for each query and then averaged over queries "
                  "and heads, of {} questions; the first of the seeds. The source draws them at 512 and 15,000 "
                  "tokens of Flan-T5-XL.",
                  quantile_questions)};
  return s;
}

Section curves(const Results& r) {
  Section s;
  const Setup& setup = r.setup();
  s.data = {{"task", "rule", "length", "seeds", "temperature"}, {}};
  int lower = 0, compared = 0;
  for (const std::string& task : setup.tasks()) {
    const std::string name = short_task(task);
    page::Chart chart = chart_of("temperatures-" + name, "Temperature against length, " + name, "tokens", "temperature",
                                 setup.length(), setup.longer().back());
    chart.y_high = 1;
    chart.doubling = true;
    int color = 0;
    for (const Mode mode : {Mode::pmax, Mode::entropy, Mode::prop1, Mode::prop2}) {
      page::Curve curve{name_of(mode), color++, {{double(setup.length()), 1}}, {}};
      for (const int length : setup.longer()) {
        const BySeed ours = r.temperature({setup.model_of(task), task, mode, false}, length);
        if (ours.empty()) continue;
        curve.points.push_back({double(length), mean(ours)});
        s.data.rows.push_back({name, name_of(mode), length, ours.size(), mean(ours)});
        if (mode != Mode::prop1 && mode != Mode::prop2) continue;
        const Mode of = mode == Mode::prop1 ? Mode::pmax : Mode::entropy;
        if (const BySeed algorithm = r.temperature({setup.model_of(task), task, of, false}, length); !algorithm.empty())
          ++compared, lower += mean(ours) < mean(algorithm);
      }
      chart.curves.push_back(std::move(curve));
    }
    page::Curve rule{"log rule", page::Curve::baseline, {{double(setup.length()), 1}}, {}};
    for (const int length : setup.longer()) {
      rule.points.push_back({double(length), log_rule(setup.length(), length)});
      s.data.rows.push_back({name, "log rule", length, nullptr, log_rule(setup.length(), length)});
    }
    chart.curves.push_back(std::move(rule));
    s.pictures.push_back(picture(chart, fmt::format("<b>{}.</b> Mean over the seeds.", page::headed(name))));
  }
  s.readings = {
      fmt::format("The propositions, from the first layer alone, give lower temperatures than algorithm 1 in {} of "
                  "{} cells; in the source they do in all, as its first layer is flatter than the others.",
                  lower, compared)};
  s.notes = {
      "Where no temperature reaches the maximum probability of the short inputs, proposition 1 gives the one that "
      "comes nearest."};
  return s;
}

}  // namespace poslab::reproduce::chi2023
