// Prints the logits that poslab computes with checkpoints, for compare_checkpoints.py. Each input line is an object
// with a "folder", "tokens" and, for a T5, "read", the tokens that its decoder has read. Each output line has the
// logits at all slots, slot by slot, or the message of a refusal. If a T5's line has "texts", the output has the tokens
// of each text.
#include <iostream>

#include "autograd/tape.h"
#include "core/error.h"
#include "lab/files/json.h"
#include "lab/hub/hf_model.h"
#include "lab/hub/t5_hf.h"

using namespace poslab;

namespace {

Ids row(const Json& tokens) { return Ids({1, int(tokens.size())}, tokens.get<std::vector<int>>()); }

PositionSample counted(const Ids& tokens) {
  return {choose_sampler("sequential"), Resample::per_forward, {}, 1, tokens.shape()[1]};
}

Json tokens_of_texts(const t5::HfModel& model, const Json& texts) {
  const auto tokenizer = t5::open_hf_tokenizer(model);
  Json all = Json::array();
  for (const Json& text : texts) all.push_back(t5::tokens_of(model, *tokenizer, text));
  return all;
}

Tensor logits(const Json& asked) {
  const std::string folder = asked.at("folder");
  const Ids tokens = row(asked.at("tokens"));
  if (!asked.contains("read")) return open_hf_model(folder).net(tokens, tokens.shape()[1], {counted(tokens), {}});
  const t5::HfModel model = t5::open_hf_model(folder);
  const Ids read = row(asked["read"]);
  return model.net.decode(read, model.net.encode(tokens, {}, {counted(tokens), {}}), {}, {counted(read), {}});
}

Json answer(const std::string& line) {
  try {
    const Json asked = parse_json(line, "the input");
    if (asked.contains("texts")) return tokens_of_texts(t5::open_hf_model(asked.at("folder")), asked["texts"]);
    return logits(asked).values();
  } catch (const BadInput& e) { return e.what(); } catch (const Failure& e) {
    return e.what();
  }
}

}  // namespace

int main() {
  const NoGrad still;
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(line) << std::endl;
}
