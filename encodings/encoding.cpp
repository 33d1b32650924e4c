// The common part of schemes: the plain product of queries and keys, its softmax, and the building of schemes.
#include "encodings/encoding.h"

#include <algorithm>
#include <cmath>
#include <typeinfo>

#include "autograd/composed.h"
#include "autograd/encoder_block.h"
#include "encodings/fits.h"

namespace poslab {

// s_ij = q_i . k_j / sqrt(D), times the temperature
Scores Encoding::scores(const Heads& in, const Positions&) const {
  Scores s;
  s.pieces = {{in.q, in.k}};
  s.scale = real(1 / std::sqrt(double(in.q.dim(-1))));
  s.temperature = in.temperature;
  return s;
}

Tensor Encoding::attend(const Heads& in, const Tensor& v, const Positions& p, const Span& span) const {
  return attention(scores(in, p), v, p, span);
}

// A recorded step would freeze bounds, which are arguments of the fused kernel; composed masks are data, which change.
Tensor attention(const Scores& s, const Tensor& v, const Positions& p, Span span) {
  const auto bounded = [](const Piece& x) { return x.from > -far || x.to < far; };
  if (!p.padded() || !(span.window || std::ranges::any_of(s.pieces, bounded))) return attention(s, v, span);
  span.offset = p.kept() - 1;
  return composed::attention(s, v, span);
}

// NoPE's terms are empty. Any other scheme that does not override this gives nullopt.
std::optional<LayerTerms> Encoding::terms(const Positions&, const LayerShape&) const {
  if (typeid(*this) != typeid(Encoding)) return std::nullopt;
  return LayerTerms{};
}

Tensor Encoding::weights(const Heads& in, const Positions& p, const Span& span) const {
  return attention_weights(scores(in, p), span);
}

Tensor Encoding::statistics(const Heads& in, const Positions& p, const Span& span) const {
  return attention_statistics(scores(in, p), span);
}

Tensor Encoding::logits(const Heads& in, const Positions& p, const Span& span) const {
  return composed::logits(scores(in, p), span);
}

void check_fits(const Chosen<Scheme>& s, const ModelShape& shape) {
  if (const std::string why = s->causal_only(s.choices); !shape.causal && !why.empty())
    bad_input("{} needs a causal mask: {}; add --causal (Python: causal=True)", s.spelled(), why);
  if (s->check) s->check(shape, s.choices);
}

PositionLayers::PositionLayers(const Params& p, const Chosen<Scheme>& s, const ModelShape& shape) : scheme(s) {
  check_fits(s, shape);
  if (s->embed) embed = s->embed(p, shape, s.choices);
  for (int n = 0; n < shape.layers; ++n)
    layers.push_back(s->make ? s->make({p / fmt::format("layer{}", n), p.shared()}, shape, s.choices, n)
                             : std::make_unique<Encoding>());
}

Chosen<Sampler> sampler_for(const Chosen<Scheme>& scheme, const Chosen<Sampler>& sampler) {
  if (sampler->added) {
    if (!scheme->parts)
      bad_input(
          "{} draws for the embedding and the logits separately, but {} is not made of two such schemes; give it "
          "one sampler, or use a scheme such as ids&alibi",
          sampler->name, scheme.spelled());
    return pair_samplers(sampler_for(scheme->parts->front(), *sampler->added),
                         sampler_for(scheme->parts->back(), in_turn(*sampler->parts)));
  }
  if (sampler->parts) {
    std::vector<Chosen<Sampler>> parts;
    for (const Chosen<Sampler>& part : *sampler->parts) parts.push_back(sampler_for(scheme, part));
    return in_turn(std::move(parts));
  }
  const Reads what = reads(scheme);
  if (sampler->only_offsets && has(what, Reads::positions))
    bad_input("{} needs a position for each token, but {} gives only distances; use randomized", scheme.spelled(),
              sampler.thing.name);
  if (!has(what, Reads::offset_table) || sampler->even || sampler->only_offsets) return sampler;
  const std::string own =
      scheme->parts ? fmt::format("; or give each part its own, as in {}&randomized", sampler.spelled()) : "";
  if (sampler->as_offsets.empty())
    bad_input(
        "{} reads one offset for all slots that are equally far apart, but {} draws different distances for each "
        "pair; choose a mode that reads distances of tokens, such as mode=differences, or use randomized{}",
        scheme.spelled(), sampler.spelled(), own);
  if (has(what, Reads::positions) || has(what, Reads::distances))
    bad_input(
        "{}: one part reads a table of random offsets and another positions, but {} draws only one of the two; "
        "choose parts that read the same{}",
        scheme.spelled(), sampler.thing.name, own);
  const Sampler& offsets = find("sampler", all_samplers(), sampler->as_offsets);
  Chosen<Sampler> table{offsets, Choices(offsets.name, offsets.options)};
  for (const Option& o : offsets.options) table.choices.set(o.name, sampler.choices[o.name]);
  return table;
}

}  // namespace poslab
