// An answer as text for a terminal, as JSON, and as a page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/ascii.h"
#include "experiment/build.h"
#include "experiment/lengths.h"
#include "lab/pages/ask/ask.h"
#include "lab/pages/page/page.h"
#include "lab/runs/pictures.h"

namespace poslab::asking {
namespace {

constexpr size_t columns = 16;

// The mark of a symbol: ! if it is wrong, brackets if it does not count.
std::string said(const Answer& a, size_t slot) {
  if (slot >= size_t(a.scored)) return fmt::format("({})", a.word(a.said[slot]));
  return fmt::format("{}{}", a.word(a.said[slot]), a.said[slot] == a.expected[slot] ? "" : "!");
}

// Columns of five characters, a symbol at the third.
std::string table(const Answer& a) {
  std::string text;
  for (size_t from = 0; from < a.expected.size(); from += columns) {
    std::string slots = "  slot   ", correct = "  correct", answer = "  answer ", sure = "  sure   ";
    for (size_t o = from; o < std::min(from + columns, a.expected.size()); ++o) {
      const bool counts = o < size_t(a.scored);
      slots += fmt::format("{:>4} ", o + 1);
      correct += fmt::format("{:>4} ", a.expected[o]);
      answer += counts ? fmt::format("   {:<2}", said(a, o)) : fmt::format("  {:<3}", said(a, o));
      sure += fmt::format("{:>4.0f}%", 100 * a.confidence(o));
    }
    for (std::string line : {slots, correct, answer, sure}) {
      while (line.back() == ' ') line.pop_back();
      text += line + "\n";
    }
  }
  return text;
}

using page::json;

// A question in the form of pictures.json (lab/runs/pictures.h).
json question(const Respondent& asked, const Answer& a) {
  const std::vector<std::string> alphabet = task(asked.config["task"]).alphabet;
  json input = json::array(), expected = json::array(), predicted = json::array(), layers = json::array();
  for (const int symbol : a.input) input.push_back(alphabet[size_t(symbol)]);
  for (const int symbol : a.expected) expected.push_back(std::to_string(symbol));
  for (const int symbol : a.said) predicted.push_back(a.word(symbol));
  const int T = int(a.input.size() + a.expected.size()), block = block_of(T);
  for (int layer = 0; layer < blocks(asked.config, int(a.input.size())); ++layer)
    layers.push_back(json(attention_json(asked.attention(a, layer), block)));
  return {{"kind", "question"},  {"input", input}, {"expected", expected}, {"predicted", predicted},
          {"counted", a.scored}, {"queries", T},   {"block", block},       {"layers", layers}};
}

page::Chart chart(const Answer& a, const std::string& id) {
  page::Chart c{id, "Probability by answer slot", "answer slot", "probability", 1, 1, 0, 1, true};
  c.unit = "slot";
  c.caption = "The probability that the model gives to its answer and to the correct symbol, slot by slot.";
  c.curves = {{"of the answer", 0, {}, {}}, {"of the correct symbol", 1, {}, {}}};
  for (size_t o = 0; o < a.expected.size(); ++o) {
    const double slot = double(o + 1);
    c.curves[0].points.push_back({slot, a.confidence(o)});
    c.curves[1].points.push_back({slot, a.probability[o * size_t(a.symbols) + size_t(a.expected[o])]});
    c.x_high = slot;
  }
  return c;
}

std::string verdict(const Respondent& asked, const Exchange& exchange) {
  const Answer& a = exchange.answer;
  using page::percent;
  return fmt::format(
      "{} of {} slots right: {}. At length {} ({}), guessing reaches {}, the most frequent symbol of each slot {}, "
      "and one symbol for all slots, based only on how often each symbol occurs, {}.{}",
      a.right(), a.scored, percent(a.accuracy()), a.input.size(), familiarity(asked.config, int(a.input.size())),
      percent(exchange.baselines.chance), percent(exchange.baselines.majority),
      percent(exchange.baselines.content_only),
      a.draws > 1 ? fmt::format(" The answer is the mean over {} draws of positions; a single draw has {} right on "
                                "average. The maps show draw 0.",
                                a.draws, percent(a.accuracy_per_draw))
                  : "");
}

// The heading as sentences, a line each; on a terminal its lines begin in lower case.
std::string lines_of(const std::string& heading) {
  std::string all;
  for (size_t at = 0, end; at < heading.size(); at = end + 1) {
    end = std::min(heading.find('\n', at), heading.size());
    std::string line = heading.substr(at, end - at) + ".";
    if (at) line[0] = ascii::upper(line[0]), all += "\\\n";
    all += page::literal(line);
  }
  return all;
}

}  // namespace

std::string text_of(const Respondent& asked, const Exchange& exchange) {
  const RunSpec& c = asked.config;
  const Answer& a = exchange.answer;
  const Baselines& b = exchange.baselines;
  std::string text = written_input(task(c["task"]), a.input);
  for (size_t at = 76; at < text.size(); at += 77) text.insert(at, "\n");
  text += "\n" + table(a);
  text += fmt::format("  right    {} of {} slots, {:.1f} %", a.right(), a.scored, 100 * a.accuracy());
  if (a.draws > 1) text += fmt::format("; a single draw of positions: {:.1f} % on average", 100 * a.accuracy_per_draw);
  return text + fmt::format("\n  at length {} ({}): chance {:.1f} %, majority {:.1f} %, content only {:.1f} %\n",
                            a.input.size(), familiarity(c, int(a.input.size())), 100 * b.chance, 100 * b.majority,
                            100 * b.content_only);
}

nlohmann::json in_rows(const std::vector<double>& m, size_t rows) {
  nlohmann::json all = nlohmann::json::array();
  const auto width = std::ptrdiff_t(m.size() / rows);
  for (auto row = m.begin(); row != m.end(); row += width) all.push_back(std::vector<double>(row, row + width));
  return all;
}

nlohmann::ordered_json json_of(const Respondent& asked, const Exchange& exchange) {
  const RunSpec& c = asked.config;
  const Answer& a = exchange.answer;
  std::vector<double> rounded = a.probability;
  for (double& p : rounded) p = std::round(1e6 * p) / 1e6;
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
          {"probabilities", in_rows(rounded, a.expected.size())},
          {"baselines",
           {{"chance", exchange.baselines.chance},
            {"majority", exchange.baselines.majority},
            {"content_only", exchange.baselines.content_only}}}};
}

