// The file is a message of sentencepiece_model.proto (https://protobuf.dev/programming-guides/encoding). Its fields 1
// are the pieces, its fields 3 and 5 NormalizerSpecs, each with a table as field 2: four bytes with the length of the
// trie, the trie, and the strings that its leaves point to, each ended by 0. The trie is a double array (Yata et al.
// 2007) as darts-clone writes it: 32-bit units in blocks of 256.
#include "lab/hub/sentencepiece_file.h"

#include <cstdint>
#include <cstring>

#include "core/error.h"

namespace poslab {
namespace {

[[noreturn]] void damaged(const std::string& path) {
  bad_input("{} is not a tokenizer.model of sentencepiece, or is damaged; fetch it again", path);
}

uint64_t read_varint(std::string_view& rest, const std::string& path) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= uint64_t(byte & 127) << shift;
    if (byte < 128) return value;
  }
  damaged(path);
}

// For each field of a message calls found(field, bytes, 0) if it is text, bytes or a message, and found(field, "",
// value) if it is a whole number.
template <class Found>
void each_field(std::string_view message, const std::string& path, const Found& found) {
  while (!message.empty()) {
    const uint64_t tag = read_varint(message, path), wire = tag & 7;
    uint64_t size = 0, value = 0;
    if (wire == 0)
      value = read_varint(message, path);
    else if (wire == 1 || wire == 5)
      size = wire == 1 ? 8 : 4;
    else if (wire == 2)
      size = read_varint(message, path);
    else
      damaged(path);
    if (size > message.size()) damaged(path);
    if (wire == 0 || wire == 2) found(tag >> 3, message.substr(0, size), value);
    message.remove_prefix(size);
  }
}

bool leads_out(std::string_view table) {
  constexpr size_t head = 4, block = 256, unit = 4;
  if (table.empty()) return false;
  uint32_t bytes = 0;
  if (table.size() <= head) return true;
  std::memcpy(&bytes, table.data(), head);
  if (bytes >= table.size() - head || bytes == 0 || bytes % (block * unit)) return true;
  const std::string_view trie = table.substr(head, bytes), strings = table.substr(head + bytes);
  if (strings.back() != '\0') return true;
  const size_t count = bytes / unit;
  for (size_t at = 0; at < count; ++at) {
    uint32_t x = 0;
    std::memcpy(&x, trie.data() + at * unit, unit);
    const bool leaf = x >> 31;  // points to a string; other units point to their children's block
    const size_t follow = at ^ size_t(x >> 10) << ((x & 512) >> 6);
    if (leaf ? (x & 0x7fffffff) >= strings.size() : follow >= count) return true;
  }
  return false;
}

}  // namespace

void check_sentencepiece_file(std::string_view model, const std::string& path) {
  constexpr uint64_t pieces = 1, trainer = 2, normalizer = 3, denormalizer = 5;  // of the model
  constexpr uint64_t unigram = 1, user_defined = 4;
  uint64_t kind = unigram;
  bool asked_for = false;
  each_field(model, path, [&](uint64_t field, std::string_view message, uint64_t) {
    if (field < pieces || field > denormalizer || field == 4) return;
    each_field(message, path, [&](uint64_t part, std::string_view bytes, uint64_t value) {
      if (field == pieces && part == 3) asked_for = asked_for || value == user_defined;
      if (field == trainer && part == 3) kind = value;
      if (field >= normalizer && part == 2 && leads_out(bytes))
        bad_input("{} is damaged: its table of characters points outside of itself; fetch it again", path);
    });
  });
  if (kind == unigram && asked_for)
    bad_input(
        "{}: some of its Unigram pieces are user-defined; versions of sentencepiece differ in how they read texts "
        "with such pieces, so poslab refuses it; use a tokenizer.json made from this file",
        path);
}

}  // namespace poslab
