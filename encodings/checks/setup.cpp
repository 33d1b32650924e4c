#include "encodings/checks/setup.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "autograd/composed.h"
#include "core/ascii.h"
#include "core/error.h"
#include "core/params.h"
#include "encodings/compose.h"
#include "encodings/explicit_weights.h"

namespace poslab::checks {

std::string Setup::name() const {
  static const char* how[] = {"per_forward", "per_layer", "per_sequence"};
  const std::string& spelled = variant == "plain" ? scheme.spelled() : scheme->name;
  return fmt::format("{} {}, {} {}", spelled, variant, sampler->name, how[int(resample)]);
}

PositionSample Setup::draw(int pool_size, int time) const {
  Chosen<Sampler> s = sampler;
  for (const auto& [option, value] : {std::pair{"max_position", pool_size}, {"first", shape.first}})
    if (s.choices.has(option)) s.choices.set(option, fmt::format("{}", value));
  return {s, resample, stream(7, Purpose::positions, 3), B, time};
}

bool Setup::fits() const {
  if (sampler->only_offsets) return reads(Reads::distances | Reads::offset_table) && !reads(Reads::positions);
  return sampler->as_offsets.empty() || !reads(Reads::offset_table);
}

std::vector<std::string> other_values(const Option& o) {
  std::vector<std::string> all = o.words;
  if (o.kind == Option::Kind::toggle) all = {"on", "off"};
  if (o.kind == Option::Kind::whole || o.kind == Option::Kind::length)
    for (const double more : {0., 1., 3.})   // small ones: sequences are short
      all.push_back(fmt::format("{}", std::min(o.range.min + more, o.range.max)));
  if (o.kind == Option::Kind::number)
    for (const double times : {0.5, 2.})     // at an end of the range the scheme may have no visible effect
      all.push_back(fmt::format("{}", std::clamp(times * ascii::number(o.standard), o.range.min, o.range.max)));
  if (o.kind == Option::Kind::numbers) all = {"2", "1/3"};
  std::erase(all, o.standard);
  return all;
}

namespace {

// The samplers with which every scheme is checked; tests/encodings/samplers.cpp checks all samplers.
const std::vector<std::string> tried_samplers = {"sequential", "randomized", "randomized_offsets", "evenly_spread"};

// The number of heads of all groups together.
int heads_of(const std::string& spelling) {
  int heads = 0;
  for (const std::string& group : split(spelling, '+'))
    if (const size_t star = group.rfind('*'); star != group.npos) heads += std::atoi(group.c_str() + star + 1);
  return heads ? heads : H;
}

}  // namespace

std::vector<std::string> all_spellings() {
  std::vector<std::string> all = names_of(all_encodings());
  for (const Scheme& s : all_encodings())
    if (!s.embed) all.push_back(fmt::format("none*1+{}*{}", s.name, H - 1));
  all.push_back("none|rope|none|rope");
  return all;
}

std::vector<Setup> all_setups(bool causal, const std::vector<std::string>& spellings) {
  std::vector<Setup> list;
  const auto add = [&](Setup variant, bool all) {
    if (variant.causal_only() && !causal) return;
    for (const std::string& name : tried_samplers)
      for (Resample resample : {Resample::per_forward, Resample::per_layer, Resample::per_sequence}) {
        variant.sampler = choose_sampler(name, trained_on(T)), variant.resample = resample;
        const bool each = variant.sampler->random && !all;
        const bool once = resample == (each ? Resample::per_sequence : Resample::per_forward);
        if (once || (all && variant.sampler->random)) list.push_back(variant);
      }
  };
  for (const std::string& name : spellings) {
    const bool composed = composed_spelling(name);
    const Chosen<Scheme> plain = choose_encoding(name, trained_on(T));
    const int heads = composed ? heads_of(name) : H;
    const ModelShape shape{layers, heads, heads * D, causal, pool + 13, 0};
    add({plain, shape, "plain", {}, {}}, !composed);
    if (composed) continue;
    if (name == plain->name)
      for (const Option& o : plain.choices.options())
        for (const std::string& value : other_values(o)) {
          Setup variant{plain, shape, o.name + "=" + value, {}, {}};
          variant.scheme.choices.set(o.name, value);
          // a window that hides something within T slots
          if (o.name != "window" && plain.choices.has("window")) variant.scheme.choices.set("window", "3");
          add(variant, false);
        }
    Setup from_1{plain, shape, "first 1", {}, {}};
    from_1.shape.first = 1;
    add(from_1, false);
  }
  return list;
}

std::vector<Setup> setups(bool causal, const std::vector<std::string>& spellings) {
  std::vector<Setup> list = all_setups(causal, spellings);
  std::erase_if(list, [](const Setup& s) { return !s.fits(); });
  return list;
}

std::vector<Setup> each_setup(const std::vector<std::string>& spellings) {
  std::vector<Setup> list = setups(false, spellings), causal = setups(true, spellings);
  std::copy_if(causal.begin(), causal.end(), std::back_inserter(list), [](const Setup& s) { return s.causal_only(); });
  return list;
}

Tensor random_tensor(Shape shape, uint32_t which, double size) {
  Rng rng(stream(11, Purpose::tokens, 0, which));
  Tensor x(std::move(shape));
  std::generate_n(x.data(), x.size(), [&] { return real(size * rng.normal()); });
  return x;
}

double difference(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) bad_input("difference: shapes {} and {}", to_string(a.shape()), to_string(b.shape()));
  double most = 0, size = 1;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = a.data()[i], y = b.data()[i];
    if (x == y) continue;
    if (!std::isfinite(x - y)) return INFINITY;   // a NaN, or an infinity in one of them
    most = std::max(most, std::abs(x - y)), size = std::max(size, std::abs(y));
  }
  return most / size;
}

