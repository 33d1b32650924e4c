// The sections of the page, in its order: each turns lines into HTML.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "lab/page/page.h"
#include "lab/report/lines.h"

namespace poslab::report {

// The charts of a page, as figures and as the data of its script.
struct Figures {
  nlohmann::json data = {{"charts", nlohmann::json::array()}};
  std::string show(const page::Chart&);
  std::string captioned(const page::Chart&, const std::string& words);   // below it its title, then these words
};

std::string mark(const Line&);                 // a dot in its color
std::string heading(const Group&);             // its task or text
// Of a row; a narrow page shows it as a list, each value with its name. kind: a class of page.css.
std::string cell(const char* name, const char* kind, const std::string& text);
// The mean of a line with each of its runs faint behind it, and the band from the lowest to the highest.
page::Curve with_seeds(const Line&, std::vector<page::Point> mean,
                       const std::function<std::vector<page::Point>(const Run&)>& of);
std::string title(const std::vector<Group>&);  // plain text
std::string reading(const Group&);             // what the numbers say, in words
std::string table(const std::vector<Group>&);
std::string about(const std::vector<Group>&);  // what is asked, and what the encodings do
page::Chart accuracy_chart(const Group&, const std::string& id);
std::string accuracy_caption(const Group&);
std::string paired_differences(const std::vector<Group>&);  // "" where no two lines have several seeds in common
page::Chart loss_chart(const Group&, const std::string& id, bool log);
std::string loss_caption(const Group&);
page::Chart training_accuracy_chart(const Group&, const std::string& id);
std::string configuration(const std::vector<Group>&, const std::string& out);

}  // namespace poslab::report
