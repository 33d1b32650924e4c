#include "lab/hub/t5_unigram.h"

#include <set>

#include "core/error.h"
#include "lab/files/json.h"
#include "lab/hub/hf_pieces.h"

namespace poslab::t5 {
namespace {

using json = HfPieces::json;

[[noreturn]] void refuse(const std::string& path, const std::string& part, const json& value) {
  bad_input("{}: {} {} is not read; use spiece.model, with which T5s are published", path, part, json_type(value));
}

// Decodes standard base64 (RFC 4648), up to its padding. Throws BadInput.
std::string from_base64(const std::string& text, const std::string& path) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const size_t digit = digits.find(c);
    if (digit == digits.npos) bad_input("{} is damaged: its precompiled_charsmap is not base64; fetch it again", path);
    bits = bits << 6 | uint32_t(digit), count += 6;
    if (count >= 8) bytes.push_back(char(bits >> (count -= 8) & 255));
  }
  return bytes;
}

// The steps of a "Sequence", or the single step.
std::vector<json> steps_of(const json& step, const char* list) {
  if (step.is_null()) return {};
  if (json_type(step) != "\"Sequence\"") return {step};
  return step.at(list).get<std::vector<json>>();
}

// Reads the table of characters. Like sentencepiece, these steps must drop spaces at both ends and merge repeated ones.
std::string read_steps(const json& all, const std::string& path) {
  std::string table;
  std::set<std::string> seen;
  for (const json& step : steps_of(all.value("normalizer", json()), "normalizers")) {
    const std::string type = json_type(step);
    if (type == "\"Precompiled\"" && table.empty())
      table = from_base64(step.at("precompiled_charsmap"), path);
    else if (!(type == "\"Strip\"" && step.value("strip_right", false)) &&
             !(type == "\"Replace\"" && step.at("pattern") == json{{"Regex", " {2,}"}}))
      refuse(path, "the normalizer", step);
    seen.insert(type);
  }
  const std::vector<json> cuts = steps_of(all.value("pre_tokenizer", json()), "pretokenizers");
  for (const json& step : cuts) {
    const bool words = json_type(step) == "\"WhitespaceSplit\"" && seen.insert("words").second;
    const bool marks =
        json_type(step) == "\"Metaspace\"" && step.value("replacement", "\u2581") == "\u2581" &&
        step.value("prepend_scheme", step.value("add_prefix_space", true) ? "always" : "never") == "always" &&
        seen.insert("marks").second;
    if (!words && !marks) refuse(path, "the pre_tokenizer", step);
  }
  const bool one_space = seen.count("words") || (seen.count("\"Strip\"") && seen.count("\"Replace\""));
  if (cuts.empty() || json_type(cuts.back()) != "\"Metaspace\"" || !one_space)
    refuse(path, "the pre_tokenizer", all.value("pre_tokenizer", json()));
  return table;
}

// A protobuf message (https://protobuf.dev/programming-guides/encoding), field by field.
struct Message {
  std::string bytes;
  void number(uint64_t value) {
    for (; value > 127; value >>= 7) bytes.push_back(char(128 | (value & 127)));
    bytes.push_back(char(value));
  }
  Message& add(int field, const std::string& value) {
    number(uint64_t(field) << 3 | 2), number(value.size()), bytes += value;
    return *this;
  }
  Message& add(int field, float value) {
    number(uint64_t(field) << 3 | 5);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Message& add(int field, int value) {
    number(uint64_t(field) << 3), number(uint64_t(value));
    return *this;
  }
};

// sentencepiece_model.proto: pieces are field 1, each with text, score and kind; field 3 has the table in its field 2.
std::string as_sentencepiece(const json& model, const std::string& table, const std::set<std::string>& special,
                             const std::string& path) {
  constexpr int normal = 1, unknown = 2, control = 3;
  if (model.value("byte_fallback", false)) refuse(path, "a token model with", json("byte_fallback"));
  const auto unk = whole_number(model.value("unk_id", json()), model.at("vocab").size());
  bool space = false;
  Message all;
  int token = 0;
  for (const json& entry : model.at("vocab")) {
    const std::string piece = entry.at(0);
    const double score = entry.at(1);
    const int kind = unk && token == int(*unk) ? unknown : special.count(piece) ? control : normal;
    all.add(1, Message().add(1, piece).add(2, float(score)).add(3, kind).bytes);
    space |= piece == "\u2581" && kind == normal, ++token;
  }
  if (!unk || int(*unk) >= token)
    bad_input("{}: \"unk_id\" is {}; it must be a token's number", path, in_short(model.value("unk_id", json())));
  if (!space)
    bad_input("{}: no token is a space (\u2581) alone, which poslab needs to read several unknown words", path);
  return all.add(3, Message().add(2, table).bytes).bytes;
}

}  // namespace

bool is_unigram(const std::string& text, const std::string& path) {
  const json all = parse_json(text, path);
  return all.is_object() && all.contains("model") && all["model"].is_object() &&
         all["model"].value("type", "") == "Unigram";
}

Unigram read_unigram(const std::string& text, const std::string& path) {
  const json all = parse_json(text, path);
  Unigram made;
  try {
    std::set<std::string> special;
    for (const json& added : all.value("added_tokens", json::array())) {
      const std::string content = added.at("content");
      for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"})
        if (added.value(flag, false))
          bad_input("{}: the added token \"{}\" has {}; poslab reads no T5 tokenizer with it", path, content, flag);
      const auto token = whole_number(added.at("id"), 1 << 24);
      if (content.empty() || !token) bad_input("{}: an added token is {}", path, in_short(added));
      made.special.push_back({content, int(*token)}), special.insert(content);
    }
    made.model = as_sentencepiece(all.at("model"), read_steps(all, path), special, path);
    bool after = false;
    const json processor = all.value("post_processor", json());
    if (!processor.is_null() && json_type(processor) != "\"TemplateProcessing\"")
      refuse(path, "the post_processor", processor);
    for (const json& one : processor.is_null() ? json::array() : processor.at("single")) {
      if (!one.contains("Sequence") && !after) refuse(path, "the post_processor", one);
      if (one.contains("Sequence"))
        after = true;
      else
        for (const json& id :
             processor.at("special_tokens").at(one.at("SpecialToken").at("id").get<std::string>()).at("ids"))
          made.after.push_back(id);
    }
  } catch (const json::exception& e) { bad_input("{} is not a tokenizer.json that can be read: {}", path, e.what()); }
  return made;
}

}  // namespace poslab::t5
