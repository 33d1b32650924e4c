// The decoder: against an independent one in NumPy, its gradients, and decoding with a cache against full passes.
#include "nn/decoder.h"

#include <doctest/doctest.h>

#include <fstream>
#include <map>

#include "autograd/tape.h"
#include "core/memory.h"
#include "encodings/checks/setup.h"
#include "encodings/grouped_heads.h"
#include "nn/feed_forward.h"
#include "tests/support/golden.h"
#include "tests/support/places.h"

using namespace poslab;
using nlohmann::json;

namespace {

DecoderSpec small(const std::string& encoding, int key_heads = 2) {
  DecoderSpec s;
  s.vocabulary = 13, s.layers = 2, s.heads = 4, s.key_heads = key_heads, s.d_model = 32, s.d_ff = 40;
  s.encoding = choose_encoding(encoding, trained_on(1024));
  return s;
}

// A model whose weights are changed, because with initial weights some schemes do nothing.
struct Model {
  Params params{3};
  Decoder net;
  explicit Model(const DecoderSpec& s) : net(params, s) {
    params.pack();
    uint32_t which = 300;
    for (const Params::Entry& e : params.entries()) {
      const Tensor moved = checks::random_tensor(e.tensor.shape(), ++which, 0.1);
      for (int64_t i = 0; i < moved.size(); ++i) e.tensor.data()[i] += moved.data()[i];
    }
  }
};

Ids text(int sequences, int time, int below) {
  return Ids({sequences, time}, formula::integers("text", int64_t(sequences) * time, below));
}
Ids part(const Ids& tokens, int from, int to) {
  std::vector<int> at;
  const int T = tokens.shape()[1];
  for (int b = 0; b < tokens.shape()[0]; ++b)
    for (int t = from; t < to; ++t) at.push_back(tokens[b * T + t]);
  return Ids({tokens.shape()[0], to - from}, at);
}
PositionSample sequential(int time) { return {choose_sampler("sequential"), Resample::per_forward, {}, 1, time}; }

// The largest error of logits when decoding in steps of these sizes; the last step is repeated.
double decoding_error(const DecoderSpec& spec, int time, const std::vector<int>& steps) {
  const Model model(spec);
  const NoGrad still;
  const Ids tokens = text(2, time, spec.vocabulary);
  const Tensor full = model.net(tokens, time, {sequential(time), {}});
  KeyValueCache cache = model.net.cache(2, time);
  double worst = 0;
  for (size_t step = 0; cache.length() < time; ++step) {
    const int from = cache.length(), to = std::min(time, from + steps[std::min(step, steps.size() - 1)]);
    const Tensor logits = model.net.decode(part(tokens, from, to), to - from, {sequential(to), {}}, cache);
    worst = std::max(worst, checks::difference(logits, slice(full, 1, from, to)));
  }
  return worst;
}

DecoderSpec units(const std::string& encoding) {
  DecoderSpec s = small(encoding);
  s.heads = s.key_heads = 1, s.gau = 8, s.d_ff = 64;
  return s;
}

// Traits of families other than LLaMA, by their names in tests/reference/decoder.py.
void set_form(DecoderSpec& s, const json& of) {
  s.query_key_norm =
      std::map<std::string, QueryKeyNorm>{
          {"none", QueryKeyNorm::none}, {"each_head", QueryKeyNorm::each_head}, {"all_heads", QueryKeyNorm::all_heads}}
          .at(of["query_key_norm"]);
  s.norms =
      std::map<std::string, NormPlace>{
          {"before", NormPlace::before}, {"after", NormPlace::after}, {"around", NormPlace::around}}
          .at(of["norms"]);
  s.gate = of["gate"] == "silu" ? Activation::silu : Activation::gelu_tanh;
  s.embedding_scale = of["embedding_scale"], s.logit_cap = of["logit_cap"];
}

bool by_length(const DecoderSpec& s) { return s.encoding->laws(s.shape(), s.encoding.choices).by_length; }

const double same = sizeof(real) == 8 ? 1e-11 : 1e-4;

}  // namespace

