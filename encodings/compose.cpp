// Schemes made of schemes, which are schemes themselves:
//
//   rope|none               layers 1, 3, 5, ... have RoPE, the others nothing: any number of parts, in turn
//   none*4+alibi*4
//   of 8 heads the first four have nothing, the others ALiBi; a group acts as a layer with these heads alone
//   rope|none*4+alibi*4     both: layers first
//   sincos&alibi            the first adds to the embedding, before all layers; the rest makes the logits
//
// Each scheme that layers have in turn, and each side of &, may have a sampler of its own (encodings/samplers.cpp);
// all groups of heads read the same positions.
#include "encodings/compose.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "encodings/picture.h"

namespace poslab {
namespace {

struct Component {
  Chosen<Scheme> scheme;
  int heads = 0;   // the size of a group; 0: all heads
  ModelShape shape(const ModelShape& m) const { return heads ? group(m, heads) : m; }
};
using Components = std::vector<Component>;

void check_logits_alone(const std::string& name, const Components& parts) {
  for (const Component& part : parts)
    if (part.scheme->embed)
      bad_input(
          "{}: {} adds to the embedding, which is before all layers and heads; "
          "put it before all others, as in {}&alibi",
          name, part.scheme.spelled(), part.scheme.thing.name);
}

// The properties that a composition derives from its parts.
Scheme composition(const std::string& name, const Components& parts) {
  Scheme s;
  s.name = name, s.pages.source = "its parts", s.pages.formula = "that of each part, where it stands";
  Reads all = Reads::nothing;
  for (const Component& part : parts) {
    s.options.insert(s.options.end(), part.scheme->options.begin(), part.scheme->options.end());
    all = all | reads(part.scheme);
  }
  s.reads = [all](const Choices&) { return all; };
  s.pages.shows = [parts](const ModelShape& m, const Choices&) {
    std::string text;
    for (const Component& part : parts)
      text += fmt::format("{}Where it is {}: {}", text.empty() ? "" : " ", part.scheme.spelled(),
                          part.scheme->pages.shows(part.shape(m), part.scheme.choices));
    return text;
  };
  s.laws = [parts](const ModelShape& m, const Choices&) {
    Laws all{.two_sided = true};
    for (const Component& part : parts) {
      const Laws one = part.scheme->laws(part.shape(m), part.scheme.choices);
      all = {.shift = all.shift && one.shift, .toeplitz = all.toeplitz && one.toeplitz,
             .two_sided = all.two_sided && one.two_sided, .permutes = all.permutes && one.permutes,
             .softmax = all.softmax && one.softmax, .sums_to_1 = all.sums_to_1 && one.sums_to_1,
             .by_length = all.by_length || one.by_length};
    }
    return all;
  };
  s.causal_only = [parts](const Choices&) {
    for (const Component& part : parts)
      if (std::string why = part.scheme->causal_only(part.scheme.choices); !why.empty())
        return fmt::format("its part {}: {}", part.scheme.spelled(), why);
    return std::string();
  };
  s.pages.unreached = [parts](const Choices&, const Extent& e) {
    for (const Component& part : parts)
      if (std::string what = part.scheme->pages.unreached(part.scheme.choices, e); !what.empty())
        return fmt::format("{} of its part {}", what, part.scheme->name);
    return std::string();
  };
  s.pages.least_layers = [parts](const Choices&) {
    int most = 1;
    for (const Component& part : parts) most = std::max(most, part.scheme->pages.least_layers(part.scheme.choices));
    return most;
  };
  s.pages.pictures.layers_differ = std::any_of(
      parts.begin(), parts.end(), [](const Component& p) { return p.scheme->pages.pictures.layers_differ; });
  s.finite = [parts](const Choices&) {
    return std::any_of(parts.begin(), parts.end(), [](const Component& p) { return finite(p.scheme); });
  };
  const auto shared = [parts](auto SchemeCost::*kept) {  // weighted by the share of layers or heads
    return [parts, kept](const ModelShape& m, const Choices&) {
      double sum = 0;
      for (const Component& part : parts)
        sum += (part.scheme->pages.cost.*kept)(part.shape(m), part.scheme.choices) *
               (part.heads ? double(part.heads) / m.heads : 1. / double(parts.size()));
      return sum;
    };
  };
  SchemeCost& cost = s.pages.cost;
  cost.matrices = shared(&SchemeCost::matrices), cost.of_slots = shared(&SchemeCost::of_slots);
  cost.live = [parts](const ModelShape& m, const Choices&) {
    double most = 0;
    for (const Component& part : parts)
      most = std::max(most,
                      live_matrices(part.scheme, part.shape(m)) * (part.heads ? double(part.heads) / m.heads : 1));
    return most;
  };
  return s;
}

// A part's values for pictures: its frequencies, or 0 if it rotates nothing; its distances, (1 or heads, T, T), or NaN.
std::vector<double> frequencies_of(const Chosen<Scheme>& s, const ModelShape& m, int slots, int head) {
  if (s->pages.pictures.frequencies) return s->pages.pictures.frequencies(m, s.choices, slots, head);
  return std::vector<double>(size_t(m.head_dim() / 2), 0.);
}
Tensor distances_of(const Chosen<Scheme>& s, const ModelShape& m, const Positions& p) {
  const int T = p.time();
  if (!s->pages.pictures.distances) return Tensor::full({1, T, T}, std::numeric_limits<real>::quiet_NaN());
  const Tensor d = s->pages.pictures.distances(m, s.choices, p);
  return d.dims() == 3 ? d : d.reshape({1, T, T});
}
PairPicture picture_of(const Chosen<Scheme>& s, const ModelShape& m) { return s->pages.pictures.matrix(m, s.choices); }
// (heads, T, T) of all groups: `of` gives (1 or heads, T, T) for each.
Tensor of_all_heads(const Components& parts, const std::function<Tensor(const Component&, size_t n)>& of) {
  std::vector<Tensor> all;
  for (size_t n = 0; n < parts.size(); ++n) {
    const Tensor one = of(parts[n], n);
    for (int h = 0; h < parts[n].heads; ++h) all.push_back(one.dim(0) == 1 ? one : slice(one, 0, h, h + 1));
  }
  return concat(all, 0);
}
// Whether any part has the property.
template <class Function>
bool any_has(const Components& parts, Function SchemePictures::*field) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Component& p) { return bool(p.scheme->pages.pictures.*field); });
}

