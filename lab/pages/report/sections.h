// The sections of the page, in order: each turns lines into parts of the page's document (lab/page/README.md).
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/pages/page/page.h"
#include "lab/pages/report/lines.h"

namespace poslab::report {

using page::json;

struct Measure {             // of a test
  const char *name, *label;  // name of a column or an axis
  const char* column;        // of eval.csv
  bool percent;
};
constexpr Measure measures[] = {{"accuracy", "accuracy", "accuracy", true},
                                {"loss", "loss (nats a token)", "loss", false},
                                {"bits per byte", "bits per byte", "bits_per_byte", false}};

std::string heading(const Group&);                       // its task or text, as prose
std::string colored(const Line&);                        // its name in its color, as prose
json captioned(page::Chart, const std::string& words);   // a part, with its title and these words below
json named(const Line&, const std::string& below = "");  // a cell: the line's name, its color, a smaller second line
// The first cells of a row in any table, with the task or text if there are several groups, and their columns.
json row_of(const Line&, const Group&, const std::vector<Group>&);
json columns_of(const std::vector<Group>&);
// A table with a row for each line: its name, and the cells of these columns.
struct Field {
  json column;
  std::function<json(const Line&)> cell;
};
json table_of_lines(const std::vector<Group>&, const std::vector<Field>&);

std::string title(const std::vector<Group>&);  // plain text
std::string reading(const Group&);             // the text with the numbers
double best_baseline(const Line&);             // the mean of the best baseline at each unseen length
json table(const std::vector<Group>&);         // parts

// For tasks, with their baselines; for other runs, the same as against_length().
page::Chart accuracy_chart(const Group&, const std::string& id);
std::string accuracy_caption(const Group&);
page::Chart loss_chart(const Group&, const std::string& id);
std::string loss_caption(const Group&);
page::Chart training_accuracy_chart(const Group&, const std::string& id);
std::string about_seeds(const Group&);                            // strong and faint curves, the band; "" without seeds
std::string smoothing_caption(const Group&, const char* single);  // the meaning of faint and strong curves
// Language models and T5s: tests of windows of tokens. repeated: texts that repeat their beginning.
bool repeats(const Row&);
page::Chart against_length(const Group&, const Measure&, bool repeated, const std::string& id);
page::Chart by_position(const Group&, const Measure&, bool repeated, const std::string& id);  // at the longest length
std::string counted_tokens(const Group&);                                                     // "the last 16 tokens"

json paired_differences(const std::vector<Group>&);  // a section; null if no two lines have several seeds in common
json configuration(const std::vector<Group>&, const std::string& out);  // a section

// A whole report: title, readings (paragraphs of prose), the sections of `markdown`. parts: those named in `markdown`,
// except the parts of all reports: about, differences, configuration.
json document_of(const std::vector<Group>&, const std::string& out, const std::string& title, json lead,
                 std::string_view markdown, std::map<std::string, json> parts);
json language_document(const std::vector<Group>&, const std::string& out);  // of language models and T5s
// text,name,seed,folder, then the columns of eval.csv: a row for each row of every run's eval.csv.
std::string language_csv(const std::vector<Group>&);

}  // namespace poslab::report
