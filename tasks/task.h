// A task is its answer: a pure function from an input string to an output string, plus the law that inputs are drawn
// from.
// Batching, padding with empty tokens, loss, masks, accuracy and baselines are written once for all, in tasks/batch.h.
// The authority is spec B.2 (Ruoss et al. 2023; Deletang et al. 2023 and their released code).
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/choices.h"
#include "core/random.h"

namespace poslab {

using Tokens = std::vector<int>;

class Task {
 public:
  virtual ~Task() = default;
  virtual std::string name() const = 0;          // "reverse_string", as --task takes it
  virtual std::string level() const = 0;         // "regular", "context_free", "context_sensitive"
  virtual std::string summary() const = 0;       // one line for `poslab list tasks`
  virtual std::string about() const { return {}; }   // at most five lines for `poslab explain task` and for pages
  virtual int symbols_in() const = 0;            // without the "empty" class that the model interface adds
  virtual int symbols_out() const = 0;
  virtual int output_length(int length) const = 0;         // slots of the answer to an input of that length
  virtual Tokens input(Rng&, int length) const;            // uniform over the alphabet unless overridden
  // Another draw from the same law, with the same number of each symbol: the same content in another order (spec,
  // finding 4). All orders are equally likely unless overridden.
  virtual Tokens shuffled(const Tokens& input, Rng&) const;
  virtual Tokens answer(const Tokens& input) const = 0;    // the definition: answer(1 0 1) = 1 0 1 1 0 1
  // How many slots of an answer count for accuracy: all, or up to and including the first terminator (spec B.1).
  virtual int scored_slots(const Tokens& answer) const { return int(answer.size()); }

  // How people write inputs. The symbols: digits, unless some are operators, brackets or actions.
  virtual std::vector<std::string> alphabet() const;
  virtual std::string form() const;                        // "any string of 0 1"; what follows "inputs are"
  virtual bool fits(const Tokens& input) const { return true; }   // whether a string of its symbols has that form
};

std::string written_input(const Task&, const Tokens&);     // "(3-x)=4", "0 1 POP"; answers are digits
std::string written_answer(const Tokens&);
// The input that `text` spells; spaces and the case of letters do not count. Throws BadInput with what is allowed.
Tokens read_input(const Task&, const std::string& text);

// An input of `length` symbols and its answer, always the same ones: for explanations.
struct TaskExample { Tokens input, answer; };
TaskExample example(const Task&, int length = 8);

void shuffle(Tokens&, Rng&);                     // all orders equally likely

// An entry of the only list, tasks/all.cpp.
struct TaskEntry {
  std::string name, level, summary, about, source;
  std::vector<Option> options;
  std::function<std::unique_ptr<const Task>(const Choices&)> make;
};
const std::vector<TaskEntry>& all_tasks();       // in the order of the paper's table 1
// "duplicate_string:copies=3", made when it is first asked for and kept. Throws BadInput with did-you-mean.
const Task& task(const std::string& spelled);

}  // namespace poslab
