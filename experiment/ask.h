// A trained model asked about the user's own string: its symbol in each answer slot, its confidence, and its attention.
// Dropout is off. Positions are drawn as in range evaluation at the string's length; the first draw is the one for its
// first strings.
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
  Tokens input, expected, said;        // said: in each slot the symbol with the highest probability
  int scored;                          // the slots that count for accuracy, from the first on
  int symbols;                         // V
  std::vector<double> probability;     // (O, V), the mean over all draws of positions
  int draws;                           // 1 if the model reads nothing random
  double accuracy_per_draw;            // of a single draw, 0 to 1: the mean over draws
  std::map<int, std::string> other_words = {};  // the symbols among these V that no answer has, as they are written
  std::vector<std::string> reads = {};     // (O), the model's input in each answer slot; empty where all inputs are

  std::string word(int symbol) const;     // a digit, unless it is one of the others
  std::string written() const;            // the answer
  double confidence(size_t slot) const;   // the probability of the answer's symbol there
  int right() const;                   // how many of the counted slots
  double accuracy() const { return double(right()) / scored; }
};

// A trained run that is asked, as its learner gives it (experiment/learner.h). It needs the learner no longer.
struct Respondent {
  RunSpec config;     // of the run
  int64_t steps = 0;  // of its training
  int64_t parameters = 0;
  Device device = Device::cpu;
  Chosen<Sampler> positions;                       // under which it is asked
  Chosen<TemperaturePolicy> temperature;           // at which it is asked
  bool random = false;                             // whether another draw of positions can change an answer
  std::string note = {};                           // in the heading of its answers, after the positions
  std::function<Forward(int length)> forward;      // of an answer in one draw
  std::function<void(const Tokens& input)> check;  // BadInput as check_question()
  std::function<Answer(const Tokens& input, int draws)> ask;
  // Of one layer in the first draw, (H, T, T); row = query slot, column = key slot.
  std::function<Tensor(const Answer&, int layer)> attention;
};

// Steps shared by answers of all kinds. There are positions for so many places; BadInput as below if more are needed.
Batch posed(const RunSpec&, const Chosen<Sampler>&, int places, const Tokens& input);
std::vector<double> probabilities(const Tensor& logits);  // (O, V)
Tokens likeliest(const std::vector<double>& probabilities, int symbols);

// Of a run of strings. BadInput for a string that is too long for the run's positions (or for anybody: 10,000 symbols).
void check_question(const State&, const Tokens& input);
Answer ask(const State&, const Tokens& input, int draws = 1);

// The same question in one draw, and the model's attention. Absent members are as in range evaluation.
struct Asking {
  std::vector<double> positions = {};                          // of each slot: the input's, then the answer's
  std::optional<Chosen<TemperaturePolicy>> temperature = {};
  std::vector<std::pair<int, int>> silenced = {};              // layer and head, from 0, whose output is put to 0
};
struct Looked {
  Answer answer;
  int time;                            // T: slots of the input and of the answer
  std::vector<double> positions;       // (T) of layer 0; none of a table of offsets
  std::vector<real> attention;         // (L, H, T, T); row = query slot, column = key slot
};
// BadInput as check_question(), where positions are not one for each slot or not from a table that the model has
// learned, and for heads that it does not have.
Looked ask(const State&, const Tokens& input, const Asking&);

// The attention of one layer in the first draw, (H, T, T); row = query slot, column = key slot.
Tensor asked_attention(const State&, const Tokens& input, int layer);

// Whether another draw of positions at test can change an answer.
bool draws_positions(const RunSpec&);

}  // namespace poslab
