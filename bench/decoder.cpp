#include "bench/all.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "autograd/tape.h"
#include "bench/clock.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "nn/decoder.h"
#include "tests/support/formula.h"

namespace poslab {
namespace {

const std::vector<std::string> schemes = {"rope", "rerope:window=512", "rerope:window=512,leaky=16"};

PositionSample counted(int tokens) {
  return PositionSample(choose_sampler("sequential"), Resample::per_forward, {}, 1, tokens);
}

Tensor noise(const Shape& shape, uint32_t site) {
  Tensor x(shape);
  Rng rng(stream(1, Purpose::tokens, 0, site));
  std::generate_n(x.data(), x.size(), [&] { return real(rng.normal()); });
  return x;
}

// Times the attention of one layer over all tokens.
struct Prefill {
  std::unique_ptr<Encoding> layer;
  Tensor q, k, v;
  PositionSample positions;

  Prefill(const std::string& scheme, int T)
      : layer(layer_of(scheme)), q(heads(T, 0)), k(heads(T, 1)), v(heads(T, 2)), positions(counted(T)) {}

  static std::unique_ptr<Encoding> layer_of(const std::string& scheme) {
    PositionLayers all(Params(1), choose_encoding(scheme, trained_on(1024)), DecoderSpec().shape());
    return std::move(all.layers[0]);
  }

  static Tensor heads(int T, uint32_t site) {
    const ModelShape m = DecoderSpec().shape();
    return noise({1, T, m.heads, m.head_dim()}, site);
  }

  void run() {
    positions.begin_pass();
    layer->attend({q, k, {}}, v, positions.at_layer(0), {.causal = true});
  }
};

// Times one more token after the cached ones.
struct OneMore {
  Params params{1};
  Decoder net;
  KeyValueCache full;
  PositionSample positions;

  OneMore(const std::string& scheme, int T)
      : net(decoder(params, scheme)), full(net.cache(1, T + 1)), positions(counted(T + 1)) {
    params.pack();
    const std::vector<int> tokens = formula::integers("tokens", T, net.spec().vocabulary);
    const PositionSample at = counted(T);
    net.decode(Ids({1, T}, tokens), 1, {at, {}}, full);
  }

  static Decoder decoder(const Params& p, const std::string& scheme) {
    DecoderSpec spec;
    spec.encoding = choose_encoding(scheme, trained_on(1024));
    return Decoder(p, spec);
  }

  void run() {
    KeyValueCache cache = full;   // a copy, for turns of equal length; the numbers are shared
    net.decode(Ids({1, 1}, {7}), 1, {positions, {}}, cache);
  }
};

template <class Work>
void time(const char* what, double seconds) {
  fmt::print("\n{}\n{:>8}", what, "T");
  for (const std::string& s : schemes) fmt::print("{:>32} ms", s);
  fmt::print("\n");
  for (const int T : {1024, 4096, 16384}) {
    std::vector<std::unique_ptr<Work>> sides;
    for (const std::string& s : schemes) sides.push_back(std::make_unique<Work>(s, T));
    for (const auto& side : sides) side->run();
    std::vector<std::vector<double>> took(sides.size());
    const auto start = std::chrono::steady_clock::now();
    while (took[0].size() < 5 || seconds_since(start) < seconds)
      for (size_t n = 0; n < sides.size(); ++n) took[n].push_back(timed([&] { sides[n]->run(); }));
    fmt::print("{:>8}", T);
    double first = 0;
    for (std::vector<double>& each : took) {
      std::nth_element(each.begin(), each.begin() + std::ptrdiff_t(each.size() / 2), each.end());
      const double ms = 1e3 * each[each.size() / 2];
      first = first ? first : ms;
      fmt::print("{:>28.3f} {:5.2f}x", ms, ms / first);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
}

}  // namespace

void time_decoder() {
  const NoGrad no_gradient;
  fmt::print("{} {}, {} threads; x: relative to RoPE\n", isa(), sizeof(real) == 4 ? "float" : "double", threads());
  time<Prefill>("attention of one layer over T tokens", 3);
  time<OneMore>("one more token after T cached ones, 6 layers", 3);
}

}  // namespace poslab
