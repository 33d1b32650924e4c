// docs/spine.md: the files that one reads to understand how an encoder is trained. They are there, they are few, and
// what they include is named on the page. That these and no others make a program is for ./dev build spine to show.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/places.h"

namespace poslab::test {
namespace {

std::string text_of(const std::string& path) {
  const std::ifstream file(std::string(source_folder) + "/" + path);
  CHECK_MESSAGE(file.good(), path, " is not there");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Marks of the course (docs/course) say where a body begins and ends; they are not read.
int64_t lines_to_read(const std::string& text) {
  const std::regex mark("\n *// course [^\n]*");
  const std::sregex_iterator first(text.begin(), text.end(), mark);
  return std::count(text.begin(), text.end(), '\n') - std::distance(first, std::sregex_iterator());
}

std::set<std::string> all_in(const std::string& text, const char* pattern) {
  const std::regex form(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), form), end; at != end; ++at) found.insert((*at)[1]);
  return found;
}

}  // namespace

TEST_CASE("the spine is read in an afternoon, and names what it stands on") {
  const std::string page = text_of("docs/spine.md"), aside = "## What they stand on";
  const size_t middle = page.find(aside);
  REQUIRE(middle != page.npos);
  const std::set<std::string> read = all_in(page.substr(0, middle), R"(\]\(\.\./([a-z0-9_/]+\.(?:h|cpp|def))\))"),
                              skipped = all_in(page.substr(middle), "`([a-z0-9_/]+\\.h)`");
  CHECK(page.find(std::to_string(read.size()) + " files") != page.npos);
  std::set<std::string> included;
  int64_t lines = 0;
  for (const std::string& path : read) {
    const std::string text = text_of(path);
    lines += lines_to_read(text);
    included.merge(all_in(text, "#include \"([^\"]+)\""));
  }
  CHECK(lines < 3500);
  for (const std::string& path : included)
    CHECK_MESSAGE(read.count(path) + skipped.count(path) == 1, path, " is included; docs/spine.md has to name it once");
  for (const std::string& path : skipped)
    CHECK_MESSAGE(included.count(path), path, " is named, and nobody includes it");
  for (const std::string& path : all_in(page.substr(middle), "`([a-z0-9_/]+\\.cpp)`"))
    CHECK_MESSAGE(read.count(path) + text_of(path).empty() == 0, path, " is named twice, or is not there");
}

}  // namespace poslab::test
