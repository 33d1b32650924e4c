// Arrays written for NumPy, read back by the description of the formats .zip and .npy.
#include "lab/files/npz.h"

#include <zlib.h>

#include <cstring>
#include <map>

#include "tests/lab_helpers.h"

using namespace poslab;
using namespace poslab::inspect;
using namespace poslab::test;

namespace {

// Name and contents of each file of a zip, by its directory; checksums must be right.
std::map<std::string, std::string> unzip(const std::string& bytes) {
  const auto u16 = [&](size_t at) {
    uint16_t v;
    return std::memcpy(&v, bytes.data() + at, 2), size_t(v);
  };
  const auto u32 = [&](size_t at) {
    uint32_t v;
    return std::memcpy(&v, bytes.data() + at, 4), size_t(v);
  };
  std::map<std::string, std::string> files;
  const size_t end = bytes.size() - 22;
  REQUIRE(bytes.substr(end, 4) == "PK\5\6");
  size_t at = u32(end + 16);
  for (size_t n = u16(end + 10); n > 0; --n) {
    REQUIRE(bytes.substr(at, 4) == "PK\1\2");
    const std::string name = bytes.substr(at + 46, u16(at + 28));
    const size_t local = u32(at + 42), body = local + 30 + u16(local + 26) + u16(local + 28);
    REQUIRE(bytes.substr(local, 4) == "PK\3\4");
    CHECK(bytes.substr(local + 30, name.size()) == name);
    std::string whole(u32(at + 24), '\0');
    z_stream z{};
    REQUIRE(inflateInit2(&z, -15) == Z_OK);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + body)), z.avail_in = uInt(u32(at + 20));
    z.next_out = reinterpret_cast<Bytef*>(whole.data()), z.avail_out = uInt(whole.size());
    CHECK(inflate(&z, Z_FINISH) == Z_STREAM_END);
    inflateEnd(&z);
    CHECK(crc32_z(0, reinterpret_cast<const Bytef*>(whole.data()), whole.size()) == u32(at + 16));
    files[name] = whole;
    at += 46 + name.size();
  }
  CHECK(at == end);
  return files;
}

}  // namespace

TEST_CASE("inspect: npz holds every array as NumPy writes it") {
  const std::vector<Array> arrays = {{"a/b", {2, 3}, {1, 2, 3, 4, 5, 6.5}}, {"one", {4}, std::vector<float>(4, 0)}};
  const std::string bytes = npz(arrays);
  CHECK(bytes == npz(arrays));  // no clock in it
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