TEST_CASE("decoder: logits, loss and all gradients equal those of an independent model in NumPy") {
  for (const char* name : {"llama", "qwen", "rerope", "one_key_head", "gau", "olmo", "gemma"}) {
    INFO(name);
    std::ifstream file(std::string(test::source_folder) + "/tests/data/decoder/" + name + ".json");
    REQUIRE(file);
    const json of = json::parse(file);
    DecoderSpec s;
    s.vocabulary = of["vocabulary"], s.layers = of["layers"], s.heads = of["heads"], s.key_heads = of["key_heads"];
    s.d_model = of["d_model"], s.d_ff = of["d_ff"], s.biases = of["biases"], s.tied = of["tied"];
    s.epsilon = of["epsilon"], s.gau = of["gau"];
    set_form(s, of);
    s.encoding = choose_encoding(of["encoding"]), s.temperature = choose_temperature(of["temperature"]);
    Params params(1);
    const Decoder net(params, s);
    params.pack();
    formula::fill(params);
    const Ids tokens = golden::ids(of["tokens"]);
    const int T = tokens.shape()[1];
    const Tensor logits = net(tokens, T, {sequential(T), {}});
    const Tensor loss = cross_entropy(logits, golden::ids(of["targets"]));
    backward(loss);
    CHECK(golden::logit_error(logits, of["logits"]) <= golden::tolerance);
    CHECK(std::abs(loss.item() / double(of["loss"]) - 1) <= golden::tolerance);
    CHECK(params.entries().size() == of["gradients"].size());
    for (const Params::Entry& e : params.entries()) {
      INFO(e.name);
      REQUIRE(of["gradients"].contains(e.name));
      const json& digest = of["gradients"][e.name];
      REQUIRE(e.tensor.size() == int64_t(digest["size"]));
      CHECK(golden::gradient_error(e.name, e.tensor.grad().values(), digest) <= golden::tolerance);
    }
  }
}

TEST_CASE("decoder: grouped heads equal repeated key heads, in values and gradients, for every scheme") {
  // 4 query heads read 2 key heads; this is compared with a model that has each key head twice.
  for (const Scheme& scheme : all_encodings()) {
    if (!scheme.make) continue;
    INFO(scheme.name);
    const checks::Setup setup{choose_encoding(scheme.name, trained_on(1024)),
                              {2, 4, 16, true, 64, 0},
                              "plain",
                              choose_sampler("sequential"),
                              Resample::per_forward};
    const checks::Model model(setup);
    const PositionSample draw = setup.draw(64);
    const Positions& p = draw.at_layer(1);
    const int T = checks::T;
    const auto leaf = [](Shape shape, uint32_t which) { return checks::random_tensor(shape, which).require_grad(); };
    const Tensor x = checks::random_tensor({2, T, 16}, 1);
    const auto outcome = [&](bool repeated) {
      const Tensor q = leaf({2, T, 4, 4}, 2), k = leaf({2, T, 2, 4}, 3), v = leaf({2, T, 2, 4}, 4);
      Heads in{q, repeated ? repeat_heads(k, 4) : k, x, x};
      in = fit_key_heads(*model, in, p);
      const Tensor o = model->attend(in, repeat_heads(v, in.k.dim(2)), p, {.causal = true});
      backward(sum_all(o * checks::random_tensor(o.shape(), 5)));
      return std::vector<Tensor>{o.detach(), q.grad(), k.grad(), v.grad()};
    };
    const auto one = outcome(false), other = outcome(true);
    for (size_t n = 0; n < one.size(); ++n) CHECK(checks::difference(one[n], other[n]) < checks::tolerance);
  }
}

TEST_CASE("decoder: each step of decoding equals the full pass, for every scheme") {
  for (const Scheme& scheme : all_encodings()) {
    for (const int key_heads : {2, 4}) {
      DecoderSpec s = small(scheme.name, key_heads);
      if (by_length(s)) continue;
      INFO(scheme.name, ", ", key_heads, " key heads");
      CHECK(decoding_error(s, 12, {5, 1, 1, 2, 1}) < same);
    }
  }
}

