// A batch in parts (experiment/training_step.h) gives the losses and gradients of the whole batch, up to the order in
// which gradients are summed.
#include <doctest/doctest.h>

#include <cmath>

#include "experiment/language/learner.h"
#include "experiment/learner.h"
#include "tests/support/op_run.h"

namespace poslab::test {
namespace {

struct FiveSteps {
  std::vector<double> losses, norms, accuracies, weights;
};

FiveSteps five_steps(const Kind& kind, Settings settings, const char* parts) {
  settings.emplace_back("accumulate", parts);
  const auto source = std::make_shared<language::Source>();
  source->grammar = CopyGrammar{};
  const std::unique_ptr<Learner> l = kind.make(RunSpec(kind.configure(settings)), source);
  FiveSteps t;
  for (int n = 0; n < 5; ++n) {
    l->start(l->draw(n), nullptr);
    const StepResult r = l->finish();
    t.losses.push_back(r.loss), t.norms.push_back(r.grad_norm), t.accuracies.push_back(r.accuracy);
  }
  for (const Params::Entry& e : l->params().entries()) {
    const std::vector<real> w = e.tensor.values();
    t.weights.insert(t.weights.end(), w.begin(), w.end());
  }
  return t;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]) / std::max(1., std::abs(b[i])));
  return most;
}

}  // namespace

TEST_CASE("accumulate: a batch in parts gives the losses and weights of the whole batch, for all kinds") {
  const double same = sizeof(real) == 8 ? 1e-12 : 2e-5, steps_of_adam = sizeof(real) == 8 ? 1e-9 : 5e-3;
  const Settings task = {{"task", "reverse_string"}, {"d_model", "16"}, {"heads", "2"}, {"layers", "2"}, {"batch", "7"},
                         {"train_length", "6"}, {"eval_lengths", "1:6"}};
  const auto and_more = [](Settings all, const Settings& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Settings text = {{"text", "copy_grammar"}, {"layers", "2"},        {"d_model", "16"}, {"d_ff", "24"},
                         {"batch", "7"},           {"train_length", "16"}, {"eval_times", "1"}};
  struct Line { const char* name; const Kind& kind; Settings settings; };
  for (const Line& line :
       {Line{"strings", strings_kind(), and_more(task, {{"encoding", "rope"}, {"dropout", "0"}})},
        {"positions of each sequence", strings_kind(),
         and_more(task, {{"encoding", "relative"}, {"positions", "randomized"}, {"resample", "per_sequence"},
                         {"max_position", "64"}, {"dropout", "0"}})},
        {"llama", language_kind(), and_more(text, {{"heads", "2"}, {"repeats", "0.5"}})},
        {"packed documents", language_kind(), and_more(text, {{"heads", "2"}, {"documents", "packed"}})},
        {"gau", language_kind(), and_more(text, {{"unit", "gau"}, {"heads", "1"}})},
        {"t5", t5_kind(), {{"layers", "1"}, {"decoder_layers", "1"}, {"heads", "2"}, {"d_model", "16"}, {"d_ff", "24"},
                           {"tokens", "120"}, {"train_length", "24"}, {"eval_lengths", "24"}}},
        {"decoder", answering_kind(), and_more(task, {{"d_ff", "24"}, {"loss_on", "all"}})}}) {
    INFO(line.name);
    const FiveSteps whole = five_steps(line.kind, line.settings, "1");
    for (const char* parts : {"2", "3", "7"}) {
      INFO(parts << " parts");
      const FiveSteps cut = five_steps(line.kind, line.settings, parts);
      CHECK(largest_difference(cut.losses, whole.losses) < same);
      CHECK(largest_difference(cut.norms, whole.norms) < 100 * same);
      CHECK(cut.accuracies == whole.accuracies);
      CHECK(largest_difference(cut.weights, whole.weights) < steps_of_adam);
    }
  }
}

TEST_CASE("accumulate: with more parts than sequences each sequence is a part; the estimate is for one part") {
  const Settings task = {{"task", "reverse_string"}, {"encoding", "rope"}, {"batch", "4"}, {"train_length", "6"},
                         {"d_model", "16"}, {"heads", "2"}};
  CHECK(five_steps(strings_kind(), task, "100").losses == five_steps(strings_kind(), task, "4").losses);
  for (const Kind* kind : all_kinds()) {
    Settings s;
    if (kind->table().standard.has("task")) s.emplace_back("task", "reverse_string");
    if (*kind == strings_kind()) s.emplace_back("encoding", "rope");
    const Footprint whole = footprint(RunSpec(kind->configure(s)));
    s.emplace_back("accumulate", "4");
    const Footprint cut = footprint(RunSpec(kind->configure(s)));
    INFO(kind->name);
    CHECK(cut.step < 0.26 * whole.step);
    CHECK(cut.state == whole.state);
  }
}

}  // namespace poslab::test
