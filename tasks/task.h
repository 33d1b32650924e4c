// A task is its answer, a pure function from an input string to an output string, plus the distribution of its
// inputs. Batching, padding with empty tokens, loss, masks, accuracy and baselines are written once for all, in
// tasks/batch.h. The authority is spec B.2 (Ruoss et al. 2023; Deletang et al. 2023 and their released code).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/choices.h"
#include "core/random.h"

namespace poslab {

using Tokens = std::vector<int>;

// `completed` fills in members that are left out, as the comments say.
struct Task {
  std::string name = {}, level = {};             // "reverse_string"; "regular", "context_free", "context_sensitive"
  std::string summary = {};                      // one line for `poslab list tasks`
  std::string about = {};                        // at most five lines for `poslab explain task` and for pages
  std::string source = "Ruoss et al. 2023";
  std::vector<Option> options = {};              // options of a task with several forms; see `with`
  int symbols_in = 2, symbols_out = 2;           // without the "empty" class that the model interface adds
  std::function<int(int length)> output_length = {};                  // slots of the answer to an input of that length
  std::function<Tokens(const Tokens& input)> answer = {};             // the definition: answer(1 0 1) = 1 0 1 1 0 1
  // How many slots of an answer count for accuracy: all, or up to and including the first terminator (spec B.1).
  std::function<int(const Tokens& answer)> scored_slots = {};
  std::function<Tokens(Rng&, int length)> input = {};                 // uniform over the alphabet
  // Another draw of that distribution with the same number of each symbol: the same content in another order (spec,
  // finding 4). If left out, all orders are equally likely.
  std::function<Tokens(const Tokens& input, Rng&)> shuffled = {};

  // The notation of inputs for people.
  std::vector<std::string> alphabet = {};        // the symbols: digits, unless some are operators, brackets or actions
  std::string form = {};                         // "any strings of 0 1": continues "inputs are"
  std::function<bool(const Tokens& input)> fits = {};    // whether a string of symbols has that form; default: all do

  // The task with the chosen options: sets the members that depend on them.
  std::function<Task(Task, const Choices&)> with = {};
};
// Throws BadInput for a task without an answer, or with an alphabet of another size.
Task completed(Task);

// Common values of `output_length`.
inline int always_one(int) { return 1; }
inline int as_long_as_input(int length) { return length; }
Tokens uniform(Rng&, int length, int symbols);   // independent symbols 0 .. symbols - 1, all equally likely

std::string written_input(const Task&, const Tokens&);     // "(3-x)=4", "0 1 POP"; answers are digits
std::string written_answer(const Tokens&);
// The input that `text` spells; spaces and the case of letters do not count. Throws BadInput that lists valid input.
Tokens read_input(const Task&, const std::string& text);
constexpr size_t max_symbols = 10000;  // symbols: more take an hour to answer, and brackets are read recursively

// An input of `length` symbols and its answer, always the same ones: for explanations.
struct TaskExample { Tokens input, answer; };
TaskExample example(const Task&, int length = 8);

void shuffle(Tokens&, Rng&);                     // all orders equally likely

const std::vector<Task>& all_tasks();            // tasks/all.cpp, in the order of the paper's table 1
// "duplicate_string:copies=3", made on first use and kept. Throws BadInput with did-you-mean.
const Task& task(const std::string& spelled);

}  // namespace poslab
