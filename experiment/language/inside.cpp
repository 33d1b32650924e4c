#include "experiment/language/inside.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "experiment/build.h"

namespace poslab::language {
namespace {

std::string symbol(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      text += "⏎";
    else if (c == '\t')
      text += "⇥";
    else if (c == ' ')
      text += "␣";
    else if (byte < 33 || byte > 126)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += c;
  }
  return text;
}

std::string output_of(int layer) { return fmt::format("block{}.out", layer); }

// For windows from .. from + samples - 1, at their last tokens.
Activations activations(const State& s, const Source& source, int length, int last, int from, int samples) {
  const int layers = blocks(s.config), C = s.config.whole("d_model");
  std::vector<std::string> names;
  for (int layer = 0; layer < layers; ++layer) names.push_back(output_of(layer));
  Activations all{0, std::vector<std::vector<double>>(size_t(layers))};
  for (int n = from; n < from + samples; ++n) {
    const std::vector<int> window = test_window(s.config, source, length, n);
    Trace trace(names);
    const Tensor states = s.net.states(Ids({1, length}, {window.begin(), window.end() - 1}),
                                       {test_positions(s.config, length), {}, &trace});
    const Tensor logits = s.net.logits(slice(states, 1, length - last, length));
    const Ids best = most_probable_ids(logits);
    for (int t = 0; t < last; ++t)
      all.accuracy += double(best[t] == window[size_t(length - last + t + 1)]) / (double(last) * samples);
    for (int layer = 0; layer < layers; ++layer) {
      const std::vector<real> x = trace.captured.at(output_of(layer)).values();  // (1, T, C)
      all.layers[size_t(layer)].insert(all.layers[size_t(layer)].end(), x.end() - int64_t(last) * C, x.end());
    }
  }
  return all;
}

}  // namespace

std::vector<std::string> symbols(const Source& source, const std::vector<int>& tokens) {
  std::vector<std::string> all;
  for (const int token : tokens)
    all.push_back(source.grammar ? fmt::format("{}", token) : symbol(source.reader().text(token)));
  return all;
}

void check_lengths(const State& s, const std::vector<int>& lengths, const std::string& command, bool maps) {
  if (maps && s.config.whole("d_model") < 2) bad_input("{}: d_model = 1 has no plane; use 2 or more", command);
  constexpr double most_bytes = 2e9;
  const double heads = blocks(s.config) * double(s.net.spec().heads);
  const int room = std::min(pool_of(test_sampler(s.config)), 1 << 20);
  const int fits = int(std::sqrt(most_bytes / sizeof(float) / heads));
  const int most = maps ? std::min(room, fits) : room;
  for (const int length : lengths)
    if (length < 2 || length > most)
      bad_input("{}: length {} does not fit this language model; ask for 2 to {} tokens{}", command, length, most,
                maps && most == fits ? ", because the attention of all heads is kept" : "");
}

std::vector<int> test_window(const RunSpec& c, const Source& source, int length, int n, Purpose purpose) {
  Rng rng(stream(uint64_t(c.whole("seed")), purpose, uint64_t(length), uint32_t(n)));
  return source.window(purpose == Purpose::test_tokens, length + 1, rng).tokens;
}

AttentionMaps attention_maps(const State& s, const Source& source, const std::vector<int>& tokens) {
  const Inference as_this_run(s.config);
  const int T = int(tokens.size());
  AttentionMaps maps{T, T, 0, {}, {}, symbols(source, tokens)};
  for (int layer = 0; layer < blocks(s.config); ++layer) {
    Trace trace({fmt::format("block{}.attention.weights", layer)});
    s.net.states(Ids({1, T}, tokens), {test_positions(s.config, T), {}, &trace});
    maps.add(trace.captured.begin()->second);
  }
  return maps;
}

Pca pca(const State& s, const Source& source, const std::vector<int>& lengths, int samples) {
  const Inference as_this_run(s.config);
  const int last = *std::min_element(lengths.begin(), lengths.end());
  std::vector<Activations> all;
  for (const int length : lengths) all.push_back(activations(s, source, length, last, 0, samples));
  Pca made = planes(lengths, samples, all, activations(s, source, lengths[0], last, samples, samples),
                    s.config.whole("d_model"));
  made.last = last;
  return made;
}

Coverage coverage(const State& s, const std::vector<int>& lengths) {
  const RunSpec& c = s.config;
  const auto layers = [&](const Chosen<Sampler>& drawn) { return drawn->parts ? c.whole("layers") : 1; };
  return poslab::coverage({.scheme = c.scheme,
                           .causal = true,
                           .done = s.trained_elsewhere ? 1 : s.adam.step,  // training is unknown: one draw counts
                           .training = [&](int64_t step) { return training_positions(c, step); },
                           .test = [&](int length, int) { return test_positions(c, length); },
                           .training_layers = layers(sampler(c)),
                           .test_layers = layers(test_sampler(c))},
                          lengths);
}

Probed probed(const State& s, const Source& source, int samples) {
  const auto run = [&s, &source, samples](const Look& look) {
    const Inference as_this_run(s.config);
    const Decoder net = look.temperature ? s.net.at_temperature(*look.temperature) : s.net;
    for (int n = 0; n < (look.samples ? look.samples : samples); ++n) {
      const std::vector<int> window = test_window(s.config, source, look.length, n, look.strings);
      look.observe([&](Trace* trace) {
        net.states(Ids({1, look.length}, {window.begin(), window.end() - 1}),
                   {test_positions(s.config, look.length), {}, trace});
      });
    }
  };
  return {.layers = s.net.spec().layers,
          .heads = s.net.spec().heads,
          .causal = true,
          .keys = [](int length) { return length; },
          .run = run,
          .forward = [&s](int length) { return forward(s.net.spec(), s.config, length); },
          .inputs = samples};
}

}  // namespace poslab::language
