#include "lab/runs/checkpoint.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstring>
#include <map>
#include <memory>

#include "core/choices.h"
#include "core/error.h"
#include "core/parameter_limit.h"
#include "lab/runs/config_toml.h"

namespace poslab {
namespace {

const std::string mark = "{\"__metadata__\":{\"crc32\":\"", zeros = "00000000";
const size_t crc_at = 8 + mark.size();  // after the header's length

// The tensors in the order of the file, which is that of the flat buffer.
std::vector<NamedTensor> parts(const Params& params, const Adam& adam) {
  std::vector<NamedTensor> all;
  for (const auto& e : params.entries()) all.push_back({e.name, e.tensor});
  all.push_back({"adam.m", adam.m});
  all.push_back({"adam.v", adam.v});
  return all;
}

// The checksum of a whole file with zeros in place of its checksum.
std::string crc(std::string_view file) {
  uLong sum = 0;
  for (const std::string_view part :
       {file.substr(0, crc_at), std::string_view(zeros), file.substr(crc_at + zeros.size())})
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size());
  return fmt::format("{:08x}", sum);
}

// Throws unless checkpoint_bytes() wrote these bytes.
void check_whole(std::string_view bytes, const std::string& path) {
  const std::string damaged = "is damaged; restore it from a copy, or train again";
  if (bytes.size() < crc_at + zeros.size()) failure("{} {}: it is cut off after {} bytes", path, damaged, bytes.size());
  if (bytes.substr(8, mark.size()) != mark)
    failure("{} {}: it does not begin like a checkpoint of poslab", path, damaged);
  const std::string_view said = bytes.substr(crc_at, zeros.size());
  if (const std::string is = crc(bytes); is != said)
    failure("{} {}: its checksum is {} and should be {}", path, damaged, is, said);
}

}  // namespace

std::string checkpoint_bytes(const Saved& s) {
  const Json metadata = {{"crc32", zeros},
                         {"format", s.format},
                         {"step", std::to_string(s.adam.step)},
                         {"seed", std::to_string(s.seed)},
                         {"config", s.config}};
  std::string bytes = safetensors_bytes<real>(metadata, parts(s.params, s.adam));
  bytes.replace(crc_at, zeros.size(), crc(bytes));
  return bytes;
}

struct Checkpoint::Parsed {
  std::string bytes, path;
  SafetensorsHeader header{};
  std::map<std::string, const TensorRecord*> tensors{};
  std::unique_ptr<const ParameterLimit> most{};    // for the next model, which is then filled from the file

  std::vector<real> numbers(const TensorRecord& t) const {
    std::vector<real> all(size_t(size_of(t.shape)));
    std::memcpy(all.data(), bytes.data() + header.numbers + t.from, all.size() * sizeof(real));
    return all;
  }
  std::string word(const char* key) const {
    const Json value = header.metadata.value(key, Json());
    if (!value.is_string()) failure("{} is damaged: its header has no \"{}\"; restore it from a copy", path, key);
    return value;
  }
};

Checkpoint::Checkpoint(std::string bytes, std::string path, const Kind& kind) {
  check_whole(bytes, path);
  auto parsed = std::make_unique<Parsed>(Parsed{std::move(bytes), std::move(path)});
  Parsed& p = *parsed;
  p.header = read_safetensors(p.bytes, p.path);
  for (const TensorRecord& t : p.header.tensors) p.tensors[t.name] = &t;
  const std::string its = p.word("format");
  for (const Kind* other : all_kinds())
    if (its == other->format && !(*other == kind)) bad_input("{} is of {} it", p.path, other->checkpoints_are_read);
  if (its != kind.format)
    bad_input("{} was written by another version of poslab (\"{}\"); this one reads \"{}\"", p.path, its, kind.format);
  for (const TensorRecord& t : p.header.tensors)
    if (t.dtype != dtype_of<real>())
      bad_input("{} holds {} numbers, but this build computes with {}; use the other build", p.path, t.dtype,
                dtype_of<real>());
  const auto moments = p.tensors.find("adam.m");
  p.most = std::make_unique<ParameterLimit>(p.path, moments == p.tensors.end() ? 0 : size_of(moments->second->shape));
  parsed_ = std::move(parsed);
}

Checkpoint::~Checkpoint() = default;

std::string Checkpoint::config() const { return parsed_->word("config"); }

int64_t Checkpoint::step() const {
  const Parsed& p = *parsed_;
  return prefix_errors(p.path, [&] { return read_whole("step", p.word("step"), {0, 1e15}, "a number of steps"); });
}

std::vector<NamedTensor> Checkpoint::tensors() const {
  std::vector<NamedTensor> all;
  for (const TensorRecord& t : parsed_->header.tensors)
    all.push_back({t.name, Tensor::from(t.shape, parsed_->numbers(t))});
  if (all.size() < 3 || all.back().name != "adam.v" || all[all.size() - 2].name != "adam.m")
    failure("{} is damaged: Adam's moments are not its last tensors; restore it from a copy", parsed_->path);
  return all;
}

void Checkpoint::read_into(const Params& params, Adam& adam) const {
  const Parsed& p = *parsed_;
  adam.step = step();
  for (const NamedTensor& wanted : parts(params, adam)) {
    const auto found = p.tensors.find(wanted.name);
    if (found == p.tensors.end() || found->second->shape != wanted.values.shape())
      bad_input("{} has no tensor {} of shape {}: it is of another model; restore it from a copy, or train again",
                p.path, wanted.name, to_string(wanted.values.shape()));
    wanted.values.set(p.numbers(*found->second).data());
  }
}

std::string checkpoint_bytes(const State& s) {
  return checkpoint_bytes(Saved{s.params, s.adam, s.config.count("seed"), to_toml(s.config)});
}

State checkpoint_state(const std::string& bytes, const std::string& path, const std::string& device) {
  const Checkpoint checkpoint(bytes, path);
  RunSpec c(configure(read_toml(checkpoint.config(), path)));
  if (!device.empty()) c.move_to(device);
  State s(c);
  checkpoint.read_into(s.params, s.adam);
  return s;
}

}  // namespace poslab
