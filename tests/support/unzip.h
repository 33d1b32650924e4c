// The contents of a zip file that poslab wrote, read as the format's specification says.
#pragma once
#include <zlib.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

namespace poslab::test {

// The name and the contents of each file in a zip, from its directory. Throws if a checksum is wrong.
inline std::map<std::string, std::string> unzip(const std::string& bytes) {
  const auto u16 = [&](size_t at) {
    uint16_t v;
    return std::memcpy(&v, bytes.data() + at, 2), size_t(v);
  };
  const auto u32 = [&](size_t at) {
    uint32_t v;
    return std::memcpy(&v, bytes.data() + at, 4), size_t(v);
  };
  const auto must = [](bool right) {
    if (!right) throw std::logic_error("unzip: this is not a zip, or it is damaged");
  };
  std::map<std::string, std::string> files;
  must(bytes.size() >= 22);
  const size_t end = bytes.size() - 22;
  must(bytes.substr(end, 4) == "PK\5\6");
  size_t at = u32(end + 16);
  for (size_t n = u16(end + 10); n > 0; --n) {
    must(bytes.substr(at, 4) == "PK\1\2");
    const std::string name = bytes.substr(at + 46, u16(at + 28));
    const size_t local = u32(at + 42), body = local + 30 + u16(local + 26) + u16(local + 28);
    must(bytes.substr(local, 4) == "PK\3\4");
    must(bytes.substr(local + 30, name.size()) == name);
    std::string whole(u32(at + 24), '\0');
    z_stream z{};
    must(inflateInit2(&z, -15) == Z_OK);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + body)), z.avail_in = uInt(u32(at + 20));
    z.next_out = reinterpret_cast<Bytef*>(whole.data()), z.avail_out = uInt(whole.size());
    must(inflate(&z, Z_FINISH) == Z_STREAM_END);
    inflateEnd(&z);
    must(crc32_z(0, reinterpret_cast<const Bytef*>(whole.data()), whole.size()) == u32(at + 16));
    files[name] = whole;
    at += 46 + name.size();
  }
  must(at == end);
  return files;
}

}  // namespace poslab::test
