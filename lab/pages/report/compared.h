// One model under several encodings at test, side by side: the loss at each length, and at each place of the
// longest windows.
#pragma once
#include <string>
#include <vector>

#include "experiment/results.h"
#include "lab/pages/page/document.h"
#include "lab/pages/report/lines.h"

namespace poslab::report {

struct ComparedRow {
  std::string set, where;    // "plain" or "repeated"; "16" tokens, or "tokens 9-16"
  std::vector<double> loss;  // nats a token for each encoding
};
struct Compared {
  std::vector<ComparedRow> lengths, places;
  int longest;  // the windows that the places belong to
};
// Tests at equal lengths. tail: eval_tail, the last tokens that count; 0: all.
Compared compared(const std::vector<const Results*>&, int tail);

// A column for each encoding: the loss, and in brackets the perplexity.
std::string compared_text(const Compared&, const std::vector<std::string>& names);  // for a terminal
page::json compared_tables(const std::vector<Group>&);                              // for a page

}  // namespace poslab::report