TEST_CASE("decoder: 64 tokens, one at a time, with windows, stretched rotations and temperatures") {
  for (const char* encoding :
       {"none", "rope:pairing=half", "rerope:window=16", "rerope:window=16,leaky=8", "ntk:factor=4", "ntk:form=mixed",
        "yarn:factor=4,length=16", "pi", "alibi", "t5", "self_extend:window=16,group=4", "lambda:window=16",
        "window:window=16", "hfwa:window=9", "hfwa2", "rope|none", "none*2+alibi*2"})
    for (const char* temperature : {"none", "log_n:length=16", "key_norm"}) {
      INFO(encoding, ", temperature ", temperature);
      DecoderSpec s = small(encoding);
      s.temperature = choose_temperature(temperature);
      CHECK(decoding_error(s, 64, {1}) < same);
    }
}

TEST_CASE("decoder: with norms of queries and keys, and norms after the sub-layers, decoding equals the full pass") {
  for (const QueryKeyNorm heads : {QueryKeyNorm::each_head, QueryKeyNorm::all_heads})
    for (const NormPlace norms : {NormPlace::before, NormPlace::after, NormPlace::around})
      for (const char* encoding : {"rope", "rerope:window=16", "forgetting"}) {
        INFO(encoding, ", ", int(heads), int(norms));
        DecoderSpec s = small(encoding);
        s.query_key_norm = heads, s.norms = norms, s.windows = {0, 9};
        if (encoding == std::string("forgetting")) s.windows.clear();
        CHECK(decoding_error(s, 40, {7, 1}) < same);
      }
}

TEST_CASE("decoder: gated attention units decode as in the full pass; schemes that need other states are refused") {
  for (const char* encoding : {"none", "rope", "rerope:window=16", "alibi", "lambda:window=16"}) {
    INFO(encoding);
    CHECK(decoding_error(units(encoding), 64, {7, 1}) < same);
  }
  CHECK(Model(units("rope")).net.cache(1, 4).numbers_per_token() == 2 * (8 + 64));
  CHECK_THROWS_AS(Model(units("sincos")), BadInput);
  CHECK_THROWS_AS(Model(units("forgetting")), BadInput);
  DecoderSpec many = units("rope");
  many.heads = 4;
  CHECK_THROWS_AS(Model{many}, BadInput);
}

TEST_CASE("decoder: 512 tokens, one at a time, are within 1e-4 of the full pass" * doctest::skip()) {
  for (const char* encoding :
       {"none", "rope", "pi", "ntk:form=old", "ntk:form=fixed", "ntk:form=mixed", "yarn:length=64", "rerope:window=32",
        "rerope:window=32,leaky=16", "self_extend:window=32", "lambda:window=32", "alibi", "hfwa", "hfwa2"}) {
    const double error = decoding_error(small(encoding), 512, {1});
    INFO(encoding);
    CHECK(error < 1e-4);
    fmt::print("decoding 512 tokens, {:28} worst error {:.1e}\n", encoding, error);
  }
}

TEST_CASE("decoder: with a scheme that depends on the length, each step of decoding gives the full pass's last row") {
  // With one layer the keys do not depend on earlier lengths, so decoding is exact even if the base changes in every
  // step. With two layers they do.
  DecoderSpec s = small("dynamic_ntk:length=8");
  REQUIRE(by_length(s));
  CHECK(decoding_error(s, 20, {1}) > 1e-3);
  s.layers = 1;
  const Model model(s);
  const NoGrad still;
  const Ids tokens = text(1, 20, s.vocabulary);
  KeyValueCache cache = model.net.cache(1, 20);
  for (int t = 1; t <= 20; ++t) {
    const Tensor step = model.net.decode(part(tokens, t - 1, t), 1, {sequential(t), {}}, cache);
    CHECK(checks::difference(step, model.net(part(tokens, 0, t), 1, {sequential(t), {}})) < same);
  }
}

