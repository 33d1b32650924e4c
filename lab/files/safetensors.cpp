#include "lab/files/safetensors.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <map>

#include "core/error.h"

namespace poslab {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");
constexpr uint64_t length_bytes = 8, longest_header = 100'000'000;  // the limit of the format's own library, in bytes
constexpr const char* metadata_key = "__metadata__";

template <class... Args>
[[noreturn]] void damaged(const std::string& path, const std::string& tensor, fmt::format_string<Args...> form,
                          Args&&... args) {
  failure("{} is damaged: the tensor {} {}; fetch or save the file again", path, tensor,
          fmt::format(form, std::forward<Args>(args)...));
}

Json header_of(std::string_view file, const std::string& path) {
  uint64_t length = 0;
  if (file.size() < length_bytes) failure("{} is cut off after {} bytes; fetch it again", path, file.size());
  std::memcpy(&length, file.data(), length_bytes);
  if (length > file.size() - length_bytes)
    failure("{} is cut off, or not a safetensors file: its header has {} bytes, but {} are there; fetch it again", path,
            length, file.size() - length_bytes);
  if (length > longest_header)
    bad_input("{} is not a safetensors file: its header has {} bytes, but the format allows only {}", path, length,
              longest_header);
  Json header = parse_json(file.substr(length_bytes, length), "the header of " + path);
  if (!header.is_object()) bad_input("{} is not a safetensors file: its header is not a JSON object", path);
  return header;
}

const Json& member(const Json& about, const char* key) {
  static const Json none;
  const auto found = about.is_object() ? about.find(key) : about.end();
  return found == about.end() ? none : *found;
}

TensorRecord record_of(const std::string& name, const Json& about, const std::string& path) {
  TensorRecord t;
  t.name = name;
  const Json &dtype = member(about, "dtype"), &shape = member(about, "shape"), &at = member(about, "data_offsets");
  if (!dtype.is_string() || !bytes_of_number(dtype.get<std::string>()))
    damaged(path, name, "has the unknown dtype {}", in_short(dtype));
  t.dtype = dtype.get<std::string>();
  if (!shape.is_array()) damaged(path, name, "has the shape {}, not a list of sizes", in_short(shape));
  for (const Json& size : shape) {
    const auto n = whole_number(size, INT_MAX);
    if (!n) damaged(path, name, "has the shape {}; sizes are whole numbers below 2^31", in_short(shape));
    t.shape.push_back(int(*n));
  }
  const auto from = at.is_array() && at.size() == 2 ? whole_number(at[0], UINT64_MAX) : std::nullopt;
  const auto to = from ? whole_number(at[1], UINT64_MAX) : std::nullopt;
  if (!to || *to < *from) damaged(path, name, "has the data_offsets {}, not two growing whole numbers", in_short(at));
  t.from = *from, t.to = *to;
  return t;
}

// Checks that a tensor's shape fills its bytes.
void check_size(const TensorRecord& t, const std::string& path) {
  const uint64_t there = t.to - t.from;
  uint64_t needed = uint64_t(bytes_of_number(t.dtype));
  const bool none = std::find(t.shape.begin(), t.shape.end(), 0) != t.shape.end();
  for (const int n : t.shape) needed = none ? 0 : needed > there / uint64_t(n) ? UINT64_MAX : needed * uint64_t(n);
  if (needed != there)
    damaged(path, t.name, "is {} {}, which does not fit its bytes {} to {}", t.dtype, to_string(t.shape), t.from,
            t.to);
}

}  // namespace

int bytes_of_number(const std::string& dtype) {
  static const std::map<std::string, int> sizes = {{"F64", 8},     {"I64", 8},     {"U64", 8}, {"F32", 4}, {"I32", 4},
                                                   {"U32", 4},     {"BF16", 2},    {"F16", 2}, {"I16", 2}, {"U16", 2},
                                                   {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"I8", 1},  {"U8", 1},  {"BOOL", 1}};
  const auto found = sizes.find(dtype);
  return found == sizes.end() ? 0 : found->second;
}

SafetensorsHeader read_safetensors(std::string_view file, const std::string& path) {
  SafetensorsHeader all;
  const Json header = header_of(file, path);
  std::memcpy(&all.numbers, file.data(), length_bytes);
  all.numbers += length_bytes;
  for (const auto& [name, about] : header.items()) {
    if (name != metadata_key)
      all.tensors.push_back(record_of(name, about, path));
    else if (about.is_object() && std::all_of(about.begin(), about.end(), [](const Json& x) { return x.is_string(); }))
      all.metadata = about;
    else
      failure("{} is damaged: its {} is {}, not strings by name; fetch or save the file again", path, name,
              in_short(about));
  }
  std::stable_sort(all.tensors.begin(), all.tensors.end(), [](const TensorRecord& a, const TensorRecord& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  const uint64_t held = file.size() - all.numbers;
  uint64_t at = 0;
  for (const TensorRecord& t : all.tensors) {
    if (t.to > held)
      failure(
          "{} is cut off: in its header the tensor {} ends after {} bytes of numbers, but only {} are there; fetch "
          "it again",
          path, t.name, t.to, held);
    check_size(t, path);
    if (t.from != at)
      damaged(path, t.name, "begins at byte {} of the numbers, but the one before it ends at {}", t.from, at);
    at = t.to;
  }
  if (at != held)
    failure("{} is damaged: its tensors end at byte {} of the numbers, but {} are there; fetch or save the file again",
            path, at, held);
  return all;
}

template <class Number>
std::string safetensors_bytes(const Json& metadata, const std::vector<NamedTensor>& tensors) {
  Json header = {{metadata_key, metadata}};
  uint64_t at = 0;
  for (const NamedTensor& t : tensors) {
    const uint64_t end = at + uint64_t(t.values.size()) * sizeof(Number);
    header[t.name] = {{"dtype", dtype_of<Number>()}, {"shape", t.values.shape()}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // numbers begin at a multiple of 8
  const uint64_t length = text.size();
  std::string bytes(length_bytes, '\0');
  bytes.reserve(length_bytes + length + at);
  std::memcpy(bytes.data(), &length, length_bytes);
  bytes += text;
  for (const NamedTensor& t : tensors) {
    const std::vector<real> values = t.values.values();
    const std::vector<Number> stored(values.begin(), values.end());
    bytes.append(reinterpret_cast<const char*>(stored.data()), stored.size() * sizeof(Number));
  }
  return bytes;
}
template std::string safetensors_bytes<float>(const Json&, const std::vector<NamedTensor>&);
template std::string safetensors_bytes<double>(const Json&, const std::vector<NamedTensor>&);

}  // namespace poslab
