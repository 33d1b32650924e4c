// The list of temperature policies. n_i is the number of keys that query i sees: with a causal mask those up to its own
// slot, otherwise all.
// Left out: policies that read the state x_i (ASEntmax), normalized queries and keys.
#include "encodings/temperature.h"

#include <algorithm>
#include <cmath>

namespace poslab {
namespace {

using Factor = std::function<double(double n)>;

// f(n_i), (1 or B, Tq, 1): computed once for all layers of a pass, unless each sequence has a length of its own.
Temperature by_keys(const Choices& c, const Factor& f) {
  return [name = c.spelled(), f](const Heads& in, const Positions& p, const Span& span) {
    const int queries = in.q.dim(1), keys = in.k.dim(1);
    const auto make = [&](Device device) {
      const int sequences = span.key_lengths ? int(span.key_lengths.size()) : 1;
      std::vector<double> factors;
      for (int b = 0; b < sequences; ++b)
        for (int i = 0; i < queries; ++i) {
          const int length = span.key_lengths ? span.key_lengths[b] : keys;
          factors.push_back(f(std::max(1, span.causal ? std::min(span.offset + i + 1, length) : length)));
        }
      return Tensor::from({sequences, queries, 1}, factors).to(device);
    };
    if (span.key_lengths) return make(in.q.device());
    return p.once(fmt::format("{} {} {} {} {}", name, queries, keys, span.offset, span.causal), in.q.device(), make);
  };
}

Temperature ssmax(const Params& p, const Choices& c, int heads) {
  return [s = p.full("s", {1, 1, heads}, c.number("init")), ln_n = by_keys(c, [](double n) { return std::log(n); })](
             const Heads& in, const Positions& positions, const Span& span) {
    return ln_n(in, positions, span) * s;
  };
}

}  // namespace

const std::vector<TemperaturePolicy>& all_temperatures() {
  static const std::vector<TemperaturePolicy> list = {
      {.name = "none", .summary = "logits as they are", 
       .about = R"(The logits go into the softmax as they are. The more keys there are, the flatter it gets: over
logits of one size, each key's share shrinks as their number grows.)",
       .source = "Vaswani et al. 2017", .formula = "f = 1"},
      {.name = "constant", .summary = "one temperature for all queries: below 1 it sharpens",
       .about = R"(All logits are divided by one number. Below 1 attention gets sharper, above 1 flatter, at every
length alike.)",
       .source = "Chi, Fan, Rudnicky 2023", .formula = "f = 1 / tau",
       .options = {{"tau", 1., {0.001, 1000}, "the temperature that logits are divided by"}},
       .make =
           [](const Params&, const Choices& c, int) {
             return by_keys(c, [tau = c.number("tau")](double) { return 1 / tau; });
           }},
      {.name = "log_n", .summary = "logits grow with the logarithm of the number of keys",
       .about = R"(Logits grow with the logarithm of the number of keys, so that a softmax over many keys stays as
sharp as one over few. `length` is the number of keys at which nothing changes. With only_longer
it leaves shorter strings alone, which suits a model that was trained without it.)",
       .source = "Chiang & Cholak 2022; Su 2021; the log rule of Chi, Fan, Rudnicky 2023",
       .formula = "f_i = ln n_i / ln length, and at least 1 if only_longer",
       .options = {{"length", 512, {2, 1 << 24}, "the number of keys at which nothing changes"},
                   {"only_longer", false, "nothing changes below that length either, for a model trained without it"}},
       .make =
           [](const Params&, const Choices& c, int) {
             return by_keys(c, [length = c.whole("length"), only_longer = c.on("only_longer")](double n) {
               return std::max(std::log(n) / std::log(length), only_longer ? 1. : 0.);
             });
           }},
      {.name = "llama4", .summary = "a step up in the logits each time the number of keys grows by `length`",
       .about = R"(Logits grow in steps: each time the number of keys passes a multiple of `length`, they are
multiplied by a little more. Below `length` keys nothing changes.)",
       .source = "Llama 4, layers without RoPE", .formula = "f_i = 1 + scale ln(1 + floor(n_i / length))",
       .options = {{"length", 8192, {1, 1 << 24}, "keys to a step"}, {"scale", 0.1, {0, 100}, "height of the steps"}},
       .make =
           [](const Params&, const Choices& c, int) {
             return by_keys(c, [length = c.whole("length"), scale = c.number("scale")](double n) {
               return 1 + scale * std::log1p(std::floor(n / length));
             });
           }},
      {.name = "yarn", .summary = "one factor for a context that is `scale` times the trained one",
       .about = R"(One factor for all strings, from how much longer the tested context is than the trained one. YaRN
uses it together with its stretched rotations.)",
       .source = "Peng et al. 2024, equation 22", .formula = "f = (0.1 ln scale + 1)^2",
       .options = {{"scale", 1., {1, 1000000}, "tested length / trained length"}},
       .make =
           [](const Params&, const Choices& c, int) {
             return by_keys(c, [scale = c.number("scale")](double) { return std::pow(0.1 * std::log(scale) + 1, 2); });
           }},
      {.name = "ssmax", .summary = "scalable softmax: ln n times a number that each head learns",
       .about = R"(The logarithm of the number of keys, times a number that each head of each layer learns: a head
that should look at few keys at any length learns a large one.)",
       .source = "Nakanishi 2025", .formula = "f_ih = s_h ln n_i",
       .options = {{"init", 0.168, {0, 100}, "s_h before training"}}, .learned = true, .make = ssmax},
  };
  return list;
}

Chosen<TemperaturePolicy> choose_temperature(const std::string& text) {
  return choose("temperature", all_temperatures(), text);
}

std::vector<Temperature> temperature_layers(const Params& p, const Chosen<TemperaturePolicy>& policy, int layers,
                                            int heads) {
  std::vector<Temperature> list;
  for (int n = 0; n < layers; ++n)
    list.push_back(policy->make ? policy->make(p / fmt::format("layer{}", n), policy.choices, heads) : Temperature{});
  return list;
}

}  // namespace poslab
