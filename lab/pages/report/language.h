// The sections of reports on language models and T5s, in place of a task's. A group consists of the runs on one text,
// or of one task.
#pragma once
#include "lab/pages/report/sections.h"

namespace poslab::report {

struct Measure {             // of a test
  const char *name, *label;  // name of a column or an axis
  const char* column;        // of eval.csv
  bool percent;
};
constexpr Measure measures[] = {{"accuracy", "accuracy", "accuracy", true},
                                {"loss", "loss (nats a token)", "loss", false},
                                {"bits per byte", "bits per byte", "bits_per_byte", false}};

bool repeats(const Row&);                                 // a text that repeats its beginning
page::Chart against_length(const Group&, const Measure&, bool repeated, const std::string& id);
// At each line's longest length; for the first two measures.
page::Chart by_position(const Group&, const Measure&, bool repeated, const std::string& id);
int tail_of(const Line&);                                 // the last tokens that its test counts; 0: all
std::string counted_tokens(const Group&);                 // "the last 16 tokens"
json language_document(const std::vector<Group>&, const std::string& out);
json t5_document(const std::vector<Group>&, const std::string& out);
// text,name,seed,folder, then the columns of eval.csv: a row for each of its rows, of every run.
std::string language_csv(const std::vector<Group>&);

}  // namespace poslab::report
