// The plan of a sweep: one line of JSON for each trial. An id is a checksum of the line's other fields, which random
// bytes would not match, so each line with a configuration first gets the right id.
#include "lab/runs/sweep/plan.h"

#include <sstream>

#include "lab/files/json.h"
#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

Target plan() {
  return {.name = "plan",
          .sources = {"lab/runs/sweep/plan.cpp", "lab/runs/values.cpp", "core/choices.cpp"},
          .read =
              [](const std::string& text) {
                std::string signed_lines, line;
                for (std::istringstream lines(text); std::getline(lines, line); signed_lines += line + "\n") {
                  Json trial = try_json(line);
                  if (!trial.is_object() || !trial.contains("id") || trial["id"] != "ID") continue;
                  Json config = trial;
                  const Json said = trial.value("command", Json("train"));
                  const std::string command = said.is_string() ? said.get<std::string>() : said.dump();
                  for (const char* key : {"id", "command", "name", "impossible"}) config.erase(key);
                  answered([&] { trial["id"] = sweep::trial_id(config_of(kind_of_command(command), config)); });
                  line = trial.dump();
                }
                const sweep::Plan plan = sweep::plan_of(signed_lines, "FILE");
                const std::string written = plan_lines(plan);
                check_law(plan_lines(sweep::plan_of(written, "FILE")) == written, "what is written reads back");
              },
          .seeds =
              [] {
                Strings all;
                for (const char* toml : {"task = ['even_pairs', 'parity_check']\nencoding = 'rope'\nname = '{task}'\n",
                                         "command = 'lm train'\nencoding = ['rope', 'alibi:symmetric']\n",
                                         "command = 't5 train'\nencoding = 't5'\n",
                                         "task = 'even_pairs'\nencoding = 'alibi'\nheads = [8, 5]\n"}) {
                  const sweep::Plan made = sweep::make_plan(std::string(toml), "FILE");
                  std::string lines = plan_lines(made);
                  for (const sweep::Trial& t : made) lines.replace(lines.find(t.id), t.id.size(), "ID");
                  all.push_back(lines);
                }
                return all;
              }};
}

}  // namespace poslab::fuzz
