// A zip has a header before each file, a directory at the end, and a last record that says where the directory is.
#include "lab/files/npz.h"

#include <fmt/ranges.h>
#include <zlib.h>

#include <bit>
#include <limits>
#include <new>

#include "core/error.h"

namespace poslab::inspect {
namespace {

static_assert(std::endian::native == std::endian::little, "npy is written as little-endian, and zip always is");

template <class... Fields>
std::string packed(Fields... fields) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&fields), sizeof fields), ...);
  return bytes;
}

const Bytef* start(const std::string& bytes) { return reinterpret_cast<const Bytef*>(bytes.data()); }

std::string deflated(const std::string& bytes) {
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)  // -15: without a header
    throw std::bad_alloc();
  std::string made(deflateBound(&z, bytes.size()), '\0');
  z.next_in = const_cast<Bytef*>(start(bytes)), z.avail_in = uInt(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(made.data()), z.avail_out = uInt(made.size());
  deflate(&z, Z_FINISH);
  made.resize(z.total_out);
  deflateEnd(&z);
  return made;
}

void check_size(size_t bytes) {  // half of the range of 32 bits, so that no sum overflows
  if (bytes > std::numeric_limits<uint32_t>::max() / 2)
    failure("npz: {} bytes, but a file holds at most 2 GB; ask for fewer runs or shorter strings", bytes);
}

}  // namespace

std::string npy(const Array& a) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", fmt::join(a.shape, ", "));
  const size_t before = 10;                                              // magic, version, length
  header.resize((before + header.size() + 64) / 64 * 64 - before, ' ');  // numbers start at a multiple of 64
  header.back() = '\n';
  return "\x93NUMPY" + packed(uint8_t(1), uint8_t(0), uint16_t(header.size())) + header +
         std::string(reinterpret_cast<const char*>(a.values.data()), a.values.size() * sizeof(float));
}

std::string npz(const std::vector<Array>& arrays) {
  if (arrays.size() > std::numeric_limits<uint16_t>::max())
    failure("npz: {} arrays, but a file holds at most 65,535; ask for fewer runs", arrays.size());
  std::string files, directory;
  for (const Array& a : arrays) {
    const std::string name = a.name + ".npy", whole = npy(a);
    check_size(whole.size()), check_size(files.size());
    const std::string body = deflated(whole);
    // version 2.0, name in UTF-8, deflated, midnight of 1980-01-01: equal arrays make equal files
    const std::string about = packed(uint16_t(20), uint16_t(1 << 11), uint16_t(8), uint16_t(0), uint16_t(1 << 5 | 1),
                                     uint32_t(crc32_z(0, start(whole), whole.size())), uint32_t(body.size()),
                                     uint32_t(whole.size()), uint16_t(name.size()), uint16_t(0));
    directory += "PK\1\2" + packed(uint16_t(20)) + about +
                 packed(uint16_t(0), uint16_t(0), uint16_t(0), uint32_t(0), uint32_t(files.size())) + name;
    files += "PK\3\4" + about + name + body;
  }
  check_size(files.size() + directory.size());
  const uint16_t n = uint16_t(arrays.size());
  return files + directory + "PK\5\6" +
         packed(uint16_t(0), uint16_t(0), n, n, uint32_t(directory.size()), uint32_t(files.size()), uint16_t(0));
}

}  // namespace poslab::inspect
