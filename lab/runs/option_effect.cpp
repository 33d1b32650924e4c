#include "lab/runs/option_effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "autograd/tape.h"
#include "core/error.h"
#include "encodings/compose.h"
#include "experiment/build.h"
#include "experiment/kind.h"
#include "experiment/no_effect.h"

namespace poslab {
namespace {

constexpr int sequences = 2, words = 8;
constexpr double most_products = 1e9;   // in one pass, which then takes a tenth of a second
constexpr int all_queries = 512;        // up to this many slots all are queries; beyond, only the last few
constexpr int last_queries = 64;
constexpr double rounding_error = 1e-6;  // of the largest logit

// A model with the run's heads, and a layer of each kind that either scheme has.
TransformerSpec small_model(const RunSpec& c, const RunSpec& other, bool causal) {
  const bool one_head = c.has("unit") && c["unit"] == "gau";
  TransformerSpec s;
  s.symbols_in = s.symbols_out = words;
  const auto least = [](const RunSpec& of) { return of.scheme->pages.least_layers(of.scheme.choices); };
  s.layers = std::min(deepest_stack(c), std::max(least(c), least(other)));
  s.heads = one_head ? 1 : c.whole("heads"), s.d_model = c.whole("d_model");
  s.ffn_multiplier = 1, s.causal = causal;
  if (c.has("max_position")) s.pool = c.whole("max_position"), s.first = c.whole("first_position");
  return s;
}

double products(const TransformerSpec& s, int slots, int queries) {
  const double d = s.d_model, all = slots * d * (6 * d + 2. * slots);
  return sequences * ((s.layers - 1) * all + 2 * slots * d * d + queries * d * (4 * d + 2. * slots));
}

// The logits of random tokens. All parameters are random, so that a bias that begins at 0 has an effect, too.
std::vector<real> logits(const RunSpec& c, bool at_test, TransformerSpec s, int slots, int queries) {
  s.encoding = c.scheme, s.temperature = at_test ? c.test_temperature : c.temperature;
  const Params p(1);
  const Transformer net(p, s);
  p.pack();
  Rng rng(stream(1, Purpose::tokens, 0));
  for (int64_t i = 0; i < p.count(); ++i) p.values()[i] += real(0.1 * rng.normal());
  std::vector<int> tokens, classes;
  for (int i = 0; i < sequences * slots; ++i)
    tokens.push_back(int(rng.below(words))), classes.push_back(int(rng.below(3)));
  const Chosen<Sampler> drawn = at_test ? test_sampler(c) : sampler(c);
  const PositionSample positions(drawn, Resample::per_forward, stream(1, Purpose::positions, 0), 1, slots,
                                 drawn->reads_classes ? Ids({sequences, slots}, classes) : Ids());
  const NoGrad still;
  return net(Ids({sequences, slots}, tokens), queries, {positions, Dropout{}}).values();
}

// The largest difference between two lists, relative to the largest value; infinite where only one is finite.
double distance(const std::vector<real>& one, const std::vector<real>& other) {
  double difference = 0, most = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    if (one[i] == other[i] || (std::isnan(one[i]) && std::isnan(other[i]))) continue;
    const double here = std::abs(double(one[i]) - other[i]);
    difference = std::max(difference, std::isfinite(here) ? here : INFINITY);
  }
  for (const real x : one) most = std::max(most, std::abs(double(x)));
  return difference == 0 ? 0 : difference / most;
}

// The largest distance between the models' logits, in training and at test.
double distance(const RunSpec& c, const RunSpec& other, int slots) {
  const int queries = slots > all_queries ? last_queries : slots;
  double most = 0;
  for (const bool causal : {false, true}) {
    if (c.has("causal") ? c.on("causal") != causal : !causal && !c.has("decoder_layers")) continue;
    const TransformerSpec s = small_model(c, other, causal);
    if (products(s, slots, queries) > most_products) return INFINITY;
    for (const bool at_test : {false, true})
      most = std::max(most, distance(logits(c, at_test, s, slots, queries), logits(other, at_test, s, slots, queries)));
  }
  return most;
}

std::string without(const Spelling& all, const std::string& option) {
  std::string text = all.name;
  for (const auto& [name, value] : all.settings)
    if (name != option) text += fmt::format("{}{}={}", text == all.name ? ":" : ",", name, value);
  return text;
}

std::string spelled(const RunSpec& c, const std::string& subject) {
  return subject == "encoding"      ? c.scheme.spelled()
         : subject == "positions"   ? c.positions.spelled()
         : subject == "temperature" ? c.temperature.spelled()
         : subject == "test_positions" ? c.test_positions.spelled() : c.test_temperature.spelled();
}

std::vector<std::string> lines_of(const RunSpec& c, const std::string& subject) {
  std::vector<std::string> lines;
  const int slots = kind_of(c).longest(c);
  const Spelling all = read_spelling(c[subject]);
  for (const auto& [name, value] : all.settings) try {
    const RunSpec other = c.with({{subject, without(all, name)}});
    if (spelled(c, subject) == spelled(other, subject)) continue;
    const double change = distance(c, other, slots);
    if (change > rounding_error) continue;
    lines.push_back(fmt::format("{} = {}: {} = {} changes nothing here{}: without it, the logits of {} slots are the "
                                "same", subject, spelled(c, subject), name, value, change ? " except rounding" : "",
                                slots));
  } catch (const BadInput&) {  // The other options need this one.
  }
  return lines;
}

}  // namespace

std::vector<std::string> options_without_effect(const RunSpec& c) {
  static thread_local std::map<std::string, std::vector<std::string>> known;   // of a sweep's earlier trials
  std::string key;
  for (const char* option : {"encoding", "positions", "temperature", "test_positions", "test_temperature", "task",
                             "heads", "layers", "decoder_layers", "d_model", "unit", "causal", "max_position",
                             "first_position", "train_length"})
    if (c.has(option)) key += c[option] + "\n";
  const auto [at, is_new] = known.try_emplace(key + fmt::format("{}", kind_of(c).longest(c)));
  if (!is_new) return at->second;
  for (const char* subject : {"encoding", "positions", "temperature", "test_positions", "test_temperature"})
    if (c.has(subject) && c[subject].find(':') != std::string::npos && !composed_spelling(c[subject]))
      for (std::string& line : lines_of(c, subject)) at->second.push_back(std::move(line));
  return at->second;
}

}  // namespace poslab
