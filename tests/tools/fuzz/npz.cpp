// Arrays for NumPy. poslab writes these files but does not read them, so the writer is fuzzed: names, shapes and
// numbers come from the bytes, and must be in the file.
#include "lab/files/npz.h"

#include <cstring>

#include "tests/support/unzip.h"
#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

Target npz() {
  return {.name = "npz",
          .sources = {"lab/files/npz.cpp"},
          .read =
              [](const std::string& bytes) {
                const size_t at = std::min(bytes.find('\n'), bytes.size()), rest = bytes.size() - at;
                inspect::Array a{bytes.substr(0, at), {int(rest / 4)}, std::vector<float>(rest / 4)};
                if (rest >= 4) std::memcpy(a.values.data(), bytes.data() + at, rest / 4 * 4);
                const auto files = test::unzip(inspect::npz({a, {"two", {1, 1}, {2}}}));
                check_law(files.size() == (a.name == "two" ? 1 : 2), "each array is a file");
                const std::string& npy = files.at(a.name + ".npy");
                const size_t numbers = npy.size() - (a.name == "two" ? 4 : rest / 4 * 4);
                check_law(numbers % 64 == 0 && npy[numbers - 1] == '\n', "numbers begin at a multiple of 64");
                check_law(a.name == "two" || npy.substr(numbers) == bytes.substr(at, rest / 4 * 4),
                          "the numbers are those of the array");
              },
          .seeds =
              [] {
                return Strings{"a/b\n" + std::string(12, '\1'), "\n", "one\n" + std::string(300, '\0')};
              }};
}

}  // namespace poslab::fuzz
