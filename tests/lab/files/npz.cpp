// Arrays written for NumPy, read back as the specifications of .zip and .npy say.
#include "lab/files/npz.h"

#include <cstring>

#include "tests/lab/helpers.h"
#include "tests/support/unzip.h"

using namespace poslab;
using namespace poslab::inspect;
using namespace poslab::test;

TEST_CASE("inspect: npz holds every array as NumPy writes it") {
  const std::vector<Array> arrays = {{"a/b", {2, 3}, {1, 2, 3, 4, 5, 6.5}}, {"one", {4}, std::vector<float>(4, 0)}};
  const std::string bytes = npz(arrays);
  CHECK(bytes == npz(arrays));  // the file contains no time
  const auto files = unzip(bytes);
  REQUIRE(files.size() == 2);
  const std::string& a = files.at("a/b.npy");
  CHECK(a.substr(0, 8) == std::string("\x93NUMPY\1\0", 8));
  const size_t header = size_t(uint8_t(a[8])) + 256 * size_t(uint8_t(a[9]));
  CHECK((10 + header) % 64 == 0);
  CHECK(a[9 + header] == '\n');
  CHECK(a.substr(10, header).find("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3,), }") == 0);
  CHECK(holds(files.at("one.npy"), "'shape': (4,), }"));
  REQUIRE(a.size() == 10 + header + 24);
  float last = 0;
  std::memcpy(&last, a.data() + a.size() - 4, 4);
  CHECK(last == 6.5f);
}