std::unique_ptr<Encoding> make(const Chosen<Scheme>& s, const LayerParams& p, const ModelShape& m, int layer) {
  return s->make ? s->make(p, m, s.choices, layer) : std::make_unique<Encoding>();
}

Chosen<Scheme> one(const std::string& text, const RunValues& run) {
  return choose("encoding", all_encodings(), text, run);
}

Chosen<Scheme> by_heads(const std::string& text, const RunValues& run) {
  const std::vector<std::string> groups = split(text, '+');
  if (groups.size() == 1 && text.find('*') == std::string::npos) return one(text, run);
  Components parts;
  std::vector<std::string> names;
  int total = 0;
  for (const std::string& part : groups) {
    const size_t star = part.rfind('*');
    if (part.empty() || star == 0)
      bad_input("{}: an encoding is missing; groups of heads are spelled as in none*4+alibi*4", text);
    if (star == std::string::npos)
      bad_input("{}: how many heads are in \"{}\"? A group is spelled SCHEME*HEADS, as in none*4+alibi*4", text, part);
    const int heads = int(read_whole(fmt::format("{}: heads of {}", text, part.substr(0, star)), part.substr(star + 1),
                                     {1, 1024}, to_string(Range{1, 1024})));
    parts.push_back({one(part.substr(0, star), run), heads});
    names.push_back(fmt::format("{}*{}", parts.back().scheme.spelled(), heads));
    total += heads;
  }
  check_logits_alone(text, parts);
  Scheme s = composition(fmt::format("{}", fmt::join(names, "+")), parts);
  s.pages.summary = "a scheme for each group of heads", s.pages.doors = "those of its parts";
  SchemePictures& pictures = s.pages.pictures;
  pictures.matrix = [parts](const ModelShape& m, const Choices&) -> PairPicture {
    std::vector<PairPicture> each;
    for (const Component& part : parts) each.push_back(picture_of(part.scheme, part.shape(m)));
    const Quantity first = each[0].quantity;
    const bool alike = std::all_of(each.begin(), each.end(), [&](auto& one) { return one.quantity == first; });
    return {alike ? first : Quantity::several, [parts, each](auto& e, auto& m, auto& p) {
              return of_all_heads(parts, [&](auto& part, size_t n) {
                return each[n].values(*as<HeadGroups>(e).parts[n], part.shape(m), p);
              });
            }};
  };
  if (any_has(parts, &SchemePictures::frequencies))
    pictures.frequencies = [parts](const ModelShape& m, const Choices&, int slots, int head) {
      size_t n = 0;
      for (; n + 1 < parts.size() && head >= parts[n].heads; ++n) head -= parts[n].heads;
      return frequencies_of(parts[n].scheme, group(m, parts[n].heads), slots, head);
    };
  if (any_has(parts, &SchemePictures::distances))
    pictures.distances = [parts](const ModelShape& m, const Choices&, const Positions& p) {
      return of_all_heads(parts, [&](auto& part, size_t) { return distances_of(part.scheme, part.shape(m), p); });
    };
  s.check = [name = s.name, parts, total](const ModelShape& m, const Choices&) {
    if (total != m.heads)
      bad_input("{} is for {} heads, but the model has heads = {}; make the groups add up to that", name, total,
                m.heads);
    for (const Component& part : parts)
      if (part.scheme->check) part.scheme->check(group(m, part.heads), part.scheme.choices);
  };
  s.make = [parts](const LayerParams& p, const ModelShape& m, const Choices&, int layer) {
    auto groups = std::make_unique<HeadGroups>();
    for (size_t n = 0; n < parts.size(); ++n) {
      const LayerParams own = p.part(fmt::format("group{}", n));
      groups->parts.push_back(make(parts[n].scheme, own, group(m, parts[n].heads), layer));
      groups->heads.push_back(parts[n].heads);
    }
    return groups;
  };
  return {s, {}};
}

}  // namespace

