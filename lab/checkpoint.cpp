#include "lab/checkpoint.h"

#include <fmt/format.h>
#include <zlib.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "lab/config_toml.h"

namespace poslab {
namespace {

using json = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

constexpr const char* dtype = sizeof(real) == 4 ? "F32" : "F64";
const std::string mark = "{\"__metadata__\":{\"crc32\":\"", zeros = "00000000";

struct Part {
  std::string name;
  Tensor tensor;
};

// In file order, which is that of the flat buffer.
std::vector<Part> parts(const State& s) {
  std::vector<Part> all;
  for (const auto& e : s.params.entries()) all.push_back({e.name, e.tensor});
  all.push_back({"adam.m", s.adam.m});
  all.push_back({"adam.v", s.adam.v});
  return all;
}

std::string crc(const std::string& bytes) {
  return fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// The header without its length and padding; the crc is still zeros.
std::string header_of(const State& s) {
  json header;
  header["__metadata__"] = {{"crc32", zeros},
                            {"format", checkpoint_format},
                            {"step", std::to_string(s.adam.step)},
                            {"seed", std::to_string(s.config.seed)},
                            {"config", to_toml(s.config)}};
  int64_t at = 0;
  for (const Part& p : parts(s)) {
    const int64_t end = at + p.tensor.size() * int64_t(sizeof(real));
    header[p.name] = {{"dtype", dtype}, {"shape", p.tensor.shape()}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // numbers start at a multiple of 8
  return text;
}

// Throws unless the bytes are what some checkpoint_bytes wrote.
void check_whole(std::string bytes, const std::string& path) {
  const std::string damaged = "is damaged; restore it from a copy, or train again";
  if (bytes.size() < 8 + mark.size() + 8) failure("{} {}: it is cut off after {} bytes", path, damaged, bytes.size());
  if (bytes.compare(8, mark.size(), mark) != 0)
    failure("{} {}: it does not begin like a checkpoint of poslab", path, damaged);
  const std::string said = bytes.substr(8 + mark.size(), 8);
  bytes.replace(8 + mark.size(), 8, zeros);
  if (const std::string is = crc(bytes); is != said)
    failure("{} {}: its checksum is {} and should be {}", path, damaged, is, said);
}

}  // namespace

std::string checkpoint_bytes(const State& s) {
  const std::string header = header_of(s);
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  bytes += header;
  for (const Part& p : parts(s)) {
    const std::vector<real> values = p.tensor.values();
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(real));
  }
  bytes.replace(8 + mark.size(), 8, crc(bytes));
  return bytes;
}

State checkpoint_state(const std::string& bytes, const std::string& path, const std::string& device) {
  check_whole(bytes, path);
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  const json header = json::parse(bytes.substr(8, length));
  const json& about = header["__metadata__"];
  if (about["format"] != checkpoint_format)
    bad_input("{} was written by another version of poslab (\"{}\"); this one reads \"{}\"", path,
              about["format"].get<std::string>(), checkpoint_format);
  if (header["adam.m"]["dtype"] != dtype)
    bad_input("{} holds {} numbers and this build computes with {}; use the other build", path,
              header["adam.m"]["dtype"].get<std::string>(), dtype);
  Config c = configure(read_toml(about["config"], path));
  if (!device.empty()) c.device = device;
  State s(c);
  s.adam.step = std::stoll(about["step"].get<std::string>());
  const char* from = bytes.data() + 8 + length;
  for (const Part& p : parts(s)) {
    if (!header.contains(p.name) || header[p.name]["shape"] != p.tensor.shape())
      bad_input("{} has no tensor {} of shape {}: another version of poslab wrote it", path, p.name,
                to_string(p.tensor.shape()));
    std::vector<real> values(size_t(p.tensor.size()));
    std::memcpy(values.data(), from + header[p.name]["data_offsets"][0].get<int64_t>(), values.size() * sizeof(real));
    p.tensor.set(values.data());
  }
  return s;
}

}  // namespace poslab
