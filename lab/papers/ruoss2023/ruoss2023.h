// What the artifacts of Ruoss et al. 2023 ("Randomized Positional Encodings Boost Length Generalization of
// Transformers") share: the eleven columns of its table 1, and the comparison of two settings beside the paper's.
#pragma once
#include "lab/papers/wording.h"

namespace poslab::reproduce::ruoss2023 {

// A column of table 1, in its order.
struct Column {
  std::string name, encoding, positions;
  std::string paper;  // column of paper/ruoss2023_table1.csv
  int color;          // of the palette: one for each scheme
};
const std::vector<Column>& columns();
inline const char* const out_of_order = "randomized:unsorted";
std::vector<Column> columns_of(const Outcomes&);  // those that its plan has
Which is(const std::string& task, const Column&);
std::vector<Line> of_columns(const std::vector<Column>&);  // in the .csv encoding and positions
Trials of_table1(const Choices&);                          // all tasks x these columns
Trials of_code(const Choices&);
// The pools of figure 3, as multiples of the preset's, which lie around it as 1024 to 8192 around the paper's 2048; its
// tasks, and what they are called in a sentence.
inline const std::vector<double> pool_factors = {0.5, 1, 2, 4};
inline const std::vector<std::pair<std::string, std::string>> pool_tasks = {
    {"reverse_string", "Reverse String"}, {"missing_duplicate_string", "Missing Duplicate"}};

// One setting against another on one task, in fractions.
struct Comparison {
  std::string task, what;  // "R-RoPE - RoPE"
  double paper;            // NaN: not in the paper
  Paired ours;
  bool whole;             // all runs of both are done
  std::string note = "";  // to stand below it
};
// Of two settings' summaries.
Comparison compare(const std::string& task, const std::string& what, double paper, const Summary& first,
                   const Summary& second);
// The comparisons as a table, and one sentence for each verdict: the paper's sign with an interval that excludes zero,
// the same sign only, or the opposite. Judged are comparisons with a difference of 2 points or more in the paper whose
// runs are all done. The paper's difference is one of bests, ours one of means.
Grid comparison_grid(const std::vector<Comparison>&, const std::string& caption);
std::vector<std::string> verdicts(const std::vector<Comparison>&, const std::string& winner, const std::string& loser);

// The artifacts, a file each or a few that belong together.
Section claims(const Outcomes&, const Choices&), signs(const Outcomes&, const Choices&),
    chosen(const Outcomes&, const Choices&);
Section table1(const Outcomes&, const Choices&), table2(const Outcomes&, const Choices&),
    table3(const Outcomes&, const Choices&), table4(const Outcomes&, const Choices&),
    table5(const Outcomes&, const Choices&), fig2(const Outcomes&, const Choices&),
    fig3(const Outcomes&, const Choices&), fig4(const Outcomes&, const Choices&), fig5(const Outcomes&, const Choices&),
    fig6(const Outcomes&, const Choices&), coverage(const Outcomes&, const Choices&),
    code(const Outcomes&, const Choices&);

}  // namespace poslab::reproduce::ruoss2023
