#include "lab/hub/stored_tensors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/checksum.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/printable.h"
#include "lab/files/safetensors.h"

namespace poslab {
namespace {

struct Mapped {
  std::shared_ptr<const char> at;
  uint64_t size;
};

// If a mapped file becomes shorter, reading it raises SIGBUS, and the program ends with a one-line message. The list of
// mappings only grows, because a signal may come at any time; a mapping that has ended has size 0.
struct Listed {
  const char* at;
  std::atomic<size_t> size;
  std::string said;
  Listed* before;
};
std::atomic<Listed*> listed = nullptr;

void on_bus_error(int, siginfo_t* about, void*) {
  const char* at = static_cast<const char*>(about->si_addr);
  for (const Listed* l = listed; l; l = l->before)
    if (at >= l->at && at < l->at + l->size) {
      [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, l->said.data(), l->said.size());
      ::_exit(1);
    }
  std::signal(SIGBUS, SIG_DFL);          // no mapped file is the cause: the signal is raised again at once
}

Listed* list(const char* at, size_t size, const std::string& path) {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error, action.sa_flags = SA_SIGINFO;
  static const int once = sigaction(SIGBUS, &action, nullptr);
  if (once != 0) failure("cannot prepare for {} becoming shorter: {}", path, std::strerror(errno));
  const std::string said = fmt::format(
      "poslab: {} has become shorter while it was read, or its disk failed; fetch it again\n", printable(path));
  auto* l = new Listed{at, size, said, listed};
  while (!listed.compare_exchange_weak(l->before, l)) {}
  return l;
}

Mapped map_file(const std::string& path) {
  require_file(path);
  const InputFile file(path);
  const size_t size = size_t(file.size());
  void* at = size ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0) : MAP_FAILED;
  if (at == MAP_FAILED) failure("{} cannot be mapped into memory ({} bytes); copy it again", path, size);
  Listed* l = list(static_cast<const char*>(at), size, path);
  const auto end = [l, size](const char* p) { l->size = 0, ::munmap(const_cast<char*>(p), size); };
  return {std::shared_ptr<const char>(l->at, end), size};
}

// "weight_map" of an index: for each tensor, the name of a file in the same folder.
std::vector<std::pair<std::string, std::string>> read_index(const std::string& path) {
  const Json all = parse_json(read_input(path), path), map = all.is_object() ? all.value("weight_map", Json()) : Json();
  if (!map.is_object()) bad_input("{} has no object \"weight_map\", which says where each tensor is", path);
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [name, file] : map.items()) {
    if (!file.is_string() || file.get<std::string>().find('/') != std::string::npos)
      bad_input("{}: \"{}\" is listed in {}; it must be in a file in the same folder", path, name, in_short(file));
    files.emplace_back(name, file.get<std::string>());
  }
  return files;
}

}  // namespace

StoredTensors map_safetensors(const std::string& path) {
  const Mapped file = map_file(path);
  const SafetensorsHeader header = read_safetensors({file.at.get(), size_t(file.size)}, path);
  StoredTensors all;
  for (const TensorRecord& t : header.tensors)
    all.emplace(t.name, StoredTensor{.dtype = t.dtype,
                                     .shape = t.shape,
                                     .at = file.at.get() + header.numbers + t.from,
                                     .file = file.at,
                                     .path = path});
  return all;
}

StoredTensors map_weights(const std::string& folder) {
  const std::string single = folder + "/model.safetensors", index = folder + "/model.safetensors.index.json";
  if (const std::string adapter = folder + "/adapter_config.json"; std::filesystem::exists(adapter))
    bad_input("{}: weights with an adapter are not read; merge it into them (peft: merge_and_unload)", adapter);
  if (std::filesystem::exists(single)) return map_safetensors(single);
  if (!std::filesystem::exists(index))
    bad_input(
        "{} has neither model.safetensors nor model.safetensors.index.json; save the model in this form "
        "(transformers: save_pretrained)",
        folder);
  const auto named = read_index(index);
  const std::map<std::string, std::string> file_of(named.begin(), named.end());
  StoredTensors tensors;
  std::set<std::string> files;
  for (const auto& [name, file] : named) {
    if (!files.insert(file).second) continue;
    for (auto& [its, tensor] : map_safetensors(folder + "/" + file)) {
      if (const auto found = file_of.find(its); found == file_of.end() || found->second != file)
        bad_input("{} has a tensor {} that the index does not list in this file", tensor.path, its);
      tensors.emplace(its, tensor);
    }
  }
  for (const auto& [name, file] : named)
    if (!tensors.count(name)) bad_input("{} has no tensor {}, but the index lists it there", file, name);
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

std::map<std::string, std::string> checksums_of_hf(const std::string& folder) {
  const std::string config = read_input(folder + "/config.json");
  Checksum sum, tokens;
  sum.add(config.data(), config.size());
  std::vector<std::string> read = {"tokenizer.json"};  // as in open_hf_tokenizer()
  if (!std::filesystem::exists(folder + "/tokenizer.json")) read = {"tokenizer.model", "tokenizer_config.json"};
  for (const std::string& name : read)
    if (std::filesystem::exists(folder + "/" + name)) {
      const std::string bytes = name + read_input(folder + "/" + name);
      tokens.add(bytes.data(), bytes.size());
    }
  return {{"config.json", sum.digits()},
          {"tokenizer", tokens.digits()},
          {"weights", weights_checksum(map_weights(folder))}};
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
  if (reinterpret_cast<uintptr_t>(t.at) % each) {  // the form allows this, but no program writes it
    const size_t bytes = each * size_t(m.rows) * size_t(m.columns);
    auto copy = std::make_shared<std::vector<float>>(bytes / sizeof(float) + 1);
    std::memcpy(copy->data(), t.at, bytes);
    m.at = copy->data(), m.keep = copy;
  }
  return m;
}

}  // namespace poslab
