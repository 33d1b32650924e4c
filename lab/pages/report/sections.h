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

std::string heading(const Group&);                       // its task or text, as prose
std::string colored(const Line&);                        // its name in its color, as prose
json captioned(page::Chart, const std::string& words);        // a part, with its title and these words below
json named(const Line&, const std::string& below = "");  // a cell: the line's name, its color, a smaller second line
json row_of(const Line&, const Group*);  // the first cells of a row in any table; with a task or text if given
json columns_of(const char* group);      // their columns; "" for a table without the column of tasks or texts
// The mean of a line, with faint lines for its runs behind it, and the band from the lowest to the highest.
page::Curve with_seeds(const Line&, std::vector<page::Point> mean,
                       const std::function<std::vector<page::Point>(const TestedRun&)>& of);
std::string title(const std::vector<Group>&);  // plain text
std::string reading(const Group&);             // the text with the numbers
double best_baseline(const Line&);             // the mean of the best baseline at each unseen length
json table(const std::vector<Group>&);         // parts
page::Chart accuracy_chart(const Group&, const std::string& id);
std::string accuracy_caption(const Group&);
json paired_differences(const std::vector<Group>&);  // a section; null if no two lines have several seeds in common
page::Chart loss_chart(const Group&, const std::string& id);
std::string loss_caption(const Group&);
std::string smoothing_caption(const Group&, const char* single);  // the meaning of faint and strong curves
page::Chart training_accuracy_chart(const Group&, const std::string& id);
json configuration(const std::vector<Group>&, const std::string& out);  // a section

// A whole report: title, readings (paragraphs of prose) and notes, the sections of `markdown`. parts: those named in
// `markdown`, except the parts of all reports: about, differences, configuration.
json document_of(const std::vector<Group>&, const std::string& out, const std::string& title, json lead,
                 std::string_view markdown, std::map<std::string, json> parts);

}  // namespace poslab::report
