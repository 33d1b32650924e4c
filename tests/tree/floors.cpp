// Checks the map in docs/design.md: each folder depends only on folders below it.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/places.h"

namespace poslab::test {
namespace {

// The folders of the map, from the top down: the first link of each row.
std::vector<std::string> floors() {
  std::ifstream page(std::string(source_folder) + "/docs/design.md");
  const std::regex row(R"(^\| \[`([a-z_/]+)/`\].*)");
  std::vector<std::string> all;
  std::smatch found;
  for (std::string line; std::getline(page, line) && all.size() < 30;)
    if (std::regex_match(line, found, row)) all.push_back(found[1]);
  const auto last = std::find(all.begin(), all.end(), "core");
  REQUIRE(last != all.end());
  return {all.begin(), last + 1};
}

size_t floor_of(const std::string& path, const std::vector<std::string>& floors) {
  for (size_t i = 0; i < floors.size(); ++i)
    if (path.starts_with(floors[i] + "/")) return i;
  return floors.size();
}

}  // namespace

TEST_CASE("each folder of the map in docs/design.md includes only headers of those below it") {
  namespace fs = std::filesystem;
  const std::vector<std::string> map = floors();
  CHECK(map.size() == 16);
  const std::regex include("#include \"([^\"]+)\"");
  int seen = 0;
  for (size_t level = 0; level < map.size(); ++level)
    for (const auto& entry : fs::recursive_directory_iterator(std::string(source_folder) + "/" + map[level])) {
      const std::string kind = entry.path().extension();
      if (kind != ".cpp" && kind != ".h" && kind != ".cu" && kind != ".cuh") continue;
      std::ifstream file(entry.path());
      std::smatch found;
      for (std::string line; std::getline(file, line);) {
        if (!std::regex_search(line, found, include)) continue;
        const size_t there = floor_of(found[1], map);
        ++seen;
        CHECK_MESSAGE((there == map.size() || there >= level), entry.path().string(), " stands on ", found[1].str(),
                      ", which is above it in docs/design.md");
      }
    }
  CHECK(seen > 2000);
}

}  // namespace poslab::test
