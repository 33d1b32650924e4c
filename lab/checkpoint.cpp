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
std::vector<Part> parts(const Params& params, const Adam& adam) {
  std::vector<Part> all;
  for (const auto& e : params.entries()) all.push_back({e.name, e.tensor});
  all.push_back({"adam.m", adam.m});
  all.push_back({"adam.v", adam.v});
  return all;
}

std::string crc(const std::string& bytes) {
  return fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// The header without its length and padding; the crc is still zeros.
std::string header_of(const Saved& s) {
  json header;
  header["__metadata__"] = {{"crc32", zeros},
                            {"format", s.format},
                            {"step", std::to_string(s.adam.step)},
                            {"seed", std::to_string(s.seed)},
                            {"config", s.config}};
  int64_t at = 0;
  for (const Part& p : parts(s.params, s.adam)) {
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

std::string checkpoint_bytes(const Saved& s) {
  const std::string header = header_of(s);
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  bytes += header;
  for (const Part& p : parts(s.params, s.adam)) {
    const std::vector<real> values = p.tensor.values();
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(real));
  }
  bytes.replace(8 + mark.size(), 8, crc(bytes));
  return bytes;
}

struct Checkpoint::Parsed {
  std::string bytes, path;
  uint64_t length = 0;  // of the header
  json header{};
};

Checkpoint::Checkpoint(std::string bytes, std::string path, const char* format) {
  check_whole(bytes, path);
  Parsed p{std::move(bytes), std::move(path)};
  std::memcpy(&p.length, p.bytes.data(), 8);
  p.header = json::parse(p.bytes.substr(8, p.length));
  const std::string its = p.header["__metadata__"]["format"];
  const auto refuse = [&](const char* other, const char* what) {
    if (its == other && its != format) bad_input("{} is of {} it", p.path, what);
  };
  refuse(language_checkpoint_format, "a language model; `poslab lm` reads");
  refuse(t5_checkpoint_format, "a T5; `poslab t5` reads");
  refuse(checkpoint_format, "a task; `poslab resume`, eval and ask read");
  if (its != format)
    bad_input("{} was written by another version of poslab (\"{}\"); this one reads \"{}\"", p.path, its, format);
  if (p.header["adam.m"]["dtype"] != dtype)
    bad_input("{} holds {} numbers and this build computes with {}; use the other build", p.path,
              p.header["adam.m"]["dtype"].get<std::string>(), dtype);
  parsed_ = std::make_unique<const Parsed>(std::move(p));
}

Checkpoint::~Checkpoint() = default;

std::string Checkpoint::config() const { return parsed_->header.at("__metadata__").at("config"); }

void Checkpoint::read_into(const Params& params, Adam& adam) const {
  const json& header = parsed_->header;
  adam.step = std::stoll(header.at("__metadata__").at("step").get<std::string>());
  const char* from = parsed_->bytes.data() + 8 + parsed_->length;
  for (const Part& p : parts(params, adam)) {
    if (!header.contains(p.name) || header.at(p.name).at("shape") != p.tensor.shape())
      bad_input("{} has no tensor {} of shape {}: another version of poslab wrote it", parsed_->path, p.name,
                to_string(p.tensor.shape()));
    std::vector<real> values(size_t(p.tensor.size()));
    std::memcpy(values.data(), from + header.at(p.name).at("data_offsets")[0].get<int64_t>(),
                values.size() * sizeof(real));
    p.tensor.set(values.data());
  }
}

std::string checkpoint_bytes(const State& s) {
  return checkpoint_bytes(Saved{s.params, s.adam, s.config.seed, to_toml(s.config)});
}

State checkpoint_state(const std::string& bytes, const std::string& path, const std::string& device) {
  const Checkpoint checkpoint(bytes, path);
  Config c = configure(read_toml(checkpoint.config(), path));
  if (!device.empty()) c.device = device;
  State s(c);
  checkpoint.read_into(s.params, s.adam);
  return s;
}

}  // namespace poslab
