#include "lab/pages/ask/ask.h"

#include <fmt/format.h>

#include <cmath>

#include "experiment/lengths.h"

namespace poslab::asking {
namespace {

constexpr size_t in_table = 16, in_line = 60;

// The mark beside a symbol: ! if it is wrong, brackets if it does not count.
std::string said(const Answer& a, size_t slot) {
  if (slot >= size_t(a.scored)) return fmt::format("({})", a.word(a.said[slot]));
  return fmt::format("{}{}", a.word(a.said[slot]), a.said[slot] == a.expected[slot] ? "" : "!");
}

// Columns of five characters, a symbol at the third.
std::string table(const Answer& a) {
  std::string slots = "  slot   ", correct = "  correct", answer = "  answer ", sure = "  sure   ";
  for (size_t o = 0; o < a.expected.size(); ++o) {
    const bool counts = o < size_t(a.scored);
    slots += fmt::format("{:>4} ", o + 1);
    correct += fmt::format("{:>4} ", a.expected[o]);
    answer += counts ? fmt::format("   {:<2}", said(a, o)) : fmt::format("  {:<3}", said(a, o));
    sure += fmt::format("{:>4.0f}%", 100 * a.confidence(o));
  }
  std::string text;
  for (std::string line : {slots, correct, answer, sure}) {
    while (line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

std::string lines(const Answer& a) {
  std::string text;
  const size_t slots = a.expected.size();
  for (size_t from = 0; from < slots; from += in_line) {
    const size_t to = std::min(from + in_line, slots);
    std::string correct, answer, wrong, sure;
    for (size_t o = from; o < to; ++o) {
      correct += std::to_string(a.expected[o]), answer += a.word(a.said[o]);
      wrong += o >= size_t(a.scored) ? '-' : a.said[o] == a.expected[o] ? ' ' : '^';
      sure += std::to_string(std::min(9, int(10 * a.confidence(o))));
    }
    while (!wrong.empty() && wrong.back() == ' ') wrong.pop_back();
    text += fmt::format("  slots {} to {}\n  correct  {}\n  answer   {}\n", from + 1, to, correct, answer);
    if (!wrong.empty()) text += fmt::format("           {}\n", wrong);
    text += fmt::format("  sure     {}\n", sure);
  }
  return text + "  (^ wrong, - does not count; sure: tenths of the probability of the answer)\n";
}

}  // namespace

std::string text_of(const Respondent& asked, const Exchange& exchange) {
  const RunSpec& c = asked.config;
  const Answer& a = exchange.answer;
  const Baselines& b = exchange.baselines;
  std::string text = written_input(task(c["task"]), a.input);
  for (size_t at = 76; at < text.size(); at += 77) text.insert(at, "\n");
  text += fmt::format("\n{}", a.expected.size() <= in_table ? table(a) : lines(a));
  text += fmt::format("  right    {} of {} slots, {:.1f} %", a.right(), a.scored, 100 * a.accuracy());
  if (a.draws > 1) text += fmt::format("; a single draw of positions: {:.1f} % on average", 100 * a.accuracy_per_draw);
  return text + fmt::format("\n  at length {} ({}): chance {:.1f} %, majority {:.1f} %, content only {:.1f} %\n",
                            a.input.size(), familiarity(c, int(a.input.size())),
                            100 * b.chance, 100 * b.majority, 100 * b.content_only);
}

nlohmann::ordered_json json_of(const Respondent& asked, const Exchange& exchange) {
  const RunSpec& c = asked.config;
  const Answer& a = exchange.answer;
  nlohmann::ordered_json rows = nlohmann::json::array();
  for (size_t o = 0; o < a.expected.size(); ++o) {
    std::vector<double> row;
    for (size_t v = 0; v < size_t(a.symbols); ++v)
      row.push_back(std::round(1e6 * a.probability[o * size_t(a.symbols) + v]) / 1e6);
    rows.push_back(row);
  }
  return {{"task", c["task"]},
          {"encoding", c.scheme.spelled()},
          {"positions", asked.positions.spelled()},
          {"temperature", asked.temperature.spelled()},
          {"input", written_input(task(c["task"]), a.input)},
          {"length", a.input.size()},
          {"trained_length", c.whole("train_length")},
          {"expected", written_answer(a.expected)},
          {"answer", a.written()},
          {"scored", a.scored},
          {"right", a.right()},
          {"share", a.accuracy()},
          {"draws", a.draws},
          {"share_of_each_draw", a.accuracy_per_draw},
          {"probabilities", rows},
          {"baselines",
           {{"chance", exchange.baselines.chance},
            {"majority", exchange.baselines.majority},
            {"content_only", exchange.baselines.content_only}}}};
}

}  // namespace poslab::asking
