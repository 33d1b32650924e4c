// Words of a command line, one per line, which are only parsed. Words after `complete` begin another command, for which
// a shell wants completions.
#include "apps/command_line.h"

#include <sstream>

#include "apps/all_commands.h"
#include "apps/refuse.h"
#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

Target command_line() {
  return {.name = "command_line",
          .sources = {"apps/command_line.cpp", "apps/refuse.cpp", "apps/completion.cpp", "apps/typed_choices.cpp"},
          .read =
              [](const std::string& text) {
                static CommandLine line;
                Strings words{"poslab"};
                std::istringstream lines(text);
                for (std::string word; std::getline(lines, word, '\n');) words.push_back(word);
                if (words.size() > 1 && words[1] == "complete")
                  return complete({words.begin() + 2, words.end()}, line.whole());
                std::vector<const char*> argv;
                for (const std::string& word : words) argv.push_back(word.c_str());
                if (!line.parse(int(argv.size()), argv.data())) return;
                std::string name = "poslab";
                for (const CLI::App* c = &line.app(); !commands_of(*c).empty(); name += " " + c->get_name())
                  c = chosen_command(*c, name);
              },
          .seeds =
              [] {
                return Strings{"train\n--task\neven_pairs\n--encoding\nrope\n--steps\n10\n--out\nruns/r1",
                               "sweep\nrun\nplan.jsonl\n--out\nruns/s\n--jobs\n2\n--shard\n0/2",
                               "eval\nr1\n-o\nx.csv",
                               "lm\ngenerate\n--hf\nmodel\n--prompt\nhello\n--top-k=5",
                               "list\nencodings\nalibi",
                               "complete\ntrain\n--task\n",
                               "complete\nexplain\nal",
                               "version\n--numerics",
                               "--help"};
              },
          .words =
              [] {
                Strings all;
                CommandLine line;
                for (const CLI::App* c : commands_in_help(line.whole())) {
                  all.push_back(c->get_name() + "\n");
                  for (const std::string& name : options_of(*c)) all.push_back("\n" + name + "\n");
                  for (const std::string& name : commands_of(*c)) all.push_back("\n" + name + "\n");
                }
                return all;
              }};
}

}  // namespace poslab::fuzz
