#include <fmt/format.h>

#include <algorithm>

#include "core/choices.h"
#include "core/error.h"
#include "experiment/build.h"
#include "lab/pages/ask/ask.h"

namespace poslab::asking {
namespace {

constexpr int most_slots = 2000;  // 8 heads of 2000 x 2000 weights are 128 MB
constexpr size_t most_columns = 160;

}  // namespace

Look read_look(const std::string& text, const RunSpec& c, int symbols) {
  if (text == "max") return {blocks(c, symbols), 0};
  const size_t dot = text.find('.');
  if (dot == std::string::npos)
    bad_input(
        "--attention {} is not a layer and head; write it as --attention=2.3, --attention=2.max or --attention=max, "
        "after the strings",
        text);
  const auto read = [&](const char* what, const std::string& part, int most) {
    const Range range{1, double(most)};
    return int(read_whole(fmt::format("--attention {}: {}", text, what), part, range, to_string(range)));
  };
  const std::string head = text.substr(dot + 1);
  return {read("layer", text.substr(0, dot), blocks(c, symbols)),
          head == "max" ? 0 : read("head", head, c.whole("heads"))};
}

std::string words_of(const Look& look) {
  return fmt::format("layer {}, {}", look.layer,
                     look.head ? fmt::format("head {}", look.head) : std::string("maximum over heads"));
}

void check_look(int slots) {
  if (slots > most_slots)
    bad_input(
        "attention of {} slots is too much to draw; ask about a string with at most {} slots, or without "
        "--attention and -o",
        slots, most_slots);
}

std::vector<double> weights(const Respondent& asked, const Answer& answer, const Look& look) {
  const Tensor all = asked.attention(answer, look.layer - 1);  // (H, T, T)
  const size_t H = size_t(all.dim(0)), T = size_t(all.dim(1)), O = answer.expected.size();
  const std::vector<real> a = all.values();
  std::vector<double> drawn(O * T, 0);
  for (size_t h = 0; h < H; ++h) {
    if (look.head && size_t(look.head) != h + 1) continue;
    const real* from = a.data() + (h * T + T - O) * T;
    for (size_t n = 0; n < O * T; ++n) drawn[n] = std::max(drawn[n], double(from[n]));
  }
  return drawn;
}

std::string grid(const Respondent& asked, const Answer& answer, const Look& look, bool utf8) {
  const size_t O = answer.expected.size(), T = answer.input.size() + O;
  if (T > most_columns) return {};
  const std::vector<double> a = weights(asked, answer, look);
  const double most = *std::max_element(a.begin(), a.end());
  std::vector<std::string> shades = {" ", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  if (utf8) shades = {" ", "░", "▒", "▓", "█"};
  // Symbols of several letters are written downwards.
  const std::vector<std::string> alphabet = task(asked.config["task"]).alphabet;
  size_t tall = 1;
  for (const int symbol : answer.input) tall = std::max(tall, alphabet[size_t(symbol)].size());
  std::string text = fmt::format("  attention of {}: rows are answer slots, columns all slots; {} is {:.2f}\n",
                                 words_of(look), shades.back(), most);
  for (size_t line = 0; line < tall; ++line) {
    text += std::string(11, ' ');
    for (const int symbol : answer.input) {
      const std::string& word = alphabet[size_t(symbol)];
      const size_t above = tall - word.size();
      text += line < above ? ' ' : word[line - above];
    }
    if (line + 1 == tall)
      for (size_t o = 0; o < O; ++o) text += !answer.reads.empty() ? answer.reads[o] : utf8 ? "·" : ".";
    text += '\n';
  }
  for (size_t o = 0; o < O; ++o) {
    std::string row;
    for (size_t t = 0; t < T; ++t) {
      const double share = most > 0 ? a[o * T + t] / most : 0;
      const auto steps = double(shades.size());
      row += shades[std::min(shades.size() - 1, size_t(share * steps))];
    }
    while (!row.empty() && row.back() == ' ') row.pop_back();
    text += fmt::format("  {:>4} ({})  {}\n", o + 1, answer.word(answer.said[o]), row);
  }
  return text;
}

}  // namespace poslab::asking
