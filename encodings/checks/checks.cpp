#include "encodings/checks/checks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "autograd/encoder_block.h"
#include "autograd/tape.h"
#include "core/error.h"
#include "core/platform/parallel.h"
#include "encodings/compose.h"
#include "encodings/explicit_weights.h"

namespace poslab::checks {
namespace {

using Expect = Outcome::Expect;

Content content_of(const Setup& setup, int time = T) { return Content(time, setup.shape.heads); }

Tensor logits(const Setup& setup, const Model& model, const Positions& p) {
  return logits(setup, model, p, content_of(setup));
}

// In each sequence, position t of the result is position order[t].
Positions reordered(const Positions& from, const std::vector<int>& order) {
  const std::vector<double>& p = from.tokens("check");
  std::vector<double> q;
  for (int s = 0; s < from.sequences(); ++s)
    for (int t : order) q.push_back(p[size_t(s * from.time() + t)]);
  return Positions::of_tokens(from.sequences(), q);
}

const char* const no_token = "the sampler gives offsets but no positions of tokens";

Outcomes shift(const Setup& setup) {
  const Model model(setup);
  const PositionSample draw = setup.draw();
  const Positions& p = draw.at_layer(1);
  if (p.only_offsets()) return {{}, no_token};
  std::vector<double> further = p.tokens("check");
  for (double& x : further) x += 5;
  const Positions q = Positions::of_tokens(p.sequences(), further);
  const double change = difference(logits(setup, model, p), logits(setup, model, q));
  return {{{change, setup.laws().shift ? Expect::below : Expect::shows_somewhere}}};
}

Outcomes toeplitz(const Setup& setup) {
  const Model model(setup);
  const PositionSample draw = setup.draw();
  const Positions& p = draw.at_layer(1);
  const Tensor s = logits(setup, model, p, content_of(setup).same_everywhere());
  // max_ij |s_ij - s_{i+1,j+1}|
  const double off = difference(slice(slice(s, 2, 0, T - 1), 3, 0, T - 1), slice(slice(s, 2, 1, T), 3, 1, T));
  const bool equal_steps = !setup.reads_positions() || p.only_offsets() || !p.distances().pairs;
  if (setup.laws().toeplitz) return {{{off, equal_steps ? Expect::below : Expect::shows}}};
  if (!equal_steps) return {{}, "positions are not in equal steps"};
  return {{{off, Expect::shows_somewhere}}};
}

Outcomes reversal(const Setup& setup) {
  if (setup.sampler->random) return {{}, "random positions have no mirror"};
  std::vector<int> backwards(T);
  for (int t = 0; t < T; ++t) backwards[size_t(t)] = T - 1 - t;
  const Content content = content_of(setup);
  const Model model(setup);
  const PositionSample draw = setup.draw();
  const Tensor s = logits(setup, model, draw.at_layer(1), content),
               m = logits(setup, model, draw.at_layer(1), content.reordered(backwards));
  Tensor back(s.shape());
  for (int n = 0; n < B * setup.shape.heads; ++n)
    for (int e = 0; e < T * T; ++e) back.data()[n * T * T + e] = m.data()[(n + 1) * T * T - 1 - e];
  return {{{difference(s, back), setup.laws().two_sided ? Expect::below : Expect::shows}}};
}

bool accepted(const Setup& s) {
  try { return Model(s), s.fits(); } catch (const BadInput&) { return false; }
}

// A layer must not read the constants that a layer with other options or heads kept before it (Positions::once).
Outcomes kept(const Setup& setup) {
  Setup first = setup;
  if (setup.variant == "plain") first.shape.d_model /= 2, first.shape.heads /= 2;
  else first.scheme.choices = choose_options(setup.scheme->name, setup.scheme->options, {}, trained_on(T));
  first.shape.first = 0, first.shape.causal |= first.causal_only();
  if (!accepted(first)) return {{}, "it refuses half as many heads, or its defaults refuse these samplers' draws"};
  const Model model(setup);
  const PositionSample draw = setup.draw();
  const Positions& p = draw.at_layer(1);
  const Tensor alone = logits(setup, model, p);
  p.forget_constants();
  logits(first, Model(first), p);
  return {{{difference(logits(setup, model, p), alone), Expect::below}}};
}

Outcomes limits(const Setup& setup) {
  if (setup.sampler->name == "sequential") return {{}, "the sampler is the plain one"};
  const Model model(setup);
  Setup plain = setup;
  plain.sampler = choose_sampler("sequential");
  const PositionSample full = setup.draw(T), sequential = plain.draw(), wide = setup.draw();
  const Tensor plainly = logits(setup, model, sequential.at_layer(1));
  Outcomes list{{{difference(logits(setup, model, full.at_layer(1)), plainly), Expect::below}}};
  if (setup.sampler->random)
    list.all.push_back({difference(logits(setup, model, wide.at_layer(1)), plainly),
                        setup.reads_positions() ? Expect::shows : Expect::below, tolerance, "a wider pool"});
  return list;
}

Outcomes two_routes(const Setup& setup) {
  const Model model(setup);
  if (dynamic_cast<const ExplicitWeights*>(&*model)) return {{}, "its weights are a tensor: no rows are looked up"};
  if (dynamic_cast<const HeadGroups*>(&*model)) return {{}, "each group of heads is looked up by itself"};
  const PositionSample draw = setup.draw();
  const Content content = content_of(setup);
  Scores by_pointer = content.scores(model, draw.at_layer(1));
  if (!(by_pointer.r || by_pointer.bias)) return {{}, "it has no rows by distance"};
  if (by_pointer.pairs) return {{}, "each pair is looked up, whatever the positions"};
  std::vector<int> row;
  for (int i = 0; i < T; ++i)
    for (int j = 0; j < T; ++j) row.push_back(j - i + T - 1);
  Scores looked_up = by_pointer;
  looked_up.pairs = Ids({1, T, T}, row);
  Outcomes list;
  for (const bool causal : {false, true})
    list.all.push_back({difference(attention(by_pointer, content.v, {.causal = causal}),
                                   attention(looked_up, content.v, {.causal = causal})),
                        Expect::below});
  return list;
}

Outcomes permutation(const Setup& setup) {
  const std::vector<int> order = {3, 0, 5, 1, 4, 2};
  const Content content = content_of(setup), moved = content.reordered(order);
  const Model model(setup);
  const PositionSample draw = setup.draw();
  const Positions& p = draw.at_layer(1);
  const Tensor expected = reorder(content.attend(model, p, {}), order);
  Outcomes list{{{difference(moved.attend(model, p, {}), expected), setup.blind() ? Expect::below : Expect::shows,
                  tolerance, "tokens that leave their positions"}}};
  if (p.only_offsets() || setup.reads(Reads::offset_table)) return list;   // no position to permute
  list.all.push_back({difference(moved.attend(model, reordered(p, order), {}), expected),
                      setup.laws().permutes ? Expect::below : Expect::shows_somewhere, tolerance,
                      "tokens that take their positions along"});
  return list;
}

Outcomes mass(const Setup& setup) {
  const Model model(setup);
  const PositionSample draw = setup.draw();
  const Positions& p = draw.at_layer(1);
  // (B, H, T, 1)
  const Tensor total = sum(model->weights(content_of(setup).heads(model, p), p, setup.span()), -1);
  Tensor expected = Tensor::full(total.shape(), 1);
  for (int row = 0; !setup.laws().softmax && setup.shape.causal && row < B * setup.shape.heads; ++row)
    if (std::abs(total.data()[row * T]) < tolerance) expected.data()[row * T] = 0;   // the query sees only its own key
  return {{{difference(total, expected), setup.laws().sums_to_1 ? Expect::below : Expect::shows_somewhere}}};
}

// sum of c_e o_e, with fixed c: a number that depends on all of o
Tensor weighted_sum(const Tensor& o) { return sum_all(o * random_tensor(o.shape(), 99)); }

// All leaves and parameters that the output depends on.
std::vector<std::pair<std::string, Tensor>> wanting(const Content& content, const Model& model) {
  std::vector<std::pair<std::string, Tensor>> list;
  const char* names[] = {"x", "q", "k", "v"};
  const std::vector<Tensor> leaves = content.leaves();
  for (size_t n = 0; n < leaves.size(); ++n) list.push_back({names[n], leaves[n]});
  for (const Params::Entry& e : model.params.entries()) list.push_back({e.name, e.tensor});
  return list;
}

// The output and all gradients.
std::map<std::string, Tensor> pass(const Setup& setup, bool fused) {
  const Model model(setup);
  Content content = content_of(setup);
  for (Tensor* t : {&content.x, &content.q, &content.k, &content.v}) t->require_grad();
  const PositionSample draw = setup.draw();
  const Positions& p = draw.at_layer(1);
  const Heads heads = content.heads(model, draw.at_embedding());
  const Tensor o = fused ? model->attend(heads, content.v, p, setup.span())
                         : composed_attend(*model, model.params, fmt::format("encoding.layer{}", model.layer), heads,
                                           content.v, p, setup.span());
  backward(weighted_sum(o));
  std::map<std::string, Tensor> all{{"output", o}};
  for (auto& [name, t] : wanting(content, model))
    all["gradient of " + name] = Tensor::from(t.shape(), t.grad().values());
  return all;
}

// Whether the declared terms of a scheme (Encoding::terms) are all that it adds to NoPE. bound 0: it declares none.
Outcome terms_as_attention(const Setup& setup) {
  const Model model(setup);
  const Content content = content_of(setup);
  const PositionSample draw = setup.draw();
  const Positions& p = draw.at_layer(1);
  const Heads in = content.heads(model, p, T / 2);
  const auto terms = model->terms(p, {in.q.dim(2), in.q.dim(3), in.q.device()});
  if (!terms) return {0, Expect::below, 0};
  Span span = setup.span();
  span.offset = T - in.q.dim(1);
  const Tensor by_terms = attention(scores_of(*terms, in.q, in.k), content.v, span, terms->biases);
  return {difference(by_terms, model->attend(in, content.v, p, span)), Expect::below, tolerance, "terms"};
}

Outcomes fused(const Setup& setup) {
  if (!has_twin(Model(setup))) return {{}, "it is written with primitive ops, and has no fused form"};
  Outcomes list;
  if (const Outcome terms = terms_as_attention(setup); terms.bound > 0) list.all.push_back(terms);
  const auto one = pass(setup, true), twin = pass(setup, false);
  for (const auto& [name, expected] : twin)
    list.all.push_back({difference(one.at(name), expected), Expect::below, tolerance, name});
  return list;
}

// The positions, or offsets, of the first `time` slots.
Positions first_slots(const Positions& p, int time) {
  const bool offsets = p.only_offsets();
  const std::vector<double>& all = offsets ? p.distances().value : p.tokens("check");
  const int slots = p.time(), each = offsets ? 2 * slots - 1 : slots, from = offsets ? slots - time : 0,
            count = offsets ? 2 * time - 1 : time;
  std::vector<double> part;
  for (int s = 0; s < p.sequences(); ++s)
    part.insert(part.end(), all.begin() + s * each + from, all.begin() + s * each + from + count);
  return offsets ? Positions::of_offsets(p.sequences(), part) : Positions::of_tokens(p.sequences(), part);
}

// Compares the last queries over the first slots with one full pass, for each number of slots up to `slots`.
Outcomes decoded(const Setup& setup, int slots, const std::vector<int>& queries) {
  if (setup.sampler->name == "randomized_offsets" && setup.resample == Resample::per_sequence)
    return {{}, "each sequence has its own offsets, so there is no one table to cut"};
  const Model model(setup);
  const Content content = content_of(setup, slots);
  const PositionSample draw = setup.draw(slots + T - 1, slots);
  const Positions& p = draw.at_layer(1);
  const NoGrad still;
  const Tensor all = content.attend(model, p, {.causal = true});
  Outcome worst{0, Expect::below};
  for (int time = 1; time <= slots; ++time)
    for (const int last : queries) {
      if (last > time) continue;
      const Content part = content.first_slots(time);
      const Positions known = first_slots(p, time);
      const Tensor full = setup.laws().by_length ? part.attend(model, known, {.causal = true}) : all;
      const double error =
          difference(part.attend(model, known, {.causal = true}, last), slice(full, 1, time - last, time));
      if (!(error <= worst.error)) worst.error = error, worst.of = fmt::format("the last {} of {} slots", last, time);
    }
  return {{worst}};
}

Outcomes cached(const Setup& setup) { return decoded(setup, T, {1, 2}); }

Outcomes decode(const Setup& setup) {
  if (setup.variant != "plain" || setup.resample == Resample::per_layer)
    return {{}, "long strings are decoded only with the scheme as spelled"};
  constexpr int slots = 64;
  Setup longer = setup;
  longer.shape.pool = slots + pool + 2;
  return decoded(longer, slots, {1});
}

// The gradient of each input and learned parameter is checked in 4 random directions and along 4 of its numbers: as in
// the digests of tests/reference/README.md, an error of any shape shows in one of them. In float the steps are wide,
// so that only a gross error shows. If a step crosses the kink of a ReLU, shorter ones follow, with fewer digits left.
Outcomes gradients(const Setup& setup) {
  constexpr bool exact = sizeof(real) == 8;
  constexpr double small = exact ? 1e-3 : 0.3;
  const std::vector<double> steps = exact ? std::vector{1e-5, 1e-7} : std::vector{2e-3, 4e-4};
  if (!exact && (setup.variant != "plain" || setup.sampler->random))
    return {{}, "in float only the scheme as spelled is checked, with plain positions"};
  const Model model(setup);
  Content content = content_of(setup);
  for (Tensor* t : {&content.x, &content.q, &content.k, &content.v}) t->require_grad();
  const PositionSample draw = setup.draw();
  const auto loss = [&] { return weighted_sum(content.attend(model, draw.at_layer(1), setup.span())); };
  backward(loss());
  const NoGrad still;
  uint32_t which = 200;
  Outcomes list;
  for (auto& [name, t] : wanting(content, model)) {
    const std::vector<real> grad = t.grad().values(), at = t.values();
    double length = 0, most = 0;
    for (real g : grad) length += double(g) * g;
    length = std::max(std::sqrt(length), small);
    for (int n = 0; n < 8; ++n) {
      Tensor along = n < 4 ? random_tensor(t.shape(), ++which) : Tensor::full(t.shape(), 0);
      if (n >= 4) along.data()[(n * 7919) % t.size()] = 1;
      double size = 0, slope = 0;
      for (int64_t e = 0; e < t.size(); ++e) size += along.data()[e] * along.data()[e];
      size = std::sqrt(size);
      const auto loss_at = [&](double by) {
        for (int64_t e = 0; e < t.size(); ++e) t.data()[e] = real(at[size_t(e)] + by * along.data()[e] / size);
        return double(loss().item());
      };
      for (int64_t e = 0; e < t.size(); ++e) slope += grad[size_t(e)] * along.data()[e] / size;
      double error = INFINITY;
      for (const double step : steps)
        if (error > gradient_bound / 10)
          error = std::min(error, std::abs((loss_at(step) - loss_at(-step)) / (2 * step) - slope) / length);
      most = std::max(most, error);
    }
    std::copy(at.begin(), at.end(), t.data());
    list.all.push_back({most, Expect::below, gradient_bound, name});
  }
  return list;
}

std::vector<Setup> setups_of(Check::Mask mask, const std::vector<std::string>& spelling) {
  if (mask == Check::Mask::causal_if_needed) return each_setup(spelling);
  std::vector<Setup> list = setups(mask == Check::Mask::causal, spelling);
  if (mask == Check::Mask::both)
    for (Setup& s : setups(true, spelling)) list.push_back(std::move(s));
  return list;
}

// Whether the setup varies a length option that no distance within T slots exceeds, so that it has no visible effect.
bool out_of_reach(const Setup& setup) {
  for (const Option& o : setup.scheme.choices.options())
    if (o.kind == Option::Kind::length && setup.variant.starts_with(o.name + "=") &&
        setup.scheme.choices.number(o.name) >= T - 1)
      return true;
  return false;
}

}  // namespace

const std::vector<Check>& all_checks() {
  using enum Check::Mask;
  static const std::vector<Check> list = {
      {"shift", "a constant added to all positions changes no logit", causal_if_needed, shift},
      {"Toeplitz", "one content everywhere, positions in equal steps: logits depend on j - i alone", causal_if_needed,
       toeplitz},
      {"reversal", "reversing the sequence reverses the result if, and only if, both sides look alike", none, reversal},
      {"limits", "with as many positions as slots, every sampler is the plain one", causal_if_needed, limits},
      {"two routes", "a row pointer j - i and a looked-up row give the same attention", none, two_routes},
      {"kept", "a layer gives the same result alone and after one of its scheme with other options or heads",
       causal_if_needed, kept},
      {"permutation", "tokens that keep their positions may stand in any order; others may not", none, permutation},
      {"mass", "the weights of a query sum to 1", both, mass},
      {"fused", "the fused attention equals primitive ops, values and gradients", both, fused},
      {"cached", "the last queries of 1 to 6 slots give the same rows as one causal pass", Check::Mask::causal, cached},
      {"decode", "each step of decoding 64 tokens gives the row of one causal pass", Check::Mask::causal, decode},
      {"gradient", "all gradients equal central differences", causal_if_needed, gradients},
  };
  return list;
}

const Check& check_named(const std::string& name) { return find("check", all_checks(), name); }

Report run(const Check& check, const std::string& spelling) {
  Report r;
  const auto start = std::chrono::steady_clock::now();
  const int before = threads();
  set_threads(1);   // thousands of tiny passes: a team of threads costs more than the work it shares
  for (const Setup& setup : setups_of(check.mask, {spelling})) {
    const Outcomes found = check.run(setup);
    if (r.why_not.empty()) r.why_not = found.why_not;
    for (const Outcome& o : found.all) {
      const std::string where = fmt::format("{}{}{}: {:.1e}", setup.name(), o.of.empty() ? "" : ", ", o.of, o.error);
      if (o.expect == Expect::below) {
        ++r.below;
        if (!(o.error / o.bound <= r.worst / (r.bound ? r.bound : 1)) || !r.bound) r.worst = o.error, r.bound = o.bound;
        if (!(o.error < o.bound)) r.failures.push_back(fmt::format("{} is not below {:.0e}", where, o.bound));
      } else if (o.expect == Expect::shows) {
        if (out_of_reach(setup)) continue;
        ++r.shown, r.least = std::min(r.least, o.error);
        if (!(o.error > seen)) r.unseen.push_back(fmt::format("{} should be a visible difference", where));
      } else {
        ++r.shown, r.broken = std::max(r.broken, o.error);
      }
    }
  }
  set_threads(before);
  // Compositions are checked only with their parts' defaults, which may not show every effect of a part.
  if (r.broken >= 0 && !(r.broken > seen) && !composed_spelling(spelling))
    r.unseen.push_back(spelling + " declares that it breaks this law, but obeys it everywhere");
  if (r.below + r.shown) r.why_not.clear();
  else if (r.why_not.empty()) r.why_not = "it needs a causal mask, but this law is for attention without one";
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return r;
}

}  // namespace poslab::checks
