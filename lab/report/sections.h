// The sections of the page, in its order: each turns runs into HTML. `Group` is the runs of one task, which share
// charts.
#pragma once
#include <string>
#include <vector>

#include "lab/page/page.h"
#include "lab/report/run.h"

namespace poslab::report {

struct Member {
  const Run* run;
  int color;
};  // color: its place in the palette, one for the whole page
struct Group {
  std::string task;
  std::vector<Member> members;
};

std::string title(const std::vector<Group>&);  // plain text
std::string reading(const Group&);             // what the numbers say, in words
std::string table(const std::vector<Group>&);
std::string about(const std::vector<Group>&);  // what is asked, and what the encodings do
page::Chart accuracy_chart(const Group&, const std::string& id);
std::string accuracy_caption(const Group&);
page::Chart loss_chart(const Group&, const std::string& id, bool log);
std::string configuration(const std::vector<Group>&, const std::string& out);

}  // namespace poslab::report
