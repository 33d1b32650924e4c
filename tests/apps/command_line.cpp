// The commands and their options are declared when they are asked for, not when the program starts.
#include "apps/command_line.h"

#include <doctest/doctest.h>

#include "apps/refuse.h"

using namespace poslab;

namespace {

size_t options_of(const CLI::App& program, const char* command) {
  return poslab::options_of(*program.get_subcommand(command)).size();
}

}  // namespace

TEST_CASE("command line: the command that is typed declares its options, and whoever searches all of them finds all") {
  CommandLine line;
  const char* words[] = {"poslab", "eval", "runs/r1"};
  CHECK(options_of(line.app(), "eval") < 3);  // --help alone
  REQUIRE(line.parse(3, words));
  CHECK(options_of(line.app(), "eval") > 5);
  CHECK(options_of(line.app(), "train") < 3);
  CHECK(commands_of(*line.app().get_subcommand("lm")).empty());

  const size_t of_eval = options_of(line.app(), "eval");
  CHECK(options_of(line.whole(), "train") > 20);
  CHECK(options_of(line.app(), "eval") == of_eval);  // not twice
  CHECK(commands_of(*line.app().get_subcommand("lm")).size() > 3);
}