std::string page_of(const std::string& run, const Respondent& asked, const std::string& heading,
                    const std::vector<Exchange>& all) {
  json sections = json::array(), lead = json::array({page::paragraph(lines_of(heading), "reading")});
  size_t layers = 0, heads = 0;
  for (size_t n = 0; n < all.size(); ++n) {
    const Answer& a = all[n].answer;
    json parts = {question(asked, a), verdict(asked, all[n])};
    layers = parts[0]["layers"].size(), heads = parts[0]["layers"][0]["heads"].size();
    if (a.expected.size() > 1) parts.push_back(page::chart_json(chart(a, fmt::format("sure{}", n))));
    sections.push_back(
        page::section(fmt::format("question{}", n + 1), fmt::format("Question {}", n + 1), std::move(parts)));
  }
  lead.push_back(
      "Wrong symbols are underlined; grey ones fill the slots after the end of the answer and do not count. In the "
      "maps a row is a query slot and a column the key slot that it looks at; dashed lines separate the input from the "
      "answer slots.");
  const json choices = {{"kind", "choices"}, {"layers", layers}, {"heads", heads}};
  return page::file_of({{"command", "ask"},
                        {"title", fmt::format("{}: questions to {}", page::headed(asked.config["task"]), run)},
                        {"lead", lead},
                        {"choices", json::array({choices})},
                        {"sections", sections}},
                       {"chart", "matrix", "ask"});
}

}  // namespace poslab::asking
