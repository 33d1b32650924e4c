// The one vocabulary of all retrieval tasks as symbols, and the parts of their contexts.
#pragma once
#include <string>
#include <vector>

#include "tasks/retrieval/retrieval.h"
#include "tasks/retrieval/words.h"

namespace poslab::symbols {

// A name is one symbol of 4096. A number is one to four digits of base 16, and each place has its own digit
// symbols, as "twelve hundred" and "twelve" are different words. Filler carries no information.
constexpr int base = 16, digits = 4, fillers = 16;
enum Symbol : int {
  pad, end, ask, record, line, topic, document, passkey,      // `end` ends an answer
  filler,
  digit = filler + fillers,
  name = digit + base * digits,
  vocabulary = name + names
};

// Tokens as people read them: "line brave-harbor a4 b11".
std::string written(const std::vector<int>& tokens);
// The reverse of written(); "." is the first filler. Throws BadInput for a word that is not a symbol.
std::vector<int> read(const std::string& text);

using Tokens = std::vector<int>;
Tokens number(int digits, Rng&);
void add(Tokens&, const Tokens& more);
void add_filler(Tokens&, int count, Rng&);       // drawn uniformly
// Repeats the same symbols, like the sentences of the published passkey task.
void add_cycle(Tokens&, int count);

// The index, among n things, of the one with the answer.
int answer_index(int n, Place, Rng&);
double place_of(int chosen, int n);              // 0 for the first, 1 for the last

}  // namespace poslab::symbols

namespace poslab {

// `count` different numbers below `below`, in random order.
std::vector<int> different(int count, int below, Rng&);

}  // namespace poslab