double live_matrices(const Chosen<Scheme>& s, const ModelShape& m) {
  const SchemeCost& cost = s->pages.cost;
  return (cost.live ? cost.live : cost.matrices)(m, s.choices);
}

Tensor HeadGroups::own(const Tensor& x, size_t n) const {
  const int from = std::accumulate(heads.begin(), heads.begin() + long(n), 0);
  return slice(x, 2, from, from + heads[n]);
}
Heads HeadGroups::own(const Heads& in, size_t n) const {
  const Tensor& f = in.temperature;
  return {own(in.q, n), own(in.k, n), in.x, in.x_keys, f && f.dim(2) > 1 ? own(f, n) : f};
}

Tensor HeadGroups::attend(const Heads& in, const Tensor& v, const Positions& p, const Span& span) const {
  std::vector<Tensor> results;
  for (size_t n = 0; n < parts.size(); ++n) results.push_back(parts[n]->attend(own(in, n), own(v, n), p, span));
  return concat(results, 2);
}
Tensor HeadGroups::weights(const Heads& in, const Positions& p, const Span& span) const {
  std::vector<Tensor> results;
  for (size_t n = 0; n < parts.size(); ++n) results.push_back(parts[n]->weights(own(in, n), p, span));
  return concat(results, 1);
}
Tensor HeadGroups::statistics(const Heads& in, const Positions& p, const Span& span) const {
  std::vector<Tensor> results;
  for (size_t n = 0; n < parts.size(); ++n) results.push_back(parts[n]->statistics(own(in, n), p, span));
  return concat(results, 1);
}
Tensor HeadGroups::logits(const Heads& in, const Positions& p, const Span& span) const {
  std::vector<Tensor> results;
  for (size_t n = 0; n < parts.size(); ++n) results.push_back(parts[n]->logits(own(in, n), p, span));
  return concat(results, 1);
}

ModelShape group(ModelShape m, int heads) {
  m.all_heads = m.heads, m.heads = heads;
  return m;
}

std::string each_part(const std::string& spelling, const std::function<std::string(const std::string&)>& of) {
  const auto joined = [](const std::string& text, char at, const auto& each) {
    std::vector<std::string> parts;
    for (const std::string& part : split(text, at)) parts.push_back(each(part));
    return fmt::format("{}", fmt::join(parts, std::string(1, at)));
  };
  const auto group = [&](const std::string& text) {
    const size_t star = text.rfind('*');
    return star == std::string::npos ? of(text) : of(text.substr(0, star)) + text.substr(star);
  };
  const auto layer = [&](const std::string& text) { return joined(text, '+', group); };
  return joined(spelling, '&', [&](const std::string& text) { return joined(text, '|', layer); });
}

std::vector<std::string> split_names(const std::string& kind, const std::string& text, char at) {
  std::vector<std::string> parts = split(text, at);
  if (std::find(parts.begin(), parts.end(), "") != parts.end())
    bad_input("\"{0}\" has no {1} on one side of {2}; name one there, or leave {2} out", text, kind, at);
  return parts;
}

size_t parts_in_turn(const Chosen<Scheme>& s) {
  return s->parts ? parts_in_turn(s->parts->back()) : split(s.spelled(), '|').size();
}
size_t parts_in_turn(const Chosen<Sampler>& s) { return s->parts ? s->parts->size() : 1; }