Tensor reorder(const Tensor& x, const std::vector<int>& order) {
  std::vector<Tensor> parts;
  for (int t : order) parts.push_back(slice(x, 1, t, t + 1));
  return concat(parts, 1);
}

Model::Model(const Chosen<Scheme>& s, const ModelShape& shape)
    : scheme(params / "encoding", s, shape), layer(s->pages.pictures.layers_differ ? 0 : 1) {
  if (!params.entries().empty()) params.pack();
}

Model::Model(const Setup& setup) : Model(setup.scheme, setup.shape) {
  uint32_t which = 1000;
  for (const Params::Entry& e : params.entries()) {
    const Tensor moved = random_tensor(e.tensor.shape(), ++which, 0.1);
    for (int64_t i = 0; i < moved.size(); ++i) e.tensor.data()[i] += moved.data()[i];
  }
}

Content::Content(int time, int heads)
    : x(random_tensor({B, time, heads * D}, 1)), q(random_tensor({B, time, heads, D}, 2)),
      k(random_tensor({B, time, heads, D}, 3)), v(random_tensor({B, time, heads, D}, 4)) {}

Content Content::same_everywhere() const { return reordered(std::vector<int>(size_t(x.dim(1)), 0)); }

Content Content::reordered(const std::vector<int>& order) const {
  Content c = *this;
  c.x = reorder(x, order), c.q = reorder(q, order), c.k = reorder(k, order), c.v = reorder(v, order);
  return c;
}

Content Content::first_slots(int time) const {
  Content c = *this;
  c.x = slice(x, 1, 0, time), c.q = slice(q, 1, 0, time), c.k = slice(k, 1, 0, time), c.v = slice(v, 1, 0, time);
  return c;
}

Heads Content::heads(const Model& m, const Positions& at_embedding, int queries) const {
  const int time = x.dim(1), from = queries ? time - queries : 0;
  const Tensor state = m.embed(x, at_embedding), added = state.reshape(q.shape());
  return {slice(q + added, 1, from, time), k + added, slice(state, 1, from, time), state};
}

Tensor Content::attend(const Model& m, const Positions& p, Span span, int queries) const {
  if (queries) span.offset = x.dim(1) - queries;
  return m->attend(heads(m, p, queries), v, p, span);
}

Tensor geometric_weights(const Params& params, const std::string& path, const Heads& in, const Span& span) {
  const auto of = [&](const char* name) { return params.at(path + "." + name); };
  const Tensor match = matmul(permute(in.q + of("c"), {0, 2, 1, 3}), permute(in.k, {0, 2, 3, 1}));
  const Tensor directions = composed::linear(in.x, of("w"), of("b")).reshape({B, in.q.dim(1), in.q.dim(2), 2});
  const Tensor z = match * of("alpha") + of("gamma"), side = permute(directions, {0, 2, 1, 3}) * of("beta");
  if (!in.temperature) return composed::geometric(z, side, span);
  const Tensor& f = in.temperature;
  const Tensor factor = permute(f.reshape({f.dim(0), f.dim(1), f.dim(2), 1}), {0, 2, 1, 3});
  return composed::geometric(z * factor, side * factor, span);
}

namespace {

bool geometric(const Params& params, const std::string& path) {
  const auto& entries = params.entries();
  return std::any_of(entries.begin(), entries.end(), [&](auto& x) { return x.name == path + ".alpha"; });
}

}  // namespace

bool has_twin(const Model& m) {
  return !dynamic_cast<const ExplicitWeights*>(&*m) || geometric(m.params, fmt::format("encoding.layer{}", m.layer));
}

Tensor composed_attend(const Encoding& e, const Params& params, const std::string& path, const Heads& in,
                              const Tensor& v, const Positions& p, const Span& span) {
  if (const auto* groups = dynamic_cast<const HeadGroups*>(&e)) {
    std::vector<Tensor> all;
    for (size_t n = 0; n < groups->parts.size(); ++n)
      all.push_back(composed_attend(*groups->parts[n], params, fmt::format("{}.group{}", path, n), groups->own(in, n),
                                    groups->own(v, n), p, span));
    return concat(all, 2);
  }
  if (geometric(params, path))
    return by_head(matmul(geometric_weights(params, path, in, span), by_head(v)));
  if (dynamic_cast<const ExplicitWeights*>(&e)) return e.attend(in, v, p, span);  // it is itself composed
  return composed::attention(e.scores(in, p), v, span);
}

Tensor logits(const Setup& setup, const Model& model, const Positions& p, const Content& content) {
  const Heads in = content.heads(model, p);
  return setup.laws().softmax ? model->logits(in, p, setup.span()) : model->weights(in, p, setup.span());
}

}  // namespace poslab::checks
