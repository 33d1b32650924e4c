// The list of temperature policies. n_i is the number of keys that query i sees: with a causal mask those up to its own
// slot, otherwise all. D is the width of a head; policies that normalize queries or keys undo the scheme's 1 / sqrt(D).
// The scale of ASEntmax is that of its released code, which leaves heads with ALiBi unscaled; its entmax is a scheme.
#include "encodings/temperature.h"

#include <algorithm>
#include <cmath>

#include "encodings/aligned.h"

namespace poslab {
namespace {

using Factor = std::function<double(double n)>;

// f(n_i, h), (1 or B, Tq, heads): computed once in a pass under this name, unless sequences differ in length.
Temperature by_keys_and_head(const std::string& name, int heads, const std::function<double(double n, int h)>& f) {
  return {[name, heads, f](const Heads& in, const Positions& p, const Span& span) {
    const int queries = in.q.dim(1), keys = in.k.dim(1);
    const auto make = [&](Device device) {
      const int sequences = span.key_lengths ? int(span.key_lengths.size()) : 1;
      std::vector<double> factors;
      for (int b = 0; b < sequences; ++b)
        for (int i = 0; i < queries; ++i) {
          const int length = span.key_lengths ? span.key_lengths[b] : keys;
          const int n = std::max(1, span.causal ? std::min(span.offset + i + 1, length) : length);
          for (int h = 0; h < heads; ++h) factors.push_back(f(n, h));
        }
      return Tensor::from({sequences, queries, heads}, factors).to(device);
    };
    if (span.key_lengths) return make(in.q.device());
    return p.once(fmt::format("{} {} {} {} {}", name, queries, keys, span.offset, span.causal), in.q.device(), make);
  }};
}

// f(n_i), (1 or B, Tq, 1)
Temperature by_keys(const Choices& c, const Factor& f) {
  return by_keys_and_head(c.spelled(), 1, [f](double n, int) { return f(n); });
}

// s_h f(n_i), s learned
Temperature by_head(const Params& p, const Choices& c, const ModelShape& m, const Factor& f) {
  return {[s = p.full("s", {1, 1, m.heads}, c.number("init")), f_n = by_keys(c, f).factor](
              const Heads& in, const Positions& at, const Span& span) { return f_n(in, at, span) * s; }};
}

// (ln n)^g = exp(g ln ln n). At n = 1, ln n is 0, which has no logarithm.
Temperature asentmax(const Params& p, const Choices& c, const ModelShape& m) {
  const bool one_more = c.on("one_more");
  const auto ln_ln = by_keys(c, [one_more](double n) {
    return std::log(std::log(one_more ? n + 1 : std::max(n, 2.)));
  }).factor;
  const int plain = c["heads"] == "second_half" ? m.heads / 2 : 0;   // heads whose logits are not scaled
  const Shape shape{m.d_model, m.heads - plain};
  return {[w_beta = p.truncated_normal("beta", shape, 0.02), w_gamma = p.truncated_normal("gamma", shape, 0.02),
           delta = c.number("delta"), range = c.number("range"),
           ln_ln, plain](const Heads& in, const Positions& at, const Span& span) {
    const Tensor beta = softplus(linear(in.x, w_beta)), gamma = tanh(linear(in.x, w_gamma)) * range;
    Tensor factor = delta + beta * exp(gamma * ln_ln(in, at, span));                  // (B, Tq, H - plain)
    if (!plain) return factor;
    return concat({Tensor::full({factor.dim(0), factor.dim(1), plain}, 1, in.x.device()), factor}, 2);
  }};
}

// x / |x| times `length`
Tensor of_length(double length, const Tensor& x) {
  const int D = x.dim(-1);
  return rms_norm(x, Tensor::full({D}, real(length / std::sqrt(double(D))), x.device()), 1e-12);
}
double root_of_width(const Heads& in) { return std::sqrt(double(in.q.dim(-1))); }

// 1 / tau of this layer
Temperature aligned(const Params&, const Choices& c, const ModelShape& m) {
  const AlignedTemperatures a = read_aligned(c["of"]);
  if (a.layers && (a.layers != m.layers || a.heads != m.heads))
    bad_input("temperature aligned: it is for a model of {} layers and {} heads, but this one has {} and {}; align "
              "this one with `poslab align`", a.layers, a.heads, m.layers, m.heads);
  const std::string name = fmt::format("aligned {} {}", m.layer, c["of"]);
  return by_keys_and_head(name, a.by_head() ? m.heads : 1,
                          [a, layer = m.layer](double n, int h) { return 1 / a.at(layer, h, n); });
}

// lambda cos(q_i, k_j)
Temperature cosine(const Params&, const Choices& c, const ModelShape&) {
  Temperature t = by_keys(c, [scale = c.number("scale"), log_n = c.on("log_n")](double n) {
    return scale * (log_n ? std::log(n) : 1);
  });
  t.prepare = [](Heads in) {
    in.q = of_length(root_of_width(in), in.q), in.k = of_length(1, in.k);
    return in;
  };
  return t;
}

}  // namespace

const std::vector<TemperaturePolicy>& all_temperatures() {
  static const std::vector<TemperaturePolicy> list = {
      {.name = "none", .summary = "logits as they are",
       .about = R"(The logits go into the softmax as they are. The more keys there are, the flatter the weights
get: among logits of equal size, each key's share shrinks as their number grows.)",
       .source = "Vaswani et al. 2017", .formula = "f = 1"},
      {.name = "constant", .summary = "one temperature for all queries: below 1 it sharpens",
       .about = R"(All logits are divided by one number. Below 1 attention gets sharper, above 1 flatter, by the
same factor at every length.)",
       .source = "Chi, Fan, Rudnicky 2023", .formula = "f = 1 / tau",
       .options = {{"tau", 1., {0.001, 1000}, "the temperature that logits are divided by"}},
       .make =
           [](const Params&, const Choices& c, const ModelShape&) {
             return by_keys(c, [tau = c.number("tau")](double) { return 1 / tau; });
           }},
      {.name = "log_n", .summary = "logits grow with the logarithm of the number of keys",
       .about = R"(Logits grow with the logarithm of the number of keys, so that a softmax over many keys stays as
sharp as one over few. `length` is the number of keys at which nothing changes. With only_longer
it leaves shorter strings alone, which suits a model that was trained without it.)",
       .source = "Chiang & Cholak 2022; Su 2021; the log rule of Chi, Fan, Rudnicky 2023",
       .formula = "f_i = ln n_i / ln length, and at least 1 if only_longer",
       .options = {Option::length("length", "1L", {2, 1 << 24}, "the number of keys at which nothing changes"),
                   {"only_longer", false, "shorter inputs do not change either, for a model trained without it"}},
       .make =
           [](const Params&, const Choices& c, const ModelShape&) {
             return by_keys(c, [length = c.whole("length"), only_longer = c.on("only_longer")](double n) {
               return std::max(std::log(n) / std::log(length), only_longer ? 1. : 0.);
             });
           },
       .unreached = [](const Choices& c, int keys) -> std::string {
         return c.on("only_longer") && keys <= c.whole("length") ? fmt::format("length = {}", c["length"]) : "";
       }},
      {.name = "llama4", .summary = "a step up in the logits each time the number of keys grows by `length`",
       .about = R"(Logits grow in steps: each time the number of keys passes a multiple of `length`, they are
multiplied by a little more. Below `length` keys nothing changes.)",
       .source = "Llama 4, layers without RoPE", .formula = "f_i = 1 + scale ln(1 + floor(n_i / length))",
       .options = {Option::length("length", "1L", {1, 1 << 24}, "keys in a step"),
                   {"scale", 0.1, {0, 100}, "height of the steps"}},
       .make =
           [](const Params&, const Choices& c, const ModelShape&) {
             return by_keys(c, [length = c.whole("length"), scale = c.number("scale")](double n) {
               return 1 + scale * std::log1p(std::floor(n / length));
             });
           },
       .unreached = [](const Choices& c, int keys) -> std::string {
         return keys < c.whole("length") ? fmt::format("length = {}", c["length"]) : "";
       }},
      {.name = "yarn", .summary = "one factor for a context that is `scale` times the trained one",
       .about = R"(One factor for all strings, from how much longer the tested context is than the trained one. YaRN
uses it together with its stretched rotations.)",
       .source = "Peng et al. 2024, equation 22", .formula = "f = (0.1 ln scale + 1)^2",
       .options = {{"scale", 1., {1, 1000000}, "tested length / trained length"}},
       .make =
           [](const Params&, const Choices& c, const ModelShape&) {
             return by_keys(c, [scale = c.number("scale")](double) { return std::pow(0.1 * std::log(scale) + 1, 2); });
           }},
      {.name = "aligned",
       .summary = "the numbers of `poslab align`: attention as peaked at long lengths as at short ones",
       .about = R"(Numbers for one trained model, from a file that `poslab align` writes. At each of its lengths
attention is as peaked, or has the same entropy, as on strings of the length that the model was
trained on. Between two lengths the temperature is linear in the logarithm of the number of keys;
below the short length it is 1.)",
       .source = "Chi, Fan, Rudnicky 2023", .formula = "f_ih = 1 / tau_lh(n_i)",
       .options = {Option::text("of", "", "the numbers that `poslab align` found, or @FILE, its file; aligned:FILE is "
                                          "short for it")},
       .make = aligned},
      {.name = "ssmax", .summary = "scalable softmax: ln n times a number that each head learns",
       .about = R"(The logarithm of the number of keys, times a number that each head of each layer learns: a head
that should look at few keys at any length learns a large one.)",
       .source = "Nakanishi 2025", .formula = "f_ih = s_h ln n_i",
       .options = {{"init", 0.168, {0, 100}, "s_h before training"}}, .learned = true,
       .make = [](const Params& p, const Choices& c,
                  const ModelShape& m) { return by_head(p, c, m, [](double n) { return std::log(n); }); }},
      {.name = "asentmax", .summary = "a power of ln n that each query chooses: ASEntmax's scale",
       .about = R"(Each query chooses how much its logits grow with the number of keys, and by which power of the
logarithm: a query that should look at few keys at any length can sharpen, another can stay as flat
as it is. Both numbers are read from the token's state, for each head.)",
       .source = "Vasylenko, Treviso, Martins 2025",
       .formula = "f_ih = delta + softplus(b_h . x_i) (ln (n_i + 1))^(range tanh(g_h . x_i))",
       .options = {{"delta", 1., {0, 100}, "the constant part of the factor"},
                   {"range", 2., {0, 8}, "the largest power of the logarithm; minus this is the smallest"},
                   {"one_more", true, "the logarithm of n + 1, as in the released code; off: of n, or of 2 if n is 1"},
                   {"heads", {"all", "second_half"},
                    "the scaled heads: all, or those that nape leaves without positions"}},
       .learned = true, .make = asentmax},
      {.name = "uniform_scale", .summary = "one factor for all queries of all heads: above 1 it sharpens",
       .about = R"(All logits are multiplied by one number. A model without positions that was
trained on short strings stays good on somewhat longer ones if its attention is
sharpened this way at test. It equals `constant` with tau = 1 / scale.)",
       .source = "Wang et al. 2024 (NoPE, UniformScale)", .formula = "f = scale",
       .options = {{"scale", 1.2, {0.001, 1000}, "the number that logits are multiplied by"}},
       .make = [](const Params&, const Choices& c,
                  const ModelShape&) { return by_keys(c, [f = c.number("scale")](double) { return f; }); }},
      {.name = "head_scale", .summary = "one factor for each head, learned",
       .about = R"(The logits of each head of each layer are multiplied by a number that is learned. The paper trains
only these numbers, on longer strings than before; here they are trained with all the rest.)",
       .source = "Wang et al. 2024 (NoPE, HeadScale)", .formula = "f_h = s_h",
       .options = {{"init", 1., {0, 100}, "s_h before training"}}, .learned = true,
       .make = [](const Params& p, const Choices& c,
                  const ModelShape& m) { return by_head(p, c, m, [](double) { return 1.; }); }},
      {.name = "key_norm", .summary = "keys of length 1, and no 1 / sqrt(D)",
       .about = R"(All keys are brought to length 1, so that the length of the query alone says how sharp it looks, and
no key wins by being long. The usual division by the root of the head's width is dropped.)",
       .source = "Su 2023 (KeyNorm)", .formula = "k_j <- sqrt(D) k_j / |k_j|, before the scheme's 1 / sqrt(D)",
       .make =
           [](const Params&, const Choices&, const ModelShape&) -> Temperature {
             return {{}, [](Heads in) {
                       in.k = of_length(root_of_width(in), in.k);
                       return in;
                     }};
           }},
      {.name = "query_norm", .summary = "queries of length 1, and no 1 / sqrt(D)",
       .about = R"(All queries are brought to length 1, so that the lengths of the keys alone say how sharp attention
is: the counterpart of key_norm, which helps less in its author's tests.)",
       .source = "Su 2023 (QueryNorm)", .formula = "q_i <- sqrt(D) q_i / |q_i|, before the scheme's 1 / sqrt(D)",
       .make =
           [](const Params&, const Choices&, const ModelShape&) -> Temperature {
             return {{}, [](Heads in) {
                       in.q = of_length(root_of_width(in), in.q);
                       return in;
                     }};
           }},
      {.name = "cosine", .summary = "the cosine of query and key, times scale ln n",
       .about = R"(Queries and keys are both brought to length 1, so that a logit is the cosine between them, times a
number that grows with the logarithm of the number of keys. The terms that a scheme adds to the
logits are multiplied by that number too.)",
       .source = "Su 2023 (CosA)", .formula = "s_ij = scale ln n_i cos(q_i, k_j)",
       .options = {{"scale", 4., {0.001, 1000}, "the number that cosines are multiplied by"},
                   {"log_n", true, "times the logarithm of the number of keys"}},
       .make = cosine},
  };
  return list;
}

Chosen<TemperaturePolicy> choose_temperature(const std::string& text, const RunValues& run) {
  Chosen<TemperaturePolicy> made = choose("temperature", all_temperatures(), text, run);
  if (made->make == nullptr || !made.choices.has("of") || !made.choices["of"].empty()) return made;
  bad_input(
      "temperature {}: no temperatures follow it; use aligned:FILE, a file that `poslab align` writes "
      "for your model",
      text);
}

Heads Temperature::operator()(Heads in, const Positions& p, const Span& span) const {
  if (prepare) in = prepare(std::move(in));
  if (factor) in.temperature = factor(in, p, span);
  return in;
}

std::vector<Temperature> temperature_layers(const Params& p, const Chosen<TemperaturePolicy>& policy,
                                            const ModelShape& m) {
  std::vector<Temperature> list;
  ModelShape of_layer = m;
  for (int& n = of_layer.layer = 0; n < m.layers; ++n)
    list.push_back(policy->make ? policy->make(p / fmt::format("layer{}", n), policy.choices, of_layer)
                                : Temperature{});
  return list;
}

}  // namespace poslab
