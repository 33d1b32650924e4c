// Commands and their options are declared when they are needed, not at the start of the program.
#include "apps/command_line.h"

#include <doctest/doctest.h>

#include "apps/refuse.h"

using namespace poslab;

namespace {

size_t options_of(const CLI::App& program, const char* command) {
  return poslab::options_of(*program.get_subcommand(command)).size();
}

}  // namespace

TEST_CASE("command line: a typed command declares its options, and a search through all commands finds all options") {
  CommandLine line;
  const char* words[] = {"poslab", "eval", "runs/r1"};
  CHECK(options_of(line.app(), "eval") < 3);  // only --help
  REQUIRE(line.parse(3, words));
  CHECK(options_of(line.app(), "eval") > 5);
  CHECK(options_of(line.app(), "train") < 3);
  CHECK(commands_of(*line.app().get_subcommand("lm")).empty());

  const size_t of_eval = options_of(line.app(), "eval");
  CHECK(options_of(line.whole(), "train") > 20);
  CHECK(options_of(line.app(), "eval") == of_eval);  // not declared twice
  CHECK(commands_of(*line.app().get_subcommand("lm")).size() > 3);
}
