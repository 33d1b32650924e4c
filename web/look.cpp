// Looks into a trained model: the positions seen in training, the answer and the attention for a string, and the
// dispersion of attention.
#include <algorithm>

#include "encodings/picture.h"
#include "encodings/temperature.h"
#include "experiment/align.h"
#include "experiment/ask.h"
#include "experiment/build.h"
#include "experiment/coverage.h"
#include "experiment/lengths.h"
#include "tasks/task.h"
#include "web/calls.h"

namespace poslab::web {
namespace {

// [value, count], in ascending order of the value
Json histogram(const Histogram& h) {
  return Json::list(h, [](const auto& bin) {
    return Json::list(std::vector<double>{double(bin.first), double(bin.second)});
  });
}

// The counted values, or the reason why there are none: a table of offsets has neither positions nor gaps.
Json met_json(Met what, const RunSpec& c, const std::vector<int>& lengths, int64_t done) {
  try {
    const Coverage met = coverage(what, c, lengths, done);
    return Json::object({{"trained", histogram(met.trained)},
                         {"tests", Json::list(met.tests, [](const Coverage::Test& t) {
                            return Json::object({{"length", t.length}, {"met", histogram(t.met)}, {"seen", t.seen}});
                          })}});
  } catch (const BadInput& e) {
    return Json::object({{"none", e.what()}});
  }
}

// Words: the lengths, and the number of training steps (0: all of the run).
Response seen(Request& request) {
  const RunSpec& c = model(request).config;
  const std::vector<int> lengths = request.lengths();
  const int asked_steps = request.whole("steps", 0, 1 << 30);
  const int64_t steps = asked_steps ? asked_steps : c.count("steps");
  const Coverage reads = coverage(c, {lengths.front()}, 1);
  return {Json::object({{"reads", reads.counted == Reads::positions   ? "positions"
                                  : reads.counted == Reads::distances ? "distances"
                                                                      : "nothing"},
                        {"positions", met_json(Met::positions, c, lengths, steps)},
                        {"distances", met_json(Met::distances, c, lengths, steps)},
                        {"gaps", met_json(Met::gaps, c, lengths, steps)}})};
}

std::optional<Chosen<TemperaturePolicy>> temperature(const State& s, const std::string& spelled) {
  if (spelled.empty()) return {};
  return choose_temperature(spelled, run_values(s.config));
}

// Words: the string, positions ("": the test's), a temperature ("": the model's own), and silenced heads as
// "layer head layer head".
Response ask_it(Request& request) {
  const State& s = model(request);
  const Task& t = task(s.config["task"]);
  const Tokens input = read_input(t, request.next());
  Asking how;
  how.positions = numbers_of(request.next());
  how.temperature = temperature(s, request.next());
  for (const std::string silenced = request.next(); const std::string& one : split(silenced, ';')) {
    if (one.empty()) continue;
    const std::vector<double> place = numbers_of(one);
    if (place.size() != 2) bad_input("silenced: \"{}\" is not a layer and head, such as 0 3", one);
    how.silenced.push_back({int(place[0]), int(place[1])});
  }
  const Looked l = ask(s, input, how);
  const Answer& a = l.answer;
  std::vector<Json> slots;
  for (size_t n = 0; n < a.expected.size(); ++n)
    slots.push_back(Json::object(
        {{"target", a.expected[n]},
         {"answer", a.said[n]},
         {"scored", int(n) < a.scored},
         {"probabilities",
          Json::list(std::vector<double>(a.probability.begin() + ptrdiff_t(n) * a.symbols,
                                         a.probability.begin() + ptrdiff_t(n + 1) * a.symbols))}}));
  std::vector<std::string> symbols;
  for (const int symbol : input) symbols.push_back(t.alphabet[size_t(symbol)]);
  return {Json::object({{"slots", Json::list(slots)},
                        {"input", Json::list(symbols)},
                        {"positions", Json::list(l.positions)},
                        {"accuracy", a.accuracy()},
                        {"layers", blocks(s.config, int(input.size()))},
                        {"heads", s.config.whole("heads")},
                        {"time", l.time}}),
          {l.attention.begin(), l.attention.end()}};
}

Json row_means(const RowMeans& m) {
  return Json::object({{"largest", m.largest_weight}, {"entropy", m.entropy}});
}

// Words: the lengths, a temperature ("": the model's own), the number of strings for each length.
Response dispersion_of(Request& request) {
  const State& s = model(request);
  const std::vector<int> lengths = request.lengths();
  const auto policy = temperature(s, request.next());
  const Probed inside = probed(s, request.whole("strings", 1, 10000));
  check_lengths(s.config, lengths, "dispersion");
  return {Json::list(lengths, [&](int length) {
    const Dispersion d = dispersion(inside, length, policy);
    const RowMeans m = d.of_model();
    std::vector<Json> layers;
    for (int layer = 0; layer < d.layers; ++layer) layers.push_back(row_means(d.of_layer(layer)));
    return Json::object({{"length", length},
                         {"keys", d.keys},
                         {"largest", m.largest_weight},
                         {"entropy", m.entropy},
                         {"layers", Json::list(layers)}});
  })};
}

// Words: the long length, the number of strings.
Response align_it(Request& request) {
  const State& s = model(request);
  const int length = request.whole("length", 1, 10000);
  check_lengths(s.config, {length}, "align");
  const Aligning wanted{.shortest = s.config.whole("train_length"), .longer = {length}};
  const Alignment found = align(probed(s, request.whole("strings", 1, 10000)), wanted, {});
  const AlignedAt& at = found.lengths.front();
  return {Json::object({{"length", length},
                        {"temperature", at.found.tau.front()},
                        {"least", *std::min_element(wanted.grid.begin(), wanted.grid.end())},
                        {"target", row_means(found.target.of_model())},
                        {"before", row_means(at.before.of_model())},
                        {"after", row_means(at.after.of_model())}})};
}

}  // namespace

std::vector<Call> look_calls() {
  return {{"seen", seen}, {"ask", ask_it}, {"dispersion", dispersion_of}, {"align", align_it}};
}

}  // namespace poslab::web
