#include "apps/refuse.h"

#include <algorithm>

#include "core/ascii.h"
#include "encodings/encoding.h"
#include "encodings/temperature.h"
#include "experiment/config.h"

namespace poslab {
namespace {

bool in_word(char c) { return ascii::is_alnum(c) || c == '_'; }

// The place after the owner in "randomized: max_position = 0 ...", which is about randomized:max_position=0; or 0.
size_t behind_owner(const std::string& message, const CLI::App& command) {
  const size_t colon = std::min(message.find(": "), message.size());
  const std::string name = message.substr(0, colon);
  const auto is = [&](const auto& thing) { return thing.name == name; };
  const bool owner = std::any_of(all_encodings().begin(), all_encodings().end(), is) ||
                     std::any_of(all_samplers().begin(), all_samplers().end(), is) ||
                     std::any_of(all_temperatures().begin(), all_temperatures().end(), is);
  const bool of_command = command.get_parent() && command.get_parent()->get_name() == name;   // poslab t5
  return owner && !of_command ? colon + 2 : 0;
}

}  // namespace

std::string as_options(const std::string& message, const CLI::App& command) {
  if (message.find(", line ") != std::string::npos) return message;
  const std::string equals = " = ";
  const size_t spelled = behind_owner(message, command);   // 0: nowhere
  std::string text;
  for (size_t at = 0; at < message.size();) {
    size_t end = at;
    while (end < message.size() && in_word(message[end])) ++end;
    const std::string word = message.substr(at, end - at);
    const char before = at ? message[at - 1] : ' ', behind = end < message.size() ? message[end] : ' ';
    const bool alone = (at == 0 || at != spelled) && (before == ' ' || before == '(') &&
                       (behind == ' ' || ascii::is_punct(behind)) && behind != '=' && behind != '-' && behind != '"';
    const bool valued = message.compare(end, equals.size(), equals) == 0;
    const CLI::Option* const option =
        alone && (valued || word.find('_') != std::string::npos) ? command.get_option_no_throw(dashed(word)) : nullptr;
    if (option) {
      text += "--" + option->get_lnames().front();  // "--samples" for eval_samples, if the help calls it that
      at = end;
      if (valued) text += ' ', at += equals.size();
    } else {
      const size_t next = std::max(end, at + 1);   // a word, or one character outside of words
      text += message.substr(at, next - at);
      at = next;
    }
  }
  return text;
}

}  // namespace poslab