bool embedding_alone(const Chosen<Scheme>& s) {
  const Reads of_positions = Reads::positions | Reads::distances | Reads::offset_table;
  if (s->parts) return !has(reads(s->parts->back()), of_positions);
  return s->embed && !s->make;
}

bool composed_spelling(const std::string& text) {
  return text.find_first_of("|*&") != std::string::npos || split(text, '+').size() > 1;
}

namespace {

// f with the options of a part.
template <class Result, class... Args>
std::function<Result(const ModelShape&, const Choices&, Args...)> of_part(
    const Chosen<Scheme>& part, const std::function<Result(const ModelShape&, const Choices&, Args...)>& f) {
  return [part, f](const ModelShape& m, const Choices&, Args... args) { return f(m, part.choices, args...); };
}

// "sincos&alibi"
Chosen<Scheme> embedding_first(const std::string& first, const std::string& rest, const RunValues& run) {
  const Chosen<Scheme> added = one(first, run), logits = choose_encoding(rest, run);
  if (!added->embed)
    bad_input("{}&{}: {} adds nothing to the embedding; put a scheme that does, such as sincos, before &", first,
              rest, added.spelled());
  if (logits->embed)
    bad_input("{}&{}: {} adds to the embedding too; put a scheme of the logits, such as alibi, after &", first,
              rest, logits.spelled());
  Scheme s = composition(fmt::format("{}&{}", added.spelled(), logits.spelled()), {{added}, {logits}});
  s.pages.summary = "the embedding of one scheme and the logits of another", s.pages.doors = "those of its parts";
  s.parts = std::make_shared<const std::vector<Chosen<Scheme>>>(std::vector{added, logits});
  s.embed = [added](Params p, const ModelShape& m, const Choices&) { return added->embed(p, m, added.choices); };
  s.make = [logits](const LayerParams& p, const ModelShape& m, const Choices&, int layer) {
    return make(logits, p, m, layer);
  };
  s.check = [added, logits](const ModelShape& m, const Choices&) {
    for (const Chosen<Scheme>& part : {added, logits})
      if (part->check) part->check(m, part.choices);
  };
  const SchemePictures& pictures = logits->pages.pictures;
  const SchemeCost& cost = logits->pages.cost;
  s.pages.cost = {of_part(logits, cost.matrices), of_part(logits, cost.of_slots),
                  [logits](const ModelShape& m, const Choices&) { return live_matrices(logits, m); }};
  if (pictures.frequencies) s.pages.pictures.frequencies = of_part(logits, pictures.frequencies);
  if (pictures.distances) s.pages.pictures.distances = of_part(logits, pictures.distances);
  return {s, {}};
}

}  // namespace

Chosen<Scheme> choose_encoding(const std::string& text, const RunValues& run) {
  if (const size_t and_at = text.find('&'); and_at != std::string::npos) {
    split_names("encoding", text, '&');  // refuses an empty side
    return embedding_first(text.substr(0, and_at), text.substr(and_at + 1), run);
  }
  if (text.find('|') == std::string::npos) return by_heads(text, run);
  Components parts;
  std::vector<std::string> names;
  for (const std::string& part : split_names("encoding", text, '|')) {
    parts.push_back({by_heads(part, run)});
    names.push_back(parts.back().scheme.spelled());
  }
  check_logits_alone(text, parts);
  Scheme s = composition(fmt::format("{}", fmt::join(names, "|")), parts);
  s.pages.summary = "a scheme for each layer, in turn", s.pages.doors = "those of its parts";
  const auto own = [parts](const ModelShape& m) { return parts[size_t(m.layer) % parts.size()].scheme; };
  SchemePictures& pictures = s.pages.pictures;
  pictures.matrix = [own](const ModelShape& m, const Choices&) { return picture_of(own(m), m); };
  if (any_has(parts, &SchemePictures::frequencies))
    pictures.frequencies = [own](const ModelShape& m, const Choices&, int slots, int head) {
      return frequencies_of(own(m), m, slots, head);
    };
  if (any_has(parts, &SchemePictures::distances))
    pictures.distances = [own](const ModelShape& m, const Choices&, const Positions& p) {
      return distances_of(own(m), m, p);
    };
  s.check = [parts](const ModelShape& m, const Choices&) {
    for (const Component& part : parts)
      if (part.scheme->check) part.scheme->check(m, part.scheme.choices);
  };
  s.make = [parts](const LayerParams& p, const ModelShape& m, const Choices&, int layer) {
    const size_t turn = size_t(layer) % parts.size();
    return make(parts[turn].scheme, {p, p.shared / fmt::format("turn{}", turn)}, m, layer);
  };
  return {s, {}};
}

}  // namespace poslab
