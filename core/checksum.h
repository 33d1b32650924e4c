// The checksum that identifies weights: 32-bit FNV-1a (Fowler, Noll, Vo), byte by byte.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace poslab {

struct Checksum {
  uint32_t hash = 0x811c9dc5;
  void add(const void* bytes, size_t count) {
    const auto* at = static_cast<const unsigned char*>(bytes);
    for (size_t n = 0; n < count; ++n) hash = (hash ^ at[n]) * 0x01000193;
  }
  std::string digits() const { return fmt::format("{:08x}", hash); }  // 8 hexadecimal digits
};

}  // namespace poslab
