// Tasks of finding something in a long context: the question comes after it, and the answer is a word or a number
// that the context says once. Each task has two forms. As symbols of one small vocabulary that all
// tasks share, it is learned by a model of a million parameters in minutes. As English text, in the published formats,
// it is a test of external checkpoints. The sources are in spec C.2.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/choices.h"
#include "core/random.h"

namespace poslab {

// The place of the answer: 0 at the beginning of the context, 1 at its end. Absent: drawn at random.
using Place = std::optional<double>;

struct SymbolQuestion {
  std::vector<int> tokens;                       // the context, then the question (tasks/retrieval/symbols.h)
  std::vector<int> answer;                       // without symbols::end
  double place = 0;                              // the answer's place in the context: 0 .. 1
};

struct TextQuestion {
  std::string prompt;
  std::vector<std::string> answers;              // one of them is enough
  double place = 0;
};

// An entry of the list in tasks/retrieval/all.cpp.
struct Retrieval {
  std::string name, summary, about, source;
  std::vector<Option> options;
  bool placed = true;                            // the answer may be anywhere; else a given place is ignored
  // A question of `length` tokens, at least 16. Throws BadInput for a length that the task does not have.
  std::function<SymbolQuestion(const Choices&, int length, Place, Rng&)> draw;
  // In English. A function of size, seed and place alone; throws BadInput for a size that the task does not have.
  std::string size;                              // the unit of size: "lines"
  std::function<TextQuestion(const Choices&, int size, uint64_t seed, Place)> write;
  // Whether a model's text answers the question, as the benchmark scores it.
  std::function<bool(const std::string& said, const std::vector<std::string>& answers)> right;
};
const std::vector<Retrieval>& all_retrievals();
constexpr int shortest_retrieval = 16;           // tokens

// "line:digits=3". Throws BadInput with did-you-mean.
Chosen<Retrieval> choose_retrieval(const std::string& spelled);
// "passkey/line": several, each named once. Throws BadInput.
std::vector<Chosen<Retrieval>> choose_retrievals(const std::string& spelled);

SymbolQuestion draw(const Chosen<Retrieval>&, int length, Place, Rng&);

}  // namespace poslab
