// A type has one definition in the whole program. If two headers define types of the same name, the program links
// without an error, and uses one definition for both.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>

#include "tests/support/places.h"

using namespace poslab;
namespace fs = std::filesystem;

TEST_CASE("no two headers define a type of the same name in the same namespace") {
  const std::regex space("^namespace ([a-zA-Z0-9_:]+) \\{.*"),
      type("^(?:struct|class|union|enum class|enum) (?:alignas\\(\\w+\\) )?(\\w+)(?: final)?(?: : [^;{]*)? \\{.*");
  std::map<std::string, std::string> defined;
  for (const char* floor :
       {"core", "cuda", "autograd", "encodings", "nn", "tasks", "experiment", "lab", "apps", "bench", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(test::source_folder) / floor)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cuh") continue;
      std::ifstream file(entry.path());
      std::string line, inside;
      for (std::smatch part; std::getline(file, line);)
        if (std::regex_match(line, part, space)) inside = part[1];
        else if (std::regex_match(line, part, type)) {
          std::string& first = defined[inside + "::" + part[1].str()];
          INFO(inside << "::" << part[1].str() << " in " << first << " and in " << entry.path().string());
          CHECK(first.empty());
          first = entry.path().string();
        }
    }
  CHECK(defined.count("poslab::Tensor") == 1);
  CHECK(defined.size() > 100);
}