TEST_CASE("decoder: the cache has 2 G D numbers for each token and layer, with states C more; nothing else grows") {
  const auto numbers = [](const char* encoding) { return Model(small(encoding)).net.cache(1, 8).numbers_per_token(); };
  CHECK(numbers("rerope") == 2 * 2 * 2 * 8);
  CHECK(numbers("alibi") == 2 * 2 * 2 * 8);
  CHECK(numbers("forgetting") == 2 * (2 * 2 * 8 + 32));
  const Model model(small("rerope:window=4"));
  const auto decode = [&](int t, KeyValueCache& cache) {
    model.net.decode(text(1, 1, 13), 1, {sequential(t), {}}, cache);
  };
  KeyValueCache first = model.net.cache(1, 40), cache = model.net.cache(1, 40);
  for (int t = 1; t <= 40; ++t) decode(t, first);  // the kernels' scratch memory grows to its final size
  const int64_t before = memory().bytes_in_use;
  for (int t = 1; t <= 40; ++t) {
    decode(t, cache);
    CHECK(memory().bytes_in_use == before);
  }
  CHECK(cache.length() == 40);
  CHECK(tape_length() == 0);
  CHECK_THROWS_WITH_AS(model.net.decode(text(1, 1, 13), 1, {sequential(41), {}}, cache),
                       "cache: it has room for 40 tokens; 1 more do not fit after the 40 in it; make a larger one",
                       BadInput);
}

TEST_CASE("decoder: another scheme or temperature at test shares the weights, unless it has parameters") {
  const Model model(small("rope"));
  const Ids tokens = text(1, 10, 13);
  const NoGrad still;
  const Tensor rope = model.net(tokens, 10, {sequential(10), {}});
  // Leaky ReRoPE with k = 1 is RoPE; ReRoPE with a small window is not.
  CHECK(checks::difference(
            model.net.with_encoding(choose_encoding("rerope:window=3,leaky=1"))(tokens, 10, {sequential(10), {}}),
            rope) < same);
  CHECK(checks::difference(
            model.net.with_encoding(choose_encoding("rerope:window=3"))(tokens, 10, {sequential(10), {}}), rope) >
        1e-3);
  CHECK(checks::difference(
            model.net.at_temperature(choose_temperature("log_n:length=5"))(tokens, 10, {sequential(10), {}}), rope) >
        1e-3);
  CHECK_THROWS_AS(model.net.with_encoding(choose_encoding("t5")), BadInput);
  CHECK_THROWS_AS(model.net.at_temperature(choose_temperature("ssmax")), BadInput);
}

TEST_CASE("decoder: sizes, tokens and options that do not fit are refused") {
  const auto refused = [](const auto& change) {
    DecoderSpec s = small("none");
    change(s);
    CHECK_THROWS_AS(Model{s}, BadInput);
  };
  refused([](DecoderSpec& s) { s.vocabulary = 0; });
  refused([](DecoderSpec& s) { s.heads = 0; });
  refused([](DecoderSpec& s) { s.d_model = 0; });
  refused([](DecoderSpec& s) { s.d_ff = 0; });
  refused([](DecoderSpec& s) { s.head_dim = -1; });
  refused([](DecoderSpec& s) { s.key_heads = 0; });
  refused([](DecoderSpec& s) { s.key_heads = 3; });
  refused([](DecoderSpec& s) { s.heads = 5, s.key_heads = 5; });
  refused([](DecoderSpec& s) { s.layers = 0; });
  refused([](DecoderSpec& s) { s.windows = {4}, s.layers = 2; });
  const auto refused_with_units = [](const auto& change) {
    DecoderSpec s = units("none");
    change(s);
    CHECK_THROWS_WITH_AS(Model{s}, doctest::Contains("leave them out with gau"), BadInput);
  };
  refused_with_units([](DecoderSpec& s) { s.head_dim = 4; });
  refused_with_units([](DecoderSpec& s) { s.output_bias = true; });
  refused_with_units([](DecoderSpec& s) { s.windows.assign(size_t(s.layers), 4); });
  refused_with_units([](DecoderSpec& s) { s.query_key_norm = QueryKeyNorm::each_head; });
  refused_with_units([](DecoderSpec& s) { s.norms = NormPlace::after; });
  refused_with_units([](DecoderSpec& s) { s.gate = Activation::gelu; });
  refused([](DecoderSpec& s) { s.embedding_scale = 0; });
  refused([](DecoderSpec& s) { s.logit_cap = -1; });
  const Model model(small("none"));
  for (const int outputs : {0, 5})
    CHECK_THROWS_WITH_AS(model.net(text(1, 4, 13), outputs, {sequential(4), {}}),
                         doctest::Contains("output slots of 4; ask for 1 to 4"), BadInput);
  CHECK_THROWS_AS(model.net(text(1, 4, 13), 4, {sequential(5), {}}), BadInput);
  CHECK_THROWS_WITH_AS(model.net(Ids({4}, {1, 2, 3, 4}), 4, {sequential(4), {}}),
                       doctest::Contains("tokens have shape (4); they must be (B, T)"), BadInput);
  DecoderSpec windows = small("geometric");
  windows.windows = {4, 0};
  CHECK_THROWS_WITH_AS(Model{windows}, doctest::Contains("does not go with the model's sliding windows"), BadInput);
}

