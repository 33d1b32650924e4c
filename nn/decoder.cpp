#include "nn/decoder.h"

#include <algorithm>

#include "autograd/tape.h"
#include "core/error.h"
#include "encodings/grouped_heads.h"
#include "nn/documents.h"
#include "nn/require_no_parameters.h"

namespace poslab {
namespace {

DecoderSpec require_valid(DecoderSpec s) {
  if (s.vocabulary < 1 || std::min({s.layers, s.heads, s.key_heads, s.d_model, s.d_ff, s.loops}) < 1)
    bad_input("decoder: vocabulary {}, layers {}, heads {}, key_heads {}, d_model {}, d_ff {}, loops {}; all must be "
              "at least 1", s.vocabulary, s.layers, s.heads, s.key_heads, s.d_model, s.d_ff, s.loops);
  if (s.head_dim < 0) bad_input("decoder: head_dim {}; it must be at least 1, or 0 for d_model / heads", s.head_dim);
  if (!s.head_dim && s.d_model % s.heads)
    bad_input("decoder: {} heads do not divide d_model = {}; choose a number that does", s.heads,
              s.d_model);
  if (s.heads % s.key_heads)
    bad_input("decoder: {} key heads do not divide {} heads; choose key_heads that do",
              s.key_heads, s.heads);
  if (s.gau < 0 || (s.gau && s.heads != 1))
    bad_input("decoder: gated attention units of width {} with {} heads; a unit has one head, of width 1 or more",
              s.gau, s.heads);
  if (s.gau && (s.head_dim || s.output_bias || !s.windows.empty() || s.query_key_norm != QueryKeyNorm::none ||
                s.norms != NormPlace::before || s.gate != Activation::silu))
    bad_input(
        "decoder: head_dim, output_bias, windows, query_key_norm, norms and gate belong to LLaMA's blocks; leave them "
        "out with gau");
  if (!(s.embedding_scale > 0) || !(s.logit_cap >= 0))
    bad_input("decoder: embedding_scale {} and logit_cap {}; the first must be above 0, the second 0 or more",
              s.embedding_scale, s.logit_cap);
  if (!s.windows.empty() && int(s.windows.size()) != s.layers)
    bad_input("decoder: windows for {} layers of {}; give one for each, 0 where a query sees all keys",
              s.windows.size(), s.layers);
  return s;
}

// Some schemes read or change states that are as wide as queries and keys; gated attention units have no such states.
void check_units(const DecoderSpec& s, const PositionLayers& encoding) {
  const auto reads = [](const auto& layer) { return reads_states(*layer); };
  if (s.gau && (encoding.embed || std::any_of(encoding.layers.begin(), encoding.layers.end(), reads)))
    bad_input(
        "encoding {} does not go with gated attention units; choose one that rotates queries and keys or adds a "
        "bias, such as rope, rerope or alibi",
        s.encoding.spelled());
}

// A scheme that computes weights of its own may look beyond the window.
void check_windows(const DecoderSpec& s, const PositionLayers& encoding) {
  for (size_t l = 0; l < s.windows.size(); ++l)
    if (s.windows[l] && reads_states(*encoding.layers[l]))
      bad_input(
          "encoding {} does not go with the model's sliding windows; choose one that rotates queries and keys or "
          "adds a bias, such as rope, rerope or alibi",
          s.encoding.spelled());
}

}  // namespace

Decoder::Decoder(Params p, DecoderSpec s) : spec_(require_valid(std::move(s))) {
  const int C = spec_.d_model;
  constexpr double small = 0.02;  // Radford et al. 2019; LLaMA's released code
  embedding_ = table(p, "embedding", spec_.vocabulary, C, small);
  encoding_ = std::make_shared<const PositionLayers>(p / "encoding", spec_.encoding, spec_.shape());
  temperature_ = temperature_layers(p / "temperature", spec_.temperature, spec_.shape());
  check_units(spec_, *encoding_), check_windows(spec_, *encoding_);
  for (int n = 0; n < spec_.layers; ++n) {
    const Params at = p / ("block" + std::to_string(n));
    if (spec_.gau)
      units_.emplace_back(at, GauSpec{C, spec_.gau, spec_.d_ff, n, spec_.layers, spec_.epsilon});
    else
      blocks_.emplace_back(at, DecoderBlockSpec{.heads = spec_.heads,
                                                .key_heads = spec_.key_heads,
                                                .head_dim = spec_.shape().head_dim(),
                                                .d_model = C,
                                                .d_ff = spec_.d_ff,
                                                .layer = n,
                                                .layers = spec_.layers,
                                                .biases = spec_.biases,
                                                .output_bias = spec_.output_bias,
                                                .window = spec_.windows.empty() ? 0 : spec_.windows[size_t(n)],
                                                .epsilon = spec_.epsilon,
                                                .query_key_norm = spec_.query_key_norm,
                                                .norms = spec_.norms,
                                                .gate = spec_.gate});
  }
  if (!spec_.gau) gain_ = (p / "norm").full("gain", {C}, 1);
  if (!spec_.tied) head_ = weight(p / "head", "w", C, spec_.vocabulary, small);
  *this = with_loops(spec_.loops);
}

Decoder Decoder::with_loops(int loops) const {
  Decoder other = *this;
  other.spec_.loops = loops;
  require_valid(other.spec_);
  const auto repeat = [&](auto& blocks) {
    if (blocks.empty()) return;
    blocks.erase(blocks.begin() + spec_.layers, blocks.end());
    for (int n = spec_.layers; n < other.spec_.blocks(); ++n) blocks.push_back(blocks[size_t(n % spec_.layers)].at(n));
  };
  repeat(other.blocks_), repeat(other.units_);
  return other;
}

Decoder Decoder::with_encoding(const Chosen<Scheme>& scheme) const {
  require_no_parameters("encoding", scheme.spelled(),
                     [&](const Params& own) { PositionLayers(own, scheme, spec_.shape()); });
  Decoder other = *this;
  other.spec_.encoding = scheme;
  other.encoding_ = std::make_shared<const PositionLayers>(Params(0), scheme, spec_.shape());
  check_units(other.spec_, *other.encoding_), check_windows(other.spec_, *other.encoding_);
  return other;
}

Decoder Decoder::at_temperature(const Chosen<TemperaturePolicy>& policy) const {
  require_no_parameters("temperature", policy.spelled(),
                     [&](const Params& own) { temperature_layers(own, policy, spec_.shape()); });
  Decoder other = *this;
  other.spec_.temperature = policy;
  other.temperature_ = temperature_layers(Params(0), policy, spec_.shape());
  return other;
}

KeyValueCache Decoder::cache(int sequences, int capacity) const {
  std::vector<bool> states;
  for (int n = 0; n < spec_.blocks(); ++n) states.push_back(reads_states(*encoding_->layers[size_t(n % spec_.layers)]));
  const int head = spec_.shape().head_dim();
  return {sequences,
          capacity,
          {spec_.key_heads, head, spec_.gau ? spec_.d_ff : head, spec_.d_model},
          states,
          embedding_.device()};
}

Tensor Decoder::operator()(const Ids& tokens, int outputs, const Pass& pass) const {
  return expose(pass.trace, "logits", "", logits(run(tokens, outputs, pass, nullptr)));
}

Tensor Decoder::states(const Ids& tokens, const Pass& pass) const {
  return run(tokens, tokens.shape().back(), pass, nullptr);
}

Tensor Decoder::logits(const Tensor& states) const {
  const auto product = [&] {
    if (!spec_.tied) return linear(states, head_);
    return embedding_.stored ? linear(states, embedding_.stored) : linear(states, transpose(embedding_.own));
  };
  if (spec_.logit_cap == 0) return product();
  return tanh(product() / spec_.logit_cap) * spec_.logit_cap;
}

Tensor Decoder::decode(const Ids& tokens, int outputs, const Pass& pass, KeyValueCache& cache) const {
  const NoGrad no_gradient;
  const Tensor newest = run(tokens, outputs, pass, &cache);
  cache.advance(tokens.shape()[1]);
  return logits(newest);
}

// x = embed(tokens) (+ positions), blocks, rms_norm
Tensor Decoder::run(const Ids& tokens, int outputs, const Pass& pass, KeyValueCache* cache) const {
  if (tokens.shape().size() != 2)
    bad_input("decoder: tokens have shape {}; they must be (B, T)", to_string(tokens.shape()));
  const int n = tokens.shape()[1], before = cache ? cache->length() : 0;
  if (outputs < 1 || outputs > n) bad_input("decoder: {} output slots of {}; ask for 1 to {}", outputs, n, n);
  const bool packed = !pass.positions.documents().empty();
  if (packed && cache) bad_input("decoder: packed documents have no cache; decode them one by one");
  const int B = tokens.shape()[0];
  const int given = packed ? n : pass.positions.at_embedding().time(), slots = cache ? cache->slots(n) : n;
  if (given != slots)
    bad_input("decoder: positions for {} slots; there are {} slots, {} of them in the cache; give one for each", given,
              slots, before);
  pass.positions.begin_pass();
  Dropout drop = pass.dropout;
  Tensor x = gather(embedding_, tokens);
  if (spec_.embedding_scale != 1) x = x * spec_.embedding_scale;
  if (encoding_->embed && packed)
    x = join_documents(pass.positions, B, n, [&, whole = x](int from, int to, const PositionSample& own) {
      return encoding_->embed(document_of(whole, from, to), own.at_embedding());
    });
  else if (encoding_->embed)
    x = encoding_->embed(x, last_slots(pass.positions.at_embedding(), n, "decoder"));
  x = expose(pass.trace, "embedding", "", x);
  const auto layer_pass = [&](size_t n) -> LayerPass {
    const size_t l = n % size_t(spec_.layers);
    drop.stream.site = pass.dropout.stream.site + 1 + 2 * uint32_t(n);  // a block draws twice
    if (!packed) return {*encoding_->layers[l], temperature_[l], pass.positions.at_layer(int(l)), drop, pass.trace};
    static const Positions none;
    return {*encoding_->layers[l], temperature_[l], none, drop, pass.trace, &pass.positions};
  };
  const Tensor input = x;
  const auto loop_begins = [&](size_t n) { return n > 0 && n % size_t(spec_.layers) == 0; };
  for (size_t n = 0; n < units_.size(); ++n) x = units_[n](loop_begins(n) ? x + input : x, layer_pass(n), cache);
  if (!blocks_.empty()) {
    const Tensor& first = blocks_[0].norm_gain();
    const Tensor none;
    const auto begin = [&](const Tensor& s) { return ResidualNorm{s, first ? rms_norm(s, first, spec_.epsilon) : s}; };
    ResidualNorm h = begin(x);
    for (size_t n = 0; n < blocks_.size(); ++n) {
      if (loop_begins(n)) h = begin(h.s + input);
      const bool last = n + 1 == blocks_.size();
      const Tensor& next = last ? gain_ : loop_begins(n + 1) ? none : blocks_[n + 1].norm_gain();
      h = blocks_[n](h, next, layer_pass(n), cache);
    }
    x = h.y;
  }
  return outputs == n ? x : slice(x, 1, n - outputs, n);
}

}  // namespace poslab
