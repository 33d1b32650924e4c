#include "lab/pages/ask/ask.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "experiment/build.h"
#include "experiment/lengths.h"
#include "lab/pages/page/page.h"

namespace poslab::asking {
namespace {

using page::json;

constexpr int max_cells = 80;   // largest side of a map: five layers of eight heads then stay below 400 KB

// The attention of one layer over all slots: the maximum over heads, then each head's map.
json maps(const Tensor& weights, int block) {
  const int H = weights.dim(0), T = weights.dim(1), cells = (T + block - 1) / block;
  const std::vector<real> a = weights.values();
  std::vector<double> most(size_t(cells) * size_t(cells), 0.);
  json all = json::array();
  const auto drawn = [cells](const std::vector<double>& m) -> json {
    return matrix_json(cells, cells, m, 0, *std::max_element(m.begin(), m.end()));
  };
  for (int h = 0; h < H; ++h) {
    const std::vector<double> m = in_blocks(a.data() + int64_t(h) * T * T, T, T, block);
    for (size_t n = 0; n < m.size(); ++n) most[n] = std::max(most[n], m[n]);
    all.push_back(drawn(m));
  }
  all.insert(all.begin(), drawn(most));
  return all;
}

json question(const Respondent& asked, const Answer& a) {
  const std::vector<std::string> alphabet = task(asked.config["task"]).alphabet;
  json symbols = json::array(), said = json::array(), layers = json::array();
  for (const int symbol : a.input) symbols.push_back(alphabet[size_t(symbol)]);
  for (const int symbol : a.said) said.push_back(a.other_words.count(symbol) ? json(a.word(symbol)) : json(symbol));
  const int T = int(a.input.size() + a.expected.size()), block = (T + max_cells - 1) / max_cells;
  for (int layer = 0; layer < blocks(asked.config, int(a.input.size())); ++layer)
    layers.push_back(maps(asked.attention(a, layer), block));
  return {{"kind", "question"}, {"input", symbols}, {"expected", a.expected},
          {"said", said},       {"block", block},   {"layers", layers}};
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

json strings(const Respondent& asked, const Answer& a) {
  json words = json::array();
  for (const int symbol : a.said) words.push_back(a.word(symbol));
  return {{"kind", "strings"},
          {"input", written_input(task(asked.config["task"]), a.input)},
          {"correct", written_answer(a.expected)},
          {"expected", a.expected},
          {"said", a.said},
          {"words", words},
          {"scored", a.scored}};
}

std::string verdict(const Respondent& asked, const Exchange& exchange) {
  const Answer& a = exchange.answer;
  using page::percent;
  return fmt::format(
      "{} of {} slots right: {}. At length {} ({}), guessing reaches {}, the most frequent symbol of each slot {}, "
      "the same answer in every slot, from the number of each symbol alone, {}.{}",
      a.right(), a.scored, percent(a.accuracy()), a.input.size(),
      familiarity(asked.config, int(a.input.size())),
      percent(exchange.baselines.chance), percent(exchange.baselines.majority),
      percent(exchange.baselines.content_only),
      a.draws > 1 ? fmt::format(" The answer is the mean over {} draws of positions; a single draw has {} right on "
                                "average. The maps show draw 0.",
                                a.draws, percent(a.accuracy_per_draw))
                  : "");
}

// Lines, which begin small on a terminal.
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

std::string page_of(const std::string& run, const Respondent& asked, const std::string& heading,
                    const std::vector<Exchange>& all) {
  json sections = json::array(), lead = json::array({page::paragraph(lines_of(heading), "reading")});
  size_t layers = 0, heads = 0;
  for (size_t n = 0; n < all.size(); ++n) {
    const Answer& a = all[n].answer;
    json parts = {strings(asked, a), verdict(asked, all[n])};
    if (a.expected.size() > 1) parts.push_back(page::chart_json(chart(a, fmt::format("sure{}", n))));
    parts.push_back(question(asked, a));
    layers = parts.back()["layers"].size(), heads = parts.back()["layers"][0].size() - 1;
    sections.push_back(
        page::section(fmt::format("question{}", n + 1), fmt::format("Question {}", n + 1), std::move(parts)));
  }
  lead.push_back(
      "Wrong symbols are underlined; grey ones fill the slots after the end of the answer and do not count. In the "
      "maps a row is a query slot and a column the key slot that it looks at; dashed lines part the input from the "
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
