// The reports of language models and of T5s: the sections of their pages in place of a task's. A group is the runs that
// read one text, or learned one task.
#pragma once
#include "lab/pages/report/sections.h"

namespace poslab::report {

struct Measure {             // of a test
  const char *name, *label;  // of a column, of an axis
  const char* column;        // of eval.csv
  bool percent;
};
constexpr Measure measures[] = {{"accuracy", "accuracy", "accuracy", true},
                                {"loss", "loss (nats a token)", "loss", false},
                                {"bits per byte", "bits per byte", "bits_per_byte", false}};

bool repeats(const Row&);                                 // a text that says its beginning again and again
page::Chart against_length(const Group&, const Measure&, bool repeated, const std::string& id);
// At each line's longest length. Of the first two measures.
page::Chart by_position(const Group&, const Measure&, bool repeated, const std::string& id);
json language_document(const std::vector<Group>&, const std::string& out);
json t5_document(const std::vector<Group>&, const std::string& out);
// text,name,seed,folder, then the columns of eval.csv: a row for each of its rows, of every run.
std::string language_csv(const std::vector<Group>&);

}  // namespace poslab::report
