// Turns a token in the middle of a text into bytes, by the "decoder" of a tokenizer.json. Without a decoder the bytes
// are the token's spelling. Leaves out the spaces that the library then writes between tokens, the removal of spaces at
// the start of a text (Strip after Fuse; Metaspace), and steps that read several tokens.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace poslab {

class HfDecoder {
 public:
  HfDecoder() = default;
  // where: for errors. Throws BadInput for an unknown step.
  HfDecoder(const nlohmann::ordered_json& decoder, const std::string& where);
  std::string bytes(std::string token) const;

 private:
  void add(const nlohmann::ordered_json& step, const std::string& where);
  std::vector<std::function<std::string(const std::string& token)>> steps_;
  bool bytes_made_ = false, fused_ = false;  // once one is true, steps no longer see single tokens
};

}  // namespace poslab