TEST_CASE("decoder: gains start at 1 and biases at 0, wherever its blocks have norms") {
  for (const NormPlace norms : {NormPlace::before, NormPlace::after, NormPlace::around}) {
    DecoderSpec s = small("none");
    s.norms = norms, s.query_key_norm = QueryKeyNorm::each_head, s.biases = s.output_bias = true;
    Params params(3);
    const Decoder net(params, s);
    int gains = 0, biases = 0;
    for (const Params::Entry& e : params.entries()) {
      const bool gain = e.name.ends_with("gain"), bias = e.name.ends_with("bias");
      gains += gain, biases += bias;
      if (gain || bias) CHECK_MESSAGE(e.tensor.values() == std::vector<real>(size_t(e.tensor.size()), gain), e.name);
    }
    CHECK(gains == 2 * (norms == NormPlace::around ? 6 : 4) + 1);  // two gains in a block are for queries and keys
    CHECK(biases == 2 * 4);
  }
}

// Only relu has a kernel of its own. The others are made of ops, and so is relu if weights are stored in 16 bits.
TEST_CASE("feed-forward networks without a gate: each activation computes the function of its name") {
  const struct { Activation activation; Tensor (*op)(const Tensor&); } all[] = {
      {Activation::relu, relu}, {Activation::silu, silu}, {Activation::gelu, gelu}, {Activation::gelu_tanh, gelu_tanh}};
  const Tensor x = checks::random_tensor({1, 3, 8}, 7);
  for (const auto& [activation, op] : all) {
    Params params(3);
    const FeedForward network(params, {.d_model = 8, .d_ff = 12, .gated = false, .activation = activation});
    params.pack();
    const Tensor expected = linear(op(linear(x, params.at("w1"))), params.at("w2"));
    CHECK(checks::difference(network(x), expected) < checks::tolerance);
  }
}

TEST_CASE("cache: if padded, it has room for the multiple; once cleared it is no longer padded") {
  KeyValueCache cache(1, 8, {2, 4, 4, 8}, {false});
  cache.advance(3), cache.pad_to(4);
  CHECK(cache.slots(1) == 4);
  CHECK(cache.slots(2) == 8);
  CHECK(cache.key_lengths(1)[0] == 4);
  cache.clear();
  CHECK(cache.slots(1) == 1);
  CHECK(cache.key_lengths(1).size() == 0);
}

TEST_CASE("cache: a cache that is full or made for another number of sequences is refused") {
  const KeyValueCache::Sizes sizes{2, 4, 4, 8};
  CHECK_THROWS_WITH_AS(KeyValueCache(0, 5, sizes, {false}), doctest::Contains("room for 5 tokens of 0 sequences"),
                       BadInput);
  CHECK_THROWS_WITH_AS(KeyValueCache(5, 0, sizes, {false}), doctest::Contains("room for 0 tokens of 5 sequences"),
                       BadInput);
  const KeyValueCache cache(2, 5, sizes, {false});
  CHECK(cache.capacity() == 5);
  const Tensor of_three = Tensor::full({3, 1, 2, 4}, 1);
  CHECK_THROWS_WITH_AS(cache.append(0, {of_three, of_three}), doctest::Contains("3 sequences for a cache of 2"),
                       BadInput);
}
