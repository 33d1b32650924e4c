// The one vocabulary of all retrieval tasks as symbols, and what their contexts are made of.
#pragma once
#include <string>
#include <vector>

#include "tasks/retrieval/retrieval.h"

namespace poslab::symbols {

// A name is an adjective and a noun, so there are 64 x 64 of them; a number is some digits of base 16. Filler says
// nothing.
constexpr int adjectives = 64, nouns = 64, digits = 16, fillers = 16;
enum Symbol : int {
  pad, end, ask, record, line, topic, document, passkey,      // `end` ends an answer
  filler,
  digit = filler + fillers,
  adjective = digit + digits,
  noun = adjective + adjectives,
  vocabulary = noun + nouns
};

// As people read them: "line brave harbor 4 11".
std::string written(const std::vector<int>& tokens);
// The other way; "." is the first filler. Throws BadInput for a word that is no symbol.
std::vector<int> read(const std::string& text);

using Tokens = std::vector<int>;
Tokens name(int which);                          // of 0 .. 4095
Tokens number(int digits, Rng&);
void add(Tokens&, const Tokens& more);
void add_filler(Tokens&, int count, Rng&);       // drawn, each as likely
// The same symbols again and again, as the sentences of the published passkey task.
void add_cycle(Tokens&, int count);

// Which of n things has the answer.
int chosen_of(int n, Place, Rng&);
double place_of(int chosen, int n);              // 0 of the first, 1 of the last

}  // namespace poslab::symbols

namespace poslab {

// `count` different numbers below `below`, in random order.
std::vector<int> different(int count, int below, Rng&);

}  // namespace poslab
