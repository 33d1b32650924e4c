// Checks docs/spine.md, which explains how an encoder is trained: its files exist and are few, and it names their
// includes. ./dev build spine shows that these files alone make a program.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/support/places.h"

namespace poslab::test {
namespace {

std::string text_of(const std::string& path) {
  const std::ifstream file(std::string(source_folder) + "/" + path);
  CHECK_MESSAGE(file.good(), path, " is not there");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The number of lines before the part of a scheme that is for pages.
int64_t lines_to_read(const std::string& text) {
  return std::count(text.begin(), text.begin() + std::min(text.find("// -- for pages"), text.size()), '\n');
}

std::set<std::string> all_in(const std::string& text, const char* pattern) {
  const std::regex form(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), form), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

const char *const reading = R"(\]\(\.\./([a-z0-9_/]+\.(?:h|cpp|def))\))", *const aside = "## What they stand on";

}  // namespace

TEST_CASE("the spine has three stops: one op, one block, one training run") {
  const std::string page = text_of("docs/spine.md");
  for (const auto& [next, files] : {std::pair{"## Stop 2", 8}, {"## Stop 3", 20}, {"## One digit", 42}}) {
    const size_t end = page.find(next);
    REQUIRE(end != page.npos);
    CHECK_MESSAGE(all_in(page.substr(0, end), reading).size() == size_t(files), "files before ", next);
    CHECK(page.find(" " + std::to_string(files)) != page.npos);
  }
}

TEST_CASE("the path of a digit through the spine: few files before the first tensor, and one turn back") {
  const std::string page = text_of("docs/spine.md");
  const size_t begin = page.find("## One digit"), tensor = page.find("the first tensor", begin),
               turn = page.find("`backward`: the turn", begin), end = page.find(aside);
  REQUIRE((begin < tensor && tensor < turn && turn < end && end != page.npos));
  CHECK(all_in(page.substr(begin, tensor - begin), reading).size() <= 8);
  const std::string walk = page.substr(begin, end - begin);
  const std::regex link(reading);
  const auto links = std::distance(std::sregex_iterator(walk.begin(), walk.end(), link), std::sregex_iterator());
  CHECK_MESSAGE(all_in(walk, reading).size() == size_t(links), "a file of the walk is named twice: a second turn back");
}

TEST_CASE("the spine can be read in an afternoon, and names its foundations") {
  const std::string page = text_of("docs/spine.md");
  const size_t middle = page.find(aside);
  REQUIRE(middle != page.npos);
  const std::set<std::string> read = all_in(page.substr(0, middle), reading),
                              skipped = all_in(page.substr(middle), "`([a-z0-9_/]+\\.(?:h|def))`");
  CHECK(page.find(std::to_string(read.size()) + " files") != page.npos);
  std::set<std::string> included;
  int64_t lines = 0;
  for (const std::string& path : read) {
    const std::string text = text_of(path);
    lines += lines_to_read(text);
    included.merge(all_in(text, "#include \"([^\"]+)\""));
  }
  CHECK(lines <= 3000);
  for (const std::string& path : included)
    CHECK_MESSAGE(read.count(path) + skipped.count(path) == 1, path, " is included; docs/spine.md has to name it once");
  for (const std::string& path : skipped)
    CHECK_MESSAGE(included.count(path), path, " is named, but no file includes it");
  for (const std::string& path : all_in(page.substr(middle), "`([a-z0-9_/]+\\.cpp)`"))
    CHECK_MESSAGE(read.count(path) + text_of(path).empty() == 0, path, " is named twice, or is not there");
}

}  // namespace poslab::test
