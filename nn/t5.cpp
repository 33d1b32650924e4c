#include "nn/t5.h"

#include <algorithm>
#include <cmath>

#include "autograd/tape.h"
#include "core/error.h"
#include "encodings/grouped_heads.h"
#include "nn/require_no_parameters.h"

namespace poslab {
namespace {

T5Spec require_valid(T5Spec s) {
  if (std::min({s.vocabulary, s.layers, s.decoder_layers, s.heads, s.head_dim, s.d_model, s.d_ff}) < 1)
    bad_input(
        "t5: vocabulary {}, layers {}, decoder_layers {}, heads {}, head_dim {}, d_model {}, d_ff {}; "
        "all must be at least 1",
        s.vocabulary, s.layers, s.decoder_layers, s.heads, s.head_dim, s.d_model, s.d_ff);
  if (s.start < 0 || s.start >= s.vocabulary)
    bad_input("t5: decoding starts with token {}, and the model knows 0 .. {}", s.start, s.vocabulary - 1);
  return s;
}

// Whether logits lack the factor 1 / sqrt(D), as in T5. A composition of schemes has it, because its parts may differ.
bool is_unscaled(const Chosen<Scheme>& s) { return s.choices.has("unscaled") && s.choices.on("unscaled"); }

void check_rows(const char* what, const Ids& tokens) {
  if (tokens.shape().size() != 2)
    bad_input("t5: {} have shape {}; they must be (B, T)", what, to_string(tokens.shape()));
}

void check_lengths(const Ids& lengths, int sequences, int time) {
  if (!lengths) return;
  if (lengths.shape() != Shape{sequences})
    bad_input("t5: lengths have shape {}; they must be ({}), one for each sequence", to_string(lengths.shape()),
              sequences);
  for (int b = 0; b < sequences; ++b)
    if (lengths[b] < 1 || lengths[b] > time)
      bad_input("t5: sequence {} has {} tokens that count; give 1 to {}", b, lengths[b], time);
}

}  // namespace

T5::Stack T5::stack(const Params& p, bool decoder) const {
  const T5Spec& s = spec_;
  const ModelShape shape = s.shape(decoder);
  Stack all;
  all.encoding = std::make_shared<const PositionLayers>(p / "encoding", s.encoding, shape);
  all.temperature = decoder ? std::vector<Temperature>(size_t(shape.layers))
                            : temperature_layers(p / "temperature", s.temperature, shape);
  for (int n = 0; n < shape.layers; ++n)
    all.blocks.emplace_back(p / ("block" + std::to_string(n)),
                            T5BlockSpec{s.heads, s.head_dim, s.d_model, s.d_ff, n, decoder, s.gate.has_value(),
                                        s.gate.value_or(s.activation), is_unscaled(s.encoding), s.epsilon});
  all.gain = (p / "norm").full("gain", {s.d_model}, 1);
  return all;
}

// The embedding starts from N(0, 1), as in T5; a head that is not tied from N(0, 1 / d_model), as in T5 v1.1.
T5::T5(const Params& p, T5Spec s) : spec_(require_valid(std::move(s))) {
  embedding_ = table(p, "embedding", spec_.vocabulary, spec_.d_model, 1);
  encoder_ = stack(p / "encoder", false), decoder_ = stack(p / "decoder", true);
  if (!spec_.tied)
    head_ = weight(p / "head", "w", spec_.d_model, spec_.vocabulary, 1 / std::sqrt(double(spec_.d_model)));
}

T5 T5::with_encoding(const Chosen<Scheme>& scheme) const {
  T5 other = *this;
  for (const bool decoder : {false, true}) {
    const ModelShape shape = spec_.shape(decoder);
    require_no_parameters("encoding", scheme.spelled(), [&](const Params& own) { PositionLayers(own, scheme, shape); });
    (decoder ? other.decoder_ : other.encoder_).encoding =
        std::make_shared<const PositionLayers>(Params(0), scheme, shape);
  }
  // Only T5's own scheme can be unscaled, and it has parameters: so this other scheme is scaled.
  if (is_unscaled(spec_.encoding)) other.query_factor_ = query_factor_ * std::sqrt(double(spec_.head_dim));
  other.spec_.encoding = scheme;
  return other;
}

T5 T5::at_temperature(const Chosen<TemperaturePolicy>& policy) const {
  const ModelShape shape = spec_.shape(false);
  require_no_parameters("temperature", policy.spelled(),
                     [&](const Params& own) { temperature_layers(own, policy, shape); });
  T5 other = *this;
  other.spec_.temperature = policy;
  other.encoder_.temperature = temperature_layers(Params(0), policy, shape);
  return other;
}

Tensor T5::encode(const Ids& tokens, const Ids& lengths, const Pass& pass) const {
  check_rows("tokens", tokens), check_lengths(lengths, tokens.shape()[0], tokens.shape()[1]);
  return run(encoder_, tokens, lengths, pass, {}, nullptr);
}

std::vector<T5Memory> T5::memory(const Tensor& states, const Ids& lengths) const {
  if (states.dims() != 3 || states.dim(2) != spec_.d_model)
    bad_input("t5: states have shape {}; encode gives (B, T, {})", to_string(states.shape()), spec_.d_model);
  check_lengths(lengths, states.dim(0), states.dim(1));
  std::vector<T5Memory> all;
  for (const T5Block& block : decoder_.blocks) all.push_back(block.memory(states, lengths));
  return all;
}

Tensor T5::decode(const Ids& read, const Tensor& states, const Ids& lengths, const Pass& pass) const {
  check_rows("what the decoder reads", read);
  if (read.shape()[0] != states.dim(0))
    bad_input("t5: {} sequences to decode and states of {}; the numbers must be equal", read.shape()[0], states.dim(0));
  return expose(pass.trace, "logits", "", logits(run(decoder_, read, {}, pass, memory(states, lengths), nullptr)));
}

T5Cache T5::cache(const Tensor& states, const Ids& lengths, int capacity, int beams) const {
  if (beams < 1) bad_input("t5: a cache of {} beams; there must be at least 1", beams);
  const NoGrad no_gradient;
  std::vector<bool> with_states;
  for (const auto& layer : decoder_.encoding->layers) with_states.push_back(reads_states(*layer));
  return {{states.dim(0) * beams,
           capacity,
           {spec_.heads, spec_.head_dim, spec_.head_dim, spec_.d_model},
           with_states,
           states.device()},
          memory(states, lengths)};
}

Tensor T5::step(const Ids& newest, const Pass& pass, T5Cache& cache) const {
  check_rows("the newest tokens", newest);
  if (newest.shape()[0] != cache.self.sequences())
    bad_input("t5: {} sequences for a cache of {}; decode as many as it was made for", newest.shape()[0],
              cache.self.sequences());
  const NoGrad no_gradient;
  const Tensor all = run(decoder_, newest, {}, pass, cache.memory, &cache.self);
  const int n = newest.shape()[1];
  cache.self.advance(n);
  return logits(n == 1 ? all : slice(all, 1, n - 1, n));
}

Tensor T5::logits(const Tensor& states) const {
  const Tensor x = spec_.scaled.value_or(spec_.tied) ? states * (1 / std::sqrt(double(spec_.d_model))) : states;
  if (!spec_.tied) return linear(x, head_);
  return embedding_.stored ? linear(x, embedding_.stored) : linear(x, transpose(embedding_.own));
}

Tensor T5::run(const Stack& stack, const Ids& tokens, const Ids& lengths, const Pass& pass,
               const std::vector<T5Memory>& memory, KeyValueCache* cache) const {
  const int n = tokens.shape()[1], before = cache ? cache->length() : 0;
  if (const int slots = pass.positions.at_embedding().time(); slots != before + n)
    bad_input("t5: positions for {} slots; there are {} slots, {} of them in the cache; give one for each", slots,
              before + n, before);
  pass.positions.begin_pass();
  Tensor x = gather(embedding_, tokens);
  if (stack.encoding->embed) x = stack.encoding->embed(x, last_slots(pass.positions.at_embedding(), n, "t5"));
  x = expose(pass.trace, memory.empty() ? "encoder" : "decoder", ".embedding", x);
  // A block draws dropout up to three times; the decoder's draws follow the encoder's.
  Dropout drop = pass.dropout;
  drop.stream.site += 1 + (memory.empty() ? 0 : 2 * uint32_t(spec_.layers));
  ResidualNorm h{x, rms_norm(x, stack.blocks[0].norm_gain(), spec_.epsilon)};
  for (size_t l = 0; l < stack.blocks.size(); ++l) {
    const LayerPass self{*stack.encoding->layers[l], stack.temperature[l], pass.positions.at_layer(int(l)), drop,
                         pass.trace};
    const Tensor& next = l + 1 < stack.blocks.size() ? stack.blocks[l + 1].norm_gain() : stack.gain;
    h = stack.blocks[l](h, next, {self, query_factor_, lengths, memory.empty() ? nullptr : &memory[l], cache});
    drop.stream.site += memory.empty() ? 2 : 3;
  }
  return h.y;
}

}  // namespace poslab
