// The only list of artifacts. A new one is a function that draws it, and an entry here.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "core/names.h"
#include "lab/papers/artifact.h"
#include "lab/papers/chi2023/chi2023.h"
#include "lab/papers/gap_shift/gap_shift.h"
#include "lab/papers/ladder/ladder.h"
#include "lab/papers/ruoss2023/ruoss2023.h"
#include "lab/papers/su2023/su2023.h"

namespace poslab::reproduce {
namespace {

using namespace ruoss2023;

std::string source_of(const std::string& name) { return name.substr(0, name.find(':')); }

}  // namespace

const std::vector<Artifact>& all_artifacts() {
  static const std::vector<Artifact> list = {
      {"ruoss2023:table1", "Accuracy on unseen lengths, every encoding",
       "Ruoss et al. (2023), table 1. The paper trains to length 40, tests on 41 to 500, and prints the best of 10 "
       "seeds and 3 learning rates; what is trained and tested here stands below the tables.",
       of_table1},
      {"ruoss2023:table2", "What a training step costs",
       "Ruoss et al. (2023), table 2: running times for each task and encoding.", of_table1, nullptr, nullptr, false,
       false},
      {"ruoss2023:table3", "Sorted against unsorted positions",
       "Ruoss et al. (2023), table 3: randomized sin/cos, with its positions sorted and in random order.", of_table3},
      {"ruoss2023:table4", "Accuracy on unseen lengths, mean and spread over seeds",
       "Ruoss et al. (2023), table 4: mean and standard deviation over seeds, for the best learning rate.", of_table1},
      {"ruoss2023:table5", "Randomized positions against geometric attention",
       "Ruoss et al. (2023), table 5: the best of table 1 beside geometric attention with directional encoding "
       "(Csordas et al. 2022).",
       of_table5},
      {"ruoss2023:signs", "Does each difference have the paper's sign?",
       "Ruoss et al. (2023), table 1: randomized against plain positions, for each task and encoding.", of_table1},
      {"ruoss2023:chosen", "The same, chosen at other lengths than it is tested at",
       "Not in the paper, which prints the best of 30 runs on the tested lengths: here the run is chosen just past the "
       "trained lengths.",
       of_table1},
      {"ruoss2023:fig2", "Short strings with randomized positions against long strings",
       "Ruoss et al. (2023), figure 2: test accuracy against training time, trained to length 40 with randomized "
       "relative positions and to length 500 with plain ones.",
       of_fig2, nullptr, nullptr, false, false, nullptr, curves},
      {"ruoss2023:fig3", "How large the pool of positions should be",
       "Ruoss et al. (2023), figure 3: randomized relative positions from pools of several sizes, Reverse String and "
       "Missing Duplicate.",
       of_fig3, nullptr, nullptr, false, true, nullptr, usual},
      {"ruoss2023:fig4", "Accuracy against length",
       "Ruoss et al. (2023), figure 4: every task and encoding, with the training range marked.", of_table1},
      {"ruoss2023:fig5", "Where activations lie at a trained and an unseen length",
       "Ruoss et al. (2023), figure 5: the first two principal components of every layer, fitted at length 40 and "
       "applied at 150, Reverse String.",
       of_inside, nullptr, nullptr, false, false, nullptr, clouds},
      {"ruoss2023:fig6", "Where the model looks at a trained and an unseen length",
       "Ruoss et al. (2023), figure 6: the maximum over heads of every layer's attention at lengths 40 and 150, "
       "Reverse String.",
       of_inside, nullptr, nullptr, false, false, nullptr, maps},
      {"ruoss2023:coverage", "Which positions and distances training has met",
       "Ruoss et al. (2023), section 3: plain positions of longer strings are out of distribution; randomized ones lie "
       "within what was sampled in training.",
       nullptr, nullptr, nullptr, false, true, nullptr, ruoss2023::coverage},
      {"ruoss2023:code", "The paper against its released code",
       "Not in the paper: the released code differs from the text in several places; each is trained both ways.",
       of_code, nullptr, nullptr, false, true, nullptr, choices},
      {"ruoss2023:claims", "What the paper claims, and whether it holds here",
       "Ruoss et al. (2023), abstract and sections 1 and 4: each claim as a difference that must be above zero, over "
       "paired seeds.",
       of_claims, nullptr, nullptr, false, true, nullptr, usual},
      {"gap_shift:gaps", "What changes with the length: the gaps between neighbours",
       "Randomized positions keep the positions of longer strings in distribution, not how far neighbours are apart.",
       nullptr, nullptr, nullptr, false, true, nullptr, gap_shift::gaps},
      {"gap_shift:grid", "Accuracy by length and by gap",
       "Models that were trained with uniform random positions, tested with positions of a given mean gap, at trained "
       "lengths and beyond.",
       gap_shift::of_uniform, nullptr, nullptr, false, true, nullptr, gap_shift::grid, "gaps.json"},
      {"gap_shift:first", "Which comes first, the gap or the length?",
       "Longer strings of uniform random positions have smaller gaps. Here one of the two changes at a time.",
       gap_shift::of_uniform, nullptr, nullptr, false, true, nullptr, gap_shift::first, "gaps.json"},
      {"gap_shift:matched", "Matching the gaps in training",
       "The same models trained with samplers that have small gaps too, against uniform sampling, beyond the trained "
       "lengths.",
       gap_shift::of_matched, nullptr, nullptr, false, true, nullptr, gap_shift::matched, "gaps.json"},
      {"ladder:plan", "What was registered before the first training",
       "Candidates, opponents and predictions, as lab/papers/ladder/ladder.toml has them.", nullptr, nullptr, nullptr,
       false, false, ladder::about},
      {"ladder:chosen", "First stage: every candidate and every opponent",
       "Three seeds. Candidates are chosen just past the trained lengths, each task's and one for all.",
       ladder::first_stage, nullptr, nullptr, false, true, ladder::about},
      {"ladder:verdict", "Second stage: is it above the best of tables 1 and 5?",
       "What the first stage chose, trained again on ten fresh seeds and judged on longer strings.",
       ladder::first_stage, nullptr, ladder::second_stage, false, true, ladder::about},
      {"chi2023:table1", "Attention disperses over long inputs",
       "Chi, Fan and Rudnicky (2023), table 1: maximum probability and entropy of Flan-T5's encoder at 512 and 15,000 "
       "tokens.",
       nullptr, chi2023::source},
      {"chi2023:table2", "The same with RoPE, ALiBi and learned positions",
       "Chi, Fan and Rudnicky (2023), table 2, lists which models have which encoding, and says that T5's is the one "
       "that retrieves from far away. Here one model is trained with each.",
       nullptr, chi2023::source},
      {"chi2023:table3", "Perplexity against length",
       "Chi, Fan and Rudnicky (2023), table 3: language modelling at 1,024 to 15,000 tokens.", nullptr,
       chi2023::source},
      {"chi2023:table4", "Retrieval against length",
       "Chi, Fan and Rudnicky (2023), table 4: topic, line and passkey retrieval, without training for the length.",
       nullptr, chi2023::source},
      {"chi2023:table5", "The temperatures",
       "Chi, Fan and Rudnicky (2023), table 5: what algorithm 1 finds for each task and length.", nullptr,
       chi2023::source},
      {"chi2023:table6", "Lost in the middle",
       "Chi, Fan and Rudnicky (2023), tables 4 and 6: answers among many documents, by the place of the right one.",
       nullptr, chi2023::source},
      {"chi2023:table7", "The largest logit",
       "Chi, Fan and Rudnicky (2023), table 7: it is nearly the same at both lengths, which the propositions assume.",
       nullptr, chi2023::source},
      {"chi2023:fig1", "The biases of heads",
       "Chi, Fan and Rudnicky (2023), figure 1: one head of T5 prefers near keys, another far ones.", nullptr,
       chi2023::source},
      {"chi2023:fig2", "Are logits normal?",
       "Chi, Fan and Rudnicky (2023), figure 2: averaged sorted logits of the first layer against the normal "
       "distribution.",
       nullptr, chi2023::source},
      {"chi2023:fig3", "Temperature against length",
       "Chi, Fan and Rudnicky (2023), figures 3 to 5: algorithm 1, the propositions and the log rule.", nullptr,
       chi2023::source},
      {"chi2023:propositions", "The propositions against simulation",
       "Chi, Fan and Rudnicky (2023), section 6: rows of normal logits and one largest logit.", nullptr,
       chi2023::source},
      {"chi2023:cross", "Does sharper attention add to randomized positions?",
       "Not in the source: its temperatures, and others', on the tasks and the positions of Ruoss et al. (2023), which "
       "names flattening attention as the failure it leaves open; and what a longer string changes, one thing at a "
       "time.",
       chi2023::of_cross, nullptr, nullptr, true, true, nullptr, chi2023::cross, "cross.json"},
      {"su2023:main", "Ways to longer texts, on one trained model",
       "Su (2023), first table: next-token accuracy at the trained length and at 8 times it, on texts that are "
       "repeated and on texts that are long.",
       nullptr, su2023::source},
      {"su2023:window", "How wide the window of ReRoPE should be",
       "Su (2023), second table: windows of an eighth of the trained length to all of it.", nullptr, su2023::source},
      {"su2023:leaky", "ReRoPE against Leaky ReRoPE",
       "Su (2023), third table: distances that go on in steps of 1/k beyond the window, all with log n trained.",
       nullptr, su2023::source},
      {"su2023:llama", "The loss of a decoder of LLaMA's shape",
       "Su (2023), fourth table: the loss of Llama 2 13B on the last 4096 tokens, with these alone to read and with "
       "more. Here a small decoder of that shape stands in its place.",
       nullptr, su2023::source},
      {"su2023:methods", "Every method without training",
       "Each with log n off, at test only, and trained. The source has some of them; others came before or after it.",
       nullptr, su2023::source},
      {"su2023:trained", "What must be trained",
       "Su (2023) and parts 14 and 15 of his series: models trained for longer texts, beside NoPE, ALiBi and "
       "randomized positions (Ruoss et al. 2023).",
       nullptr, su2023::source},
      {"su2023:lengths", "Accuracy against length",
       "Not in the source: what stands between the two lengths of its tables.", nullptr, su2023::source},
      {"su2023:far", "At 32 times the trained length",
       "Not in the source, which ends at 8 times, and has ReRoPE for any length: ReRoPE beside what is stretched to 32 "
       "times.",
       nullptr, su2023::source},
      {"su2023:matrices", "Six matrices of relative positions",
       "Su (2023): RoPE, position interpolation, Leaky ReRoPE and ReRoPE; beside them SelfExtend and T5.", nullptr,
       su2023::source},
      {"su2023:claims", "What the source claims, and whether it holds here",
       "Su (2023): each claim as a difference that must be above zero, over paired seeds.", nullptr, su2023::source},
  };
  return list;
}

std::string source_title(const Artifact& a) {
  static const std::map<std::string, std::string> titles = {
      {"compare", "Positional encodings side by side"},  // lab/compare
      {"ruoss2023", "Randomized positional encodings boost length generalization of transformers (Ruoss et al. 2023)"},
      {"chi2023",
       "Attention alignment and flexible positional embeddings improve transformer length extrapolation (Chi, Fan and "
       "Rudnicky 2023)"},
      {"ladder", "A ladder above tables 1 and 5 of Ruoss et al. 2023 (an experiment of poslab)"},
      {"gap_shift", "The gap shift of randomized positions (an experiment of poslab)"},
      {"su2023", "ReRoPE: rectified rotary position embeddings (Su 2023)"}};
  return titles.at(source_of(a.name));
}

std::vector<const Artifact*> artifacts(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  std::set<std::string> wholes;
  for (const Artifact& a : all_artifacts()) {
    if (wholes.insert(source_of(a.name)).second) names.push_back(source_of(a.name) + ":all");
    names.push_back(a.name);
  }
  std::vector<const Artifact*> chosen;
  for (const std::string& word : words) {
    const size_t before = chosen.size();
    for (const Artifact& a : all_artifacts())
      if (a.name == word || (!a.apart && (word == source_of(a.name) || word == source_of(a.name) + ":all")))
        chosen.push_back(&a);
    if (chosen.size() != before) continue;
    std::vector<std::string> alike;  // "table1" of each source, those named before first
    for (const Artifact& a : all_artifacts())
      if (a.name.ends_with(":" + word))
        alike.insert(
            std::find(words.begin(), words.end(), source_of(a.name)) != words.end() ? alike.begin() : alike.end(),
            a.name);
    if (!alike.empty()) bad_input("unknown artifact \"{}\"; did you mean {}?", word, fmt::join(alike, " or "));
    throw BadInput(unknown("artifact", word, names));
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace poslab::reproduce
