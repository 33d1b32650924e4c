// A line has one curve, one row and one color on the page. Runs that differ only in the seed form one line.
#pragma once
#include <string>
#include <vector>

#include "lab/files/statistics.h"
#include "lab/pages/report/tested_run.h"

namespace poslab::report {

struct Line {
  std::string name;                    // by its differences from the others (lab/runs/naming.h)
  int color;                           // the same for all lines of this name (page::color_class)
  std::vector<const TestedRun*> runs;  // by rising seed, at least one run
  Results tested;                      // means over the runs, at their common tested lengths
  Results all;                         // as above, for all rows of eval.csv
  const TestedRun& first() const { return *runs.front(); }
  int train_length() const { return first().train_length; }
  int longest() const { return tested.back().length(); }
  int tail() const { return std::atoi(first().option("eval_tail").c_str()); }  // the last tokens that count; 0: all
  // Mean accuracy over the tested lengths low .. high; NaN if none was tested.
  double accuracy(int low, int high) const;
  double trained() const { return accuracy(first().shortest_trained, train_length()); }
  double unseen() const { return accuracy(train_length() + 1, longest()); }
  std::string seeds() const;  // "seeds 0 to 9"
};
struct Group {       // the lines of one task or text, which share charts
  std::string task;  // task or text; texts at one path also have their checksums
  std::vector<Line> lines;
  const Kind& kind() const { return *lines.front().first().kind; }
  bool has_seeds() const;  // whether some line has several
  bool has(const char* column) const { return lines.front().tested.front().has(column); }
};

std::vector<Group> by_task(const std::vector<TestedRun>&);  // runs of one kind; they must outlive the lines

bool same_tokens(const Line&, const Line&);  // for language models: if not, only bits per byte can be compared
bool same_test(const Line&, const Line&);    // for language models: the same tokens of the same windows count
bool lengths_differ(const Group&);           // whether their longest tested lengths differ

// One line against another on the unseen lengths that both were tested at, paired by seed; the better one first.
struct Difference {
  const Line *better = nullptr, *worse = nullptr;
  Paired paired;
  // They share seeds, tokens, the form of the test, and lengths that neither was trained on.
  bool comparable() const { return paired.seeds > 0; }
};
Difference difference(const Line&, const Line&);
// Differences between lines that differ in one option; without any, of all pairs, or of each line and the first if
// these are too many. The choice must not depend on scores, or intervals would be too narrow. The largest come first.
std::vector<Difference> differences(const Group&);

}  // namespace poslab::report
