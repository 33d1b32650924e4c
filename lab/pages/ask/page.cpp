#include "lab/pages/ask/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "experiment/build.h"
#include "lab/pages/page/page.h"

namespace poslab {
extern const std::string_view ask_html, ask_js;
}

namespace poslab::asking {
namespace {

using nlohmann::json;

constexpr int max_cells = 80;   // on a side: five layers of eight heads then stay below 400 KB

// The attention of one layer over all slots: each head's map, and first the maximum over heads.
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
  for (int layer = 0; layer < asked.config.whole("layers"); ++layer)
    layers.push_back(maps(asked.attention(a, layer), block));
  return {{"input", symbols}, {"expected", a.expected}, {"said", said}, {"block", block}, {"layers", layers}};
}

page::Chart chart(const Answer& a, const std::string& id) {
  page::Chart c{id, "Probability by answer slot", "", "answer slot", "probability", 1, 1, 0, 1, true};
  c.unit = "slot";
  c.curves = {{"of the answer", 0, {}, {}}, {"of the correct symbol", 1, {}, {}}};
  for (size_t o = 0; o < a.expected.size(); ++o) {
    const double slot = double(o + 1);
    c.curves[0].points.push_back({slot, a.confidence(o)});
    c.curves[1].points.push_back({slot, a.probability[o * size_t(a.symbols) + size_t(a.expected[o])]});
    c.x_high = slot;
  }
  c.description = fmt::format("{} answer slots, of which {} of {} counted ones are right.", a.expected.size(),
                              a.right(), a.scored);
  return c;
}

std::string said(const Answer& a) {
  std::string text;
  for (size_t o = 0; o < a.said.size(); ++o) {
    const std::string symbol = page::escape(a.word(a.said[o]));
    text += o >= size_t(a.scored)           ? "<span class=\"uncounted\">" + symbol + "</span>"
            : a.said[o] == a.expected[o] ? symbol
                                            : "<s>" + symbol + "</s>";
  }
  return text;
}

std::string strings(const Respondent& asked, const Exchange& exchange) {
  const Answer& a = exchange.answer;
  using page::percent;
  return fmt::format(
      "<dl class=\"strings\"><div><dt>input</dt><dd>{}</dd></div><div><dt>correct</dt><dd>{}</dd></div>"
      "<div><dt>answer</dt><dd>{}</dd></div></dl>\n"
      "<p>{} of {} slots right: {}. At length {}, {}, guessing reaches {}, the most frequent symbol of each slot {}, "
      "the same answer in every slot, from how many of each symbol there are, {}.{}</p>\n",
      page::escape(written_input(task(asked.config["task"]), a.input)), written_answer(a.expected), said(a), a.right(),
      a.scored, percent(a.accuracy()), a.input.size(),
      int(a.input.size()) <= asked.config.whole("train_length") ? "which was trained" : "which was not trained",
      percent(exchange.baselines.chance), percent(exchange.baselines.majority),
      percent(exchange.baselines.content_only),
      a.draws > 1 ? fmt::format(" The answer is the mean over {} draws of positions; a single draw has {} right on "
                                "average. The maps show draw 0.",
                                a.draws, percent(a.accuracy_per_draw))
                  : "");
}

}  // namespace

std::string page_of(const std::string& run, const Respondent& asked, const std::string& heading,
                    const std::vector<Exchange>& all) {
  json data = {{"charts", json::array()}, {"questions", json::array()}};
  std::string sections;
  for (size_t n = 0; n < all.size(); ++n) {
    const Answer& a = all[n].answer;
    sections += fmt::format("<section aria-labelledby=\"question{0}\">\n<h2 id=\"question{0}\">Question {0}</h2>\n{1}",
                            n + 1, strings(asked, all[n]));
    if (a.expected.size() > 1) {
      const page::Chart drawn = chart(a, fmt::format("sure{}", n));
      data["charts"].push_back(page::chart_json(drawn));
      sections += fmt::format("<figure>{}<figcaption>The probability that the model gives to its answer and to the "
                              "correct symbol, slot by slot.</figcaption></figure>\n", page::figure(drawn));
    }
    data["questions"].push_back(question(asked, a));
    sections += fmt::format("<div data-question=\"{}\"></div>\n</section>\n", n);
  }
  std::string said;  // of lines, which begin small on a terminal
  for (size_t at = 0, end; at < heading.size(); at = end + 1) {
    end = std::min(heading.find('\n', at), heading.size());
    std::string line = page::escape(heading.substr(at, end - at)) + ".";
    if (at) line[0] = ascii::upper(line[0]), said += "<br>";
    said += line;
  }
  const std::string title = fmt::format("{}: questions to {}", page::headed(asked.config["task"]), page::escape(run));
  return page::document(ask_html, {{"title", title},
                                   {"heading", said},
                                   {"questions", sections},
                                   {"data", page::script_safe(data)}},
                        ask_js);
}

}  // namespace poslab::asking
