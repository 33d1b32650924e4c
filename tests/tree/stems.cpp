// A test has its source's name: for each source STEM.cpp or STEM.cu of a layer there is tests/**/STEM.*, or a test that
// tests/tree/elsewhere.txt names with a reason.
#include <doctest/doctest.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/support/places.h"

namespace poslab::test {
namespace {

namespace fs = std::filesystem;

struct Elsewhere { std::string pattern, test; bool used = false; };

std::vector<Elsewhere> tested_elsewhere(const fs::path& top) {
  std::ifstream table(top / "tests/tree/elsewhere.txt");
  std::vector<Elsewhere> all;
  for (std::string line; std::getline(table, line);) {
    const size_t first = line.find(" | "), second = line.find(" | ", first + 1);
    if (line.empty() || line[0] == '#') continue;
    REQUIRE_MESSAGE(second != line.npos, line);
    all.push_back({line.substr(0, first), line.substr(first + 3, second - first - 3)});
  }
  return all;
}

// The stem of a test: test_papers.py tests papers.py.
std::string tested_stem(const fs::path& test) {
  const std::string stem = test.stem();
  return stem.starts_with("test_") ? stem.substr(5) : stem;
}

}  // namespace

TEST_CASE("each source has a test of the same name, or tests/tree/elsewhere.txt names its test") {
  const fs::path top = source_folder;
  std::set<std::string> stems;
  for (const auto& entry : fs::recursive_directory_iterator(top / "tests")) stems.insert(tested_stem(entry.path()));
  std::vector<Elsewhere> elsewhere = tested_elsewhere(top);
  int sources = 0;
  for (const char* layer : {"core", "autograd", "nn", "encodings", "tasks", "cuda", "experiment", "lab", "apps"})
    for (const auto& entry : fs::recursive_directory_iterator(top / layer)) {
      const fs::path kind = entry.path().extension();
      if (kind != ".cpp" && kind != ".cu") continue;
      ++sources;
      if (stems.count(entry.path().stem())) continue;
      const std::string name = fs::relative(entry.path(), top);
      const auto fits = [&](const Elsewhere& e) { return fnmatch(e.pattern.c_str(), name.c_str(), FNM_PATHNAME) == 0; };
      const auto found = std::find_if(elsewhere.begin(), elsewhere.end(), fits);
      CHECK_MESSAGE(found != elsewhere.end(), name, " has no test of its stem; write one, or name the test that has it "
                    "in tests/tree/elsewhere.txt");
      if (found != elsewhere.end()) found->used = true;
    }
  CHECK(sources > 400);
  for (const Elsewhere& e : elsewhere) {
    CHECK_MESSAGE(e.used, e.pattern, " in tests/tree/elsewhere.txt matches no source");
    CHECK_MESSAGE(fs::is_regular_file(top / e.test), e.test, " of tests/tree/elsewhere.txt is not there");
  }
}

TEST_CASE("tests are in the folder of their layer") {
  const auto is_file = [](const auto& entry) { return entry.is_regular_file(); };
  const fs::directory_iterator tests(fs::path(source_folder) / "tests"), end;
  CHECK(std::count_if(tests, end, is_file) <= 10);
}

}  // namespace poslab::test
