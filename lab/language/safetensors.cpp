#include "lab/language/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/checksum.h"
#include "core/error.h"
#include "lab/files.h"

namespace poslab {
namespace {

using json = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

struct Mapped {
  std::shared_ptr<const char> at;
  uint64_t size;
};

Mapped map_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) bad_input("{}: {}; the folder of a checkpoint has it", path, std::strerror(errno));
  struct stat about {};
  void* at = MAP_FAILED;
  if (::fstat(file, &about) == 0 && about.st_size > 0)
    at = ::mmap(nullptr, size_t(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (at == MAP_FAILED) failure("{} cannot be mapped into memory ({} bytes); copy it anew", path, about.st_size);
  const size_t size = size_t(about.st_size);
  return {std::shared_ptr<const char>(static_cast<const char*>(at),
                                      [size](const char* p) { ::munmap(const_cast<char*>(p), size); }),
          size};
}

int bytes_of_number(const std::string& dtype) {
  static const std::map<std::string, int> sizes = {{"F64", 8},     {"I64", 8},     {"U64", 8}, {"F32", 4}, {"I32", 4},
                                                   {"U32", 4},     {"BF16", 2},    {"F16", 2}, {"I16", 2}, {"U16", 2},
                                                   {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"I8", 1},  {"U8", 1},  {"BOOL", 1}};
  const auto found = sizes.find(dtype);
  return found == sizes.end() ? 0 : found->second;
}

}  // namespace

StoredTensors map_safetensors(const std::string& path) {
  const Mapped file = map_file(path);
  uint64_t length = 0;
  if (file.size < 8) failure("{} is cut off after {} bytes; fetch it again", path, file.size);
  std::memcpy(&length, file.at.get(), 8);
  if (length > file.size - 8)
    failure("{} is cut off, or no safetensors file: its header has {} bytes and {} are there; fetch it again", path,
            length, file.size - 8);
  const char* begin = file.at.get() + 8;
  const json header = json::parse(begin, begin + length, nullptr, false);
  if (!header.is_object()) bad_input("{} is no safetensors file: its header is no JSON object", path);
  const char* numbers = begin + length;
  const uint64_t held = file.size - 8 - length;
  StoredTensors all;
  uint64_t last = 0;
  for (const auto& [name, about] : header.items()) {
    if (name == "__metadata__") continue;
    StoredTensor t{.file = file.at, .path = path};
    uint64_t from = 0, to = 0;
    try {
      t.dtype = about.at("dtype"), t.shape = about.at("shape").get<Shape>();
      from = about.at("data_offsets").at(0), to = about.at("data_offsets").at(1);
    } catch (const json::exception&) { failure("{} is damaged: it says of {}: {}", path, name, about.dump()); }
    uint64_t bytes = uint64_t(bytes_of_number(t.dtype));
    for (const int n : t.shape) bytes *= uint64_t(n);
    if (bytes == 0 || to < from || to - from != bytes)
      failure("{} is damaged: {} is {} {} in bytes {} to {}", path, name, t.dtype, to_string(t.shape), from, to);
    last = std::max(last, to);
    t.at = numbers + from;
    all.emplace(name, std::move(t));
  }
  if (last != held)
    failure("{} is cut off: its header tells of {} bytes of weights, and {} are there; fetch it again", path, last,
            held);
  return all;
}

StoredTensors map_weights(const std::string& folder) {
  const std::string single = folder + "/model.safetensors", index = folder + "/model.safetensors.index.json";
  if (!std::filesystem::exists(index)) {
    if (!std::filesystem::exists(single))
      bad_input(
          "{} has neither model.safetensors nor model.safetensors.index.json; save the model in this form "
          "(transformers: save_pretrained)",
          folder);
    return map_safetensors(single);
  }
  const json all = json::parse(read_file(index), nullptr, false);
  if (!all.is_object() || !all.value("weight_map", json()).is_object())
    bad_input("{} has no object \"weight_map\", which says where each tensor is", index);
  StoredTensors tensors;
  std::set<std::string> files;
  for (const auto& [name, file] : all["weight_map"].items()) {
    if (!file.is_string() || file.get<std::string>().find('/') != std::string::npos)
      bad_input("{}: \"{}\" is said to be in {}; a file of the same folder has it", index, name, file.dump());
    if (!files.insert(file).second) continue;
    for (auto& [its, tensor] : map_safetensors(folder + "/" + file.get<std::string>())) {
      if (all["weight_map"].value(its, json()) != file)
        bad_input("{} has a tensor {} that the index does not name there", tensor.path, its);
      tensors.emplace(its, tensor);
    }
  }
  for (const auto& [name, file] : all["weight_map"].items())
    if (!tensors.count(name))
      bad_input("{} has no tensor {}, and the index names it there", file.get<std::string>(), name);
  return tensors;
}

std::string weights_checksum(const StoredTensors& all) {
  Checksum sum;
  for (const auto& [name, t] : all) {
    sum.add(name.data(), name.size());
    sum.add(t.at, size_t(size_of(t.shape)) * size_t(bytes_of_number(t.dtype)));
  }
  return sum.digits();
}

StoredMatrix matrix_of(const std::string& name, const StoredTensor& t) {
  StoredMatrix m{.rows = t.shape.size() == 1 ? 1 : t.shape[0], .columns = t.shape.back(), .keep = t.file};
  if (t.dtype == "BF16")
    m.as = StoredAs::bfloat16;
  else if (t.dtype == "F16")
    m.as = StoredAs::float16;
  else if (t.dtype != "F32")
    bad_input("{}: {} is stored as {}; poslab computes with F32, BF16 and F16, so save the model as one of these",
              t.path, name, t.dtype);
  m.at = t.at;
  const size_t each = size_t(bytes_of(m.as));
  if (reinterpret_cast<uintptr_t>(t.at) % each) {  // the form does not forbid it, and nobody writes it
    const size_t bytes = each * size_t(m.rows) * size_t(m.columns);
    auto copy = std::make_shared<std::vector<float>>(bytes / sizeof(float) + 1);
    std::memcpy(copy->data(), t.at, bytes);
    m.at = copy->data(), m.keep = copy;
  }
  return m;
}

std::string safetensors_bytes(const std::vector<NamedTensor>& tensors) {
  json header = {{"__metadata__", {{"format", "pt"}}}};
  uint64_t at = 0;
  for (const NamedTensor& t : tensors) {
    const uint64_t end = at + uint64_t(t.values.size()) * 4;
    header[t.name] = {{"dtype", "F32"}, {"shape", t.values.shape()}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // numbers begin at a multiple of 8
  const uint64_t length = text.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  bytes += text;
  for (const NamedTensor& t : tensors) {
    const std::vector<real> values = t.values.values();
    const std::vector<float> narrow(values.begin(), values.end());
    bytes.append(reinterpret_cast<const char*>(narrow.data()), narrow.size() * 4);
  }
  return bytes;
}

}  // namespace poslab
