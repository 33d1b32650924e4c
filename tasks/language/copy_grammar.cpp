#include "tasks/language/copy_grammar.h"

#include <array>
#include <cmath>

#include "core/error.h"

namespace poslab {
namespace {

struct Shift {
  int by;
  double probability;
};
// Each shift alone is a permutation of the symbols, so that all of them stay equally likely.
constexpr std::array<Shift, 4> shifts = {{{1, 0.5}, {2, 0.25}, {3, 0.125}, {5, 0.125}}};
const double shift_entropy = 1.75 * std::log(2.);

// A text read token by token: its clauses so far, and the kind of token that comes next.
struct CopyReader {
  const CopyGrammar& g;
  std::vector<std::vector<int>> clauses{};  // their symbols; the last one may be unfinished
  enum { mark, address, symbol } now = mark;
  int from = 0;  // the clause that is copied, counted back; 0: none

  bool may_copy() const { return int(clauses.size()) >= g.back; }
  const std::vector<int>& copied() const { return clauses[clauses.size() - 1 - size_t(from)]; }
  int new_mark() const { return g.symbols; }
  int copy_mark() const { return g.symbols + 1; }
  int address_of(int k) const { return g.symbols + 1 + k; }

  void read(int token) {
    if (now == mark) {
      from = 0, now = token == copy_mark() ? address : symbol;
      clauses.emplace_back();
    } else if (now == address) {
      from = token - address_of(0), now = symbol;
    } else {
      clauses.back().push_back(token);
      if (int(clauses.back().size()) == g.clause) now = mark;
    }
  }

  std::vector<double> next() const {
    std::vector<double> p(size_t(g.vocabulary()), 0);
    const auto at = [&](int token) -> double& { return p[size_t(token)]; };
    if (now == mark) {
      at(copy_mark()) = may_copy() ? g.copies : 0;
      at(new_mark()) = 1 - at(copy_mark());
    } else if (now == address) {
      for (int k = 1; k <= g.back; ++k) at(address_of(k)) = 1. / g.back;
    } else if (from) {
      at(copied()[clauses.back().size()]) = 1;
    } else if (clauses.back().empty()) {
      for (int a = 0; a < g.symbols; ++a) at(a) = 1. / g.symbols;
    } else {
      for (const Shift& s : shifts) at((clauses.back().back() + s.by) % g.symbols) += s.probability;
    }
    return p;
  }
};

double entropy_of_mark(double p) { return p <= 0 || p >= 1 ? 0 : -p * std::log(p) - (1 - p) * std::log1p(-p); }

}  // namespace

void CopyGrammar::check() const {
  if (symbols < 6 || clause < 1 || back < 1 || !(copies >= 0 && copies <= 1))
    bad_input(
        "copy grammar: symbols {}, clause {}, back {}, copies {}; take at least 6 symbols, a clause of 1 symbol and "
        "1 clause to copy, and copies from 0 to 1",
        symbols, clause, back, copies);
}

std::vector<int> CopyGrammar::draw(int tokens, Rng& rng) const {
  check();
  CopyReader reader{*this};
  std::vector<int> text;
  while (int(text.size()) < tokens) {
    const std::vector<double> p = reader.next();
    double left = rng.uniform();
    int token = -1;
    for (int i = 0; i < vocabulary(); ++i)
      if (p[size_t(i)] > 0) {
        token = i;  // the last possible one takes what rounding leaves over
        left -= p[size_t(i)];
        if (left < 0) break;
      }
    text.push_back(token);
    reader.read(token);
  }
  return text;
}

std::vector<double> CopyGrammar::next(const std::vector<int>& text) const {
  check();
  CopyReader reader{*this};
  for (const int token : text) reader.read(token);
  return reader.next();
}

std::vector<double> CopyGrammar::least_losses(const std::vector<int>& text) const {
  check();
  CopyReader reader{*this};
  std::vector<double> all;
  for (const int token : text) {
    all.push_back(-std::log(reader.next()[size_t(token)]));
    reader.read(token);
  }
  return all;
}

double CopyGrammar::least_loss() const {
  check();
  const double p = copies, of_new = std::log(double(symbols)) + (clause - 1) * shift_entropy;
  return (entropy_of_mark(p) + (1 - p) * of_new + p * std::log(double(back))) / (clause + 1 + p);
}

double CopyGrammar::least_loss_within_clauses() const {
  check();
  const double p = copies, of_symbols = std::log(double(symbols)) + (clause - 1) * shift_entropy;
  return (entropy_of_mark(p) + of_symbols + p * std::log(double(back))) / (clause + 1 + p);
}

}  // namespace poslab
