// The only list of exhibits. A new one is a function that draws it, and an entry here.
#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/names.h"
#include "lab/reproduce/exhibit.h"
#include "lab/reproduce/ruoss2023.h"

namespace poslab::reproduce {
namespace {

using namespace seed1;

Trials of_table3(const Config&) {
  return {{{"encoding", {"sincos"}}, {"positions", {"randomized"}}, {"unsorted", {"off", "on"}}}};
}

Trials of_table5(const Config&) {
  return {{{"encoding", {"sincos", "relative", "alibi", "rope", "learned"}}, {"positions", {"randomized"}}},
          {{{"encoding", {"geometric"}}, {"positions", {"sequential"}}}}};
}

// One run of each kind: its seed and learning rate are the first of the size's.
ValueLists one_run(const Config& defaults, const std::string& task, const std::vector<std::string>& positions) {
  return {{"task", {task}},
          {"encoding", {"relative"}},
          {"positions", positions},
          {"seed", {fmt::format("{}", defaults.seed)}},
          {"lr", {fmt::format("{}", defaults.lr)}}};
}

// The naive way trains to the longest length of the test.
Trials of_fig2(const Config& defaults) {
  ValueLists lists = one_run(defaults, "even_pairs", {"randomized"});
  lists["test_every"] = {fmt::format("{}", std::max<int64_t>(1, defaults.steps / 20))};
  return {lists,
          {{{"positions", {"sequential"}}, {"train_length", {fmt::format("{}", defaults.eval_lengths.to)}}}}};
}

// Four pools around that of the preset, as 1024 to 8192 lie around the paper's 2048.
Trials of_fig3(const Config& defaults) {
  std::vector<std::string> pools;
  for (const double factor : {0.5, 1., 2., 4.}) pools.push_back(fmt::format("{}", int(factor * defaults.max_position)));
  return {{{"task", {"reverse_string", "missing_duplicate_string"}},
           {"encoding", {"relative"}},
           {"positions", {"randomized"}},
           {"max_position", pools}}};
}

Trials of_inside(const Config& defaults) {
  return {one_run(defaults, "reverse_string", {"sequential", "randomized"})};
}

}  // namespace

const std::vector<Exhibit>& all_exhibits() {
  static const std::vector<Exhibit> list = {
      {"seed1:table1", "Accuracy on unseen lengths, every encoding",
       "Ruoss et al. (2023), table 1: mean accuracy over the lengths 41 to 500 after training to 40, best of 10 seeds "
       "and 3 "
       "learning rates.",
       of_table1, table1},
      {"seed1:table2", "What a training step costs",
       "Ruoss et al. (2023), table 2: running times for each task and encoding.", of_table1, table2},
      {"seed1:table3", "Sorted against unsorted positions",
       "Ruoss et al. (2023), table 3: randomized sin/cos whose sampled positions keep their order, and with the order "
       "lost.",
       of_table3, table3},
      {"seed1:table4", "Accuracy on unseen lengths, mean and spread over seeds",
       "Ruoss et al. (2023), table 4: mean and standard deviation over seeds, for the best learning rate.", of_table1,
       table4},
      {"seed1:table5", "Randomized positions against geometric attention",
       "Ruoss et al. (2023), table 5: the best of table 1 beside geometric attention with directional encoding "
       "(Csordas et al. "
       "2022).",
       of_table5, table5},
      {"seed1:fig2", "Short strings with randomized positions against long strings",
       "Ruoss et al. (2023), figure 2: test accuracy against training time, trained to length 40 with randomized "
       "relative "
       "positions and to length 500 with plain ones.",
       of_fig2, fig2},
      {"seed1:fig3", "How large the pool of positions should be",
       "Ruoss et al. (2023), figure 3: randomized relative positions from pools of several sizes, Reverse String and "
       "Missing "
       "Duplicate.",
       of_fig3, fig3},
      {"seed1:fig4", "Accuracy against length",
       "Ruoss et al. (2023), figure 4: every task and encoding, with the training range marked.", of_table1, fig4},
      {"seed1:fig5", "Where activations lie at a trained and an unseen length",
       "Ruoss et al. (2023), figure 5: the first two principal components of every layer, fitted at length 40 and "
       "applied at "
       "150, Reverse String.",
       of_inside, fig5},
      {"seed1:fig6", "Where the model looks at a trained and an unseen length",
       "Ruoss et al. (2023), figure 6: the maximum over heads of every layer's attention at lengths 40 and 150, "
       "Reverse String.",
       of_inside, fig6},
      {"seed1:coverage", "Which positions and distances training has met",
       "Ruoss et al. (2023), section 3: plain positions of longer strings are out of distribution; randomized ones lie "
       "within "
       "what was sampled in training.",
       nullptr, coverage},
      {"seed1:code", "The paper against its released code",
       "Not in the paper: the released code departs from the text in several places, each tried both ways.", of_code,
       code},
  };
  return list;
}

std::string source_title(const Exhibit& e) {
  static const std::map<std::string, std::string> titles = {
      {"seed1", "Randomized positional encodings boost length generalization of transformers (Ruoss et al. 2023)"}};
  return titles.at(e.name.substr(0, e.name.find(':')));
}

std::vector<const Exhibit*> exhibits(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const Exhibit& e : all_exhibits()) names.push_back(e.name);
  std::vector<const Exhibit*> chosen;
  for (const std::string& word : words) {
    const size_t before = chosen.size();
    for (const Exhibit& e : all_exhibits())
      if (e.name == word || word == e.name.substr(0, e.name.find(':')) + ":all") chosen.push_back(&e);
    if (chosen.size() == before) throw BadInput(unknown("exhibit", word, names) + "; or seed1:all");
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace poslab::reproduce
