#include "lab/hub/hf_decoder.h"

#include <cctype>

#include "core/error.h"
#include "lab/files/json.h"
#include "lab/hub/hf_pieces.h"

namespace poslab {
namespace {

// The bytes of a token in GPT-2's alphabet; a token with any other character is returned unchanged.
std::string bytes_of_letters(const std::string& token) {
  std::string all;
  for (std::string_view rest = token; !rest.empty();) {
    const size_t n = character(rest);
    const int byte = byte_of(rest.substr(0, n));
    if (byte < 0) return token;
    all += char(byte);
    rest.remove_prefix(n);
  }
  return all;
}

// A token such as "<0x0A>" is that byte; others are returned unchanged.
std::string byte_or_token(const std::string& token) {
  const auto digit = [&](size_t at) { return std::isxdigit(static_cast<unsigned char>(token[at])) != 0; };
  if (token.size() != 6 || !token.starts_with("<0x") || !digit(3) || !digit(4) || token[5] != '>') return token;
  return std::string(1, char(std::stoi(token.substr(3, 2), nullptr, 16)));
}

}  // namespace

HfDecoder::HfDecoder(const nlohmann::ordered_json& decoder, const std::string& where) {
  if (!decoder.is_null()) add(decoder, where);
}

void HfDecoder::add(const nlohmann::ordered_json& step, const std::string& where) {
  const std::string type = json_type(step);
  const auto refuse = [&](const char* why) { bad_input("{}: the decoder {} is not read: {}", where, type, why); };
  const auto refuse_after_joining = [&] {
    if (bytes_made_ || fused_) refuse("it comes after bytes or tokens have been joined");
  };
  if (type == "\"Sequence\"") {
    for (const auto& one : step.at("decoders")) add(one, where);
  } else if (type == "\"ByteLevel\"") {
    refuse_after_joining();
    steps_.emplace_back(bytes_of_letters), bytes_made_ = fused_ = true;
  } else if (type == "\"ByteFallback\"") {
    refuse_after_joining();
    steps_.emplace_back(byte_or_token), bytes_made_ = true;
  } else if (type == "\"Fuse\"") {
    fused_ = true;
  } else if (const auto what = pattern_of(step, "String"); type == "\"Replace\"" && what && !what->empty()) {
    refuse_after_joining();
    steps_.emplace_back([what = *what, with = step.at("content").get<std::string>()](const std::string& token) {
      return replaced(token, what, with);
    });
  } else if (type == "\"Metaspace\"") {
    refuse_after_joining();
    steps_.emplace_back([mark = step.at("replacement").get<std::string>()](const std::string& token) {
      return replaced(token, mark, " ");
    });
  } else if (type == "\"Strip\"") {
    if (step.value("stop", 0) != 0) refuse("it takes characters from the end of a text");
    if (fused_) return;  // the library then strips only the start of the whole text
    refuse_after_joining();
    steps_.emplace_back(
        [what = step.at("content").get<std::string>(), most = step.value("start", 0)](std::string token) {
          for (int n = 0; n < most && token.starts_with(what); ++n) token.erase(0, what.size());
          return token;
        });
  } else {
    refuse("poslab reads ByteLevel, and Sequences of Replace with a String, ByteFallback, Fuse, Strip and Metaspace");
  }
}

std::string HfDecoder::bytes(std::string token) const {
  for (const auto& step : steps_) token = step(token);
  return token;
}

}  // namespace poslab
