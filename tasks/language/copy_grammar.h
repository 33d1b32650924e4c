// A made-up language with copies from far away, whose best possible loss is known. A text is clauses of n symbols:
//
//   new  a_1 ... a_n         a_1 uniform over A symbols; then a_t+1 = a_t + s mod A, s = 1, 2, 3, 5 with probability
//                            1/2, 1/4, 1/8, 1/8
//   copy k  a_1 ... a_n      the symbols of the clause k before this one, k uniform over 1 .. K
//
// After the first K clauses a clause is a copy with probability p. A model that knows this and sees the whole text
// reaches the loss, in nats per token in the long run,
//
//   [ H(p) + (1 - p) (ln A + (n - 1) h) + p ln K ] / (n + 1 + p),    h = 7/4 ln 2,  H(p) = -p ln p - (1-p) ln (1-p)
//
// and a model that sees only the newest clause pays for the symbols of copies as for new ones.
#pragma once
#include <vector>

#include "core/random.h"

namespace poslab {

struct CopyGrammar {
  int symbols = 16, clause = 14, back = 8;       // A, n, K
  double copies = 0.5;                           // p
  int vocabulary() const { return symbols + 2 + back; }   // the symbols, new, copy, k = 1 .. K
  void check() const;                            // throws BadInput: a number out of range

  std::vector<int> draw(int tokens, Rng&) const;          // a text from its beginning
  // The probability of each token after `text`, a beginning that draw() can have made: (vocabulary)
  std::vector<double> next(const std::vector<int>& text) const;
  // The loss of the best possible model at each token of the text: -ln of the token's probability by next()
  std::vector<double> least_losses(const std::vector<int>& text) const;
  double least_loss() const;                     // in the long run, nats a token
  double least_loss_within_clauses() const;      // for a model that sees only the newest clause
};

}  // namespace poslab
