// The tasks and the encodings, described in words.
#include "lab/pages/report/run_about.h"
#include "lab/pages/report/sections.h"

namespace poslab::report {

json about(const std::vector<Group>& groups) {
  std::vector<std::string> tasks, encodings;
  for (const Group& g : groups) {
    if (g.has("chance")) tasks.push_back(g.task);
    for (const Line& line : g.lines) encodings.push_back(line.first().encoding);
  }
  return about_section(tasks, encodings);
}

}  // namespace poslab::report
