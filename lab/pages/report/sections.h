// The sections of the page, in its order: each turns lines into HTML.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/pages/page/page.h"
#include "lab/pages/report/lines.h"

namespace poslab::report {

// The charts of a page, as figures and as the data of its script.
struct Figures {
  nlohmann::json data = {{"charts", nlohmann::json::array()}};
  std::string show(const page::Chart&);
  std::string captioned(const page::Chart&, const std::string& words);  // below it its title, then these words
  // The loss of training on a linear axis and on a logarithmic one; the page shows one. The ids of the charts:
  // loss and log, with `suffix` appended.
  std::string losses(const Group&, const std::string& suffix, const std::string& caption);
};

std::string mark(const Line&);      // a dot in its color
std::string heading(const Group&);  // its task or text
// Of a row; a narrow page shows it as a list, each value with its name. kind: a class of page.css.
std::string cell(const char* name, const char* kind, const std::string& text);
// The mean of a line with each of its runs faint behind it, and the band from the lowest to the highest.
page::Curve with_seeds(const Line&, std::vector<page::Point> mean,
                       const std::function<std::vector<page::Point>(const TestedRun&)>& of);
std::string title(const std::vector<Group>&);  // plain text
std::string reading(const Group&);             // the numbers in words
double best_baseline(const Line&);             // the mean of the best baseline at each unseen length
std::string table(const std::vector<Group>&);
std::string about(const std::vector<Group>&);  // tasks and encodings, described
page::Chart accuracy_chart(const Group&, const std::string& id);
std::string accuracy_caption(const Group&);
std::string paired_differences(const std::vector<Group>&);  // "" where no two lines have several seeds in common
page::Chart loss_chart(const Group&, const std::string& id, bool log);
std::string loss_caption(const Group&);
page::Chart training_accuracy_chart(const Group&, const std::string& id);
std::string training(const char* heading, const std::string& figures);  // with a choice of the axis of its losses
std::string configuration(const std::vector<Group>&, const std::string& out);

// A whole report: title and readings, the sections of `html`, the configuration. parts: title, readings, data (the JSON
// that scripts read), and what `html` names but for {{differences}}, which is filled in here. `script`: the page's own.
std::string report_page(const std::vector<Group>&, const std::string& out, std::string_view html,
                        std::map<std::string, std::string> parts, std::string_view script = "");

}  // namespace poslab::report
