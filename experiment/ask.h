// The answer of a trained model to a user's string: its symbol in each slot, its confidence, and its attention. Dropout
// is off. Positions are drawn as in range evaluation at the string's length: draw 0 is the draw of its first strings.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "encodings/temperature.h"
#include "experiment/footprint.h"
#include "experiment/state.h"
#include "tasks/batch.h"

namespace poslab {

struct Answer {
  Tokens input, expected, said;        // said: the most probable symbol of each slot
  int scored;                          // how many of the first slots count for accuracy
  int symbols;                         // V
  std::vector<double> probability;     // (O, V), the mean over all draws of positions
  int draws;                           // the number of draws; 1 if the model reads nothing random
  double accuracy_per_draw;            // share of right slots in a single draw, 0 to 1: the mean over draws
  std::map<int, std::string> other_words = {};  // words of symbols that are not written as their number
  std::vector<std::string> reads = {};     // (O), the model's input in each answer slot; empty if all are the same

  std::string word(int symbol) const;     // its entry in other_words, or its number
  std::string written() const;            // the answer
  double confidence(size_t slot) const;   // the probability of the answer's symbol in this slot
  int right() const;                   // the number of right slots among the scored ones
  double accuracy() const { return double(right()) / scored; }
};

// A trained run that answers. Its learner (experiment/learner.h) makes it, and need not outlive it.
struct Respondent {
  RunSpec config;     // options of the run
  int64_t steps = 0;  // steps of its training
  int64_t parameters = 0;
  Device device = Device::cpu;
  Chosen<Sampler> positions;                       // positions of the answers
  Chosen<TemperaturePolicy> temperature;           // temperature of the answers
  bool random = false;                             // whether answers depend on the draw of positions
  std::string note = {};                           // in the heading of its answers, after the positions
  std::function<Forward(int length)> forward;      // memory and time of an answer in one draw
  std::function<void(const Tokens& input)> check;  // throws BadInput as check_question() does
  std::function<Answer(const Tokens& input, int draws)> ask;
  // The attention of one layer in the first draw, (H, T, T); row = query slot, column = key slot.
  std::function<Tensor(const Answer&, int layer)> attention;
};

// Steps shared by answers of all kinds. The run has positions for `places` slots; throws BadInput, as check_question()
// does, if the string needs more.
Batch posed(const RunSpec&, const Chosen<Sampler>&, int places, const Tokens& input);
std::vector<double> probabilities(const Tensor& logits);  // (O, V)
Tokens likeliest(const std::vector<double>& probabilities, int symbols);

// Throws BadInput for a string that is too long for the run's positions, or beyond the limit of 10,000 symbols.
void check_question(const State&, const Tokens& input);
Answer ask(const State&, const Tokens& input, int draws = 1);

// The same question in one draw, and the model's attention. Absent members are as in range evaluation.
struct Asking {
  std::vector<double> positions = {};                          // position of each slot: the input's, then the answer's
  std::optional<Chosen<TemperaturePolicy>> temperature = {};
  std::vector<std::pair<int, int>> silenced = {};              // layer and head, from 0, whose output is set to 0
};
struct Looked {
  Answer answer;
  int time;                            // T: slots of the input and of the answer
  std::vector<double> positions;       // (T) of layer 0; empty for a table of offsets
  std::vector<real> attention;         // (L, H, T, T); row = query slot, column = key slot
};
// Throws BadInput as check_question(), for positions that are not one for each slot or not in the model's learned
// table, and for heads that the model lacks.
Looked ask(const State&, const Tokens& input, const Asking&);

// The attention of one layer in the first draw, (H, T, T); row = query slot, column = key slot.
Tensor asked_attention(const State&, const Tokens& input, int layer);

// Whether the answers depend on the draw of positions at test.
bool draws_positions(const RunSpec&);

}  // namespace poslab
