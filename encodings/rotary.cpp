#include "encodings/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "autograd/encoder_block.h"
#include "core/platform/parallel.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

// p f minus whole turns, because a float holds 2047 radians to only 1e-4
real angle_of(double position, double frequency) {
  constexpr double turn = 2 * std::numbers::pi;
  const double angle = position * frequency;
  return real(angle - turn * double(std::llrint(angle * (1 / turn))));
}

// The angles at_n f_m: (S, n, D/2). Decoding computes them for all tokens at every step.
Tensor angles_of(const std::vector<double>& at, int sequences, const std::vector<double>& frequencies) {
  const int pairs = int(frequencies.size());
  Tensor angle({sequences, int(at.size()) / sequences, pairs});
  parallel_ranges(int64_t(at.size()), 512, [&, to_all = angle.data()](int64_t from, int64_t to) {
    for (int64_t n = from; n < to; ++n)
      for (int m = 0; m < pairs; ++m) to_all[n * pairs + m] = angle_of(at[size_t(n)], frequencies[size_t(m)]);
  });
  return angle;
}

}  // namespace

Rotation rotation_by(const Positions& p, const std::vector<double>& at, const std::string& name, Device device,
                   const std::vector<double>& frequencies) {
  Tensor angle;
  const auto of_angles = [&](const char* of, Tensor (*function)(const Tensor&)) {
    return p.once(fmt::format("{} {}", of, name), device, [&](Device there) {
      if (!angle) angle = angles_of(at, p.sequences(), frequencies);
      return function(angle).to(there);
    });
  };
  return {of_angles("cosine", cos), of_angles("sine", sin)};
}

Rotation rotation_by(const Positions& p, const std::string& scheme, const std::string& name, Device device,
                   const std::vector<double>& frequencies, const std::function<double(double)>& at) {
  std::vector<double> moved = p.tokens(scheme);
  if (at) std::transform(moved.begin(), moved.end(), moved.begin(), at);
  return rotation_by(p, moved, name, device, frequencies);
}

Rotation last_slots(const Rotation& r, int queries) {
  const int keys = r.cosine.dim(1);
  if (queries == keys) return r;
  return {slice(r.cosine, 1, keys - queries, keys), slice(r.sine, 1, keys - queries, keys)};
}

namespace {

// The first channels are rotated, as many pairs as there are angles.
Tensor rotated(const Tensor& x, const Rotation& r, Pairing pairing) {
  const int channels = x.dim(3), rotating = 2 * r.cosine.dim(2);
  if (rotating == channels) return rotate(x, r, pairing);
  return concat({rotate(slice(x, 3, 0, rotating), r, pairing), slice(x, 3, rotating, channels)}, 3);
}

// The queries are the last slots; the keys are all slots.
Piece rotated_piece(const Tensor& q, const Tensor& k, const Rotation& of_keys, Pairing pairing) {
  return {rotated(q, last_slots(of_keys, q.dim(1)), pairing), rotated(k, of_keys, pairing)};
}

Tensor joined(const std::vector<Tensor>& groups) { return groups.size() == 1 ? groups[0] : concat(groups, 2); }

}  // namespace

Rotary::Rotary(std::string name, std::vector<double> frequencies, Pairing pairing)
    : Rotary(std::move(name), pairing, [one = std::vector<Group>{{{std::move(frequencies)}, 0}}](int) { return one; }) {
}

Rotary::Rotary(std::string name, Pairing pairing, std::function<std::vector<Group>(int slots)> groups)
    : name_(std::move(name)), pairing_(pairing), groups_(std::move(groups)) {}

Rotation Rotary::group_rotation(const Group& group, int from, const Positions& p, const LayerShape& n) const {
  const std::string key = fmt::format("{} {} {} {}", name_, n.head_dim, n.heads, from);
  return rotation_by(p, name_, key, n.device, group.spectrum.frequencies);
}

std::optional<LayerTerms> Rotary::terms(const Positions& p, const LayerShape& n) const {
  const std::vector<Group> all = groups_(p.time());
  const RotarySpectrum& spectrum = all[0].spectrum;
  if (all.size() > 1 || 2 * int(spectrum.frequencies.size()) != n.head_dim) return std::nullopt;
  return LayerTerms{.scale = real(spectrum.factor / std::sqrt(double(n.head_dim))),
                    .rotation = group_rotation(all[0], 0, p, n),
                    .pairing = pairing_};
}

Scores Rotary::scores(const Heads& in, const Positions& p) const {
  const std::vector<Group> all = groups_(in.k.dim(1));
  std::vector<Tensor> q, k;
  for (int from = 0; const Group& group : all) {
    const LayerShape shape{in.q.dim(2), in.q.dim(3), in.q.device()};
    const auto own = [&](const Tensor& x) { return all.size() == 1 ? x : slice(x, 2, from, from + group.heads); };
    const Piece piece = rotated_piece(own(in.q), own(in.k), group_rotation(group, from, p, shape), pairing_);
    q.push_back(piece.q), k.push_back(piece.k);
    from += group.heads;
  }
  Scores s = Encoding::scores(in, p);
  s.pieces[0] = {joined(q), joined(k)};
  s.scale = real(s.scale * all[0].spectrum.factor);
  return s;
}

namespace {

std::vector<Rotary::Group> groups_by(const FrequencyLaw& law, const ModelShape& m, const Choices& c, int slots) {
  std::vector<Rotary::Group> all;
  for (int h = 0; h < m.heads; ++h) {
    RotarySpectrum spectrum = law({m.head_dim(), m.heads, h, slots}, c);
    if (all.empty() || all.back().spectrum.frequencies != spectrum.frequencies) all.push_back({std::move(spectrum), 0});
    ++all.back().heads;
  }
  return all;
}

}  // namespace

SchemePages rotary_pages(const std::string& name, SchemePages, const FrequencyLaw&);
Scheme rotary_scheme(Scheme s, const FrequencyLaw& law, std::function<bool(const Choices&)> by_length) {
  if (!by_length) by_length = always(false);
  s.reads = always(Reads::positions);
  s.check = [name = s.name, own = s.check](const ModelShape& m, const Choices& c) {
    check_pairs(name, m);
    if (own) own(m, c);
  };
  s.make = [law, by_length](Params, const ModelShape& m, const Choices& c, int) {
    std::function<std::vector<Rotary::Group>(int)> groups = [=](int slots) { return groups_by(law, m, c, slots); };
    if (!by_length(c)) groups = [fixed = groups(0)](int) { return fixed; };
    return std::make_unique<Rotary>(c.spelled(), pairing_of(c), groups);
  };
  s.laws = [by_length](const ModelShape&, const Choices& c) { return Laws{.by_length = by_length(c)}; };
  s.pages = rotary_pages(s.name, std::move(s.pages), law);
  return s;
}

Option rope_base(double standard) {
  return {"base", standard, {2, 1e30}, "pair m is rotated by base^(-2m/D) per position"};
}

Option pairing_option() {
  return {"pairing", {"interleaved", "half"}, "which channels rope turns together: (2m, 2m+1) or (m, m + half)"};
}

Option factor_option() { return {"factor", 8., {1, 1e6}, "length of inputs / trained length"}; }

Option length_option(int least) {
  return Option::length("length", "1L", {double(least), 1 << 24}, "the trained length, in slots");
}

std::vector<double> frequencies_of(const HeadAt& t, const Choices& c) {
  return frequencies(t.channels, c.number("base"));
}

double slower_base(double base, double k, int channels) {
  return channels == 2 ? base : base * std::pow(k, channels / (channels - 2.0));
}

Pairing pairing_of(const Choices& c) { return c["pairing"] == "half" ? Pairing::half : Pairing::interleaved; }

void check_pairs(const std::string& scheme, const ModelShape& m) {
  if (m.head_dim() % 2)
    bad_input("{} rotates channels in pairs, but a head has {}{}, an odd number of channels; make the head size even",
              scheme, m.head_width ? "" : fmt::format("(d_model = {}) / (heads = {}) = ", m.d_model, m.heads),
              m.head_dim());
}

// -- for pages
SchemePages rotary_pages(const std::string& name, SchemePages s, const FrequencyLaw& law) {
  s.doors = std::string(1, '2');
  s.shows = [law](const ModelShape& m, const Choices& c) {
    const double factor = law({m.head_dim(), m.heads, 0, 1}, c).factor;
    return "The similarity of two equal contents after their rotations: the mean cosine of the angles between them, 1 "
           "at the same position" +
           (factor == 1 ? "." : fmt::format(", times {:.4g}, the factor on all logits.", factor));
  };
  s.pictures.matrix = [law](const ModelShape& m, const Choices& c) {
    return groups_by(law, m, c, 1).size() == 1 ? cosines(m, c) : equal_contents(m, c);
  };
  s.pictures.frequencies = [law](const ModelShape& m, const Choices& c, int slots, int head) {
    std::vector<double> f = law({m.head_dim(), m.heads, head, slots}, c).frequencies;
    f.resize(size_t(m.head_dim() / 2));
    return f;
  };
  if (!s.pictures.distances)
    s.pictures.distances = [name](const ModelShape&, const Choices&, const Positions& p) {
      const std::vector<double>& at = p.tokens(name);
      Tensor d({p.time(), p.time()});
      for (int i = 0, T = p.time(); i < T; ++i)
        for (int j = 0; j < T; ++j) d.data()[i * T + j] = real(at[size_t(j)] - at[size_t(i)]);
      return d;
    };
  return s;
}

}  // namespace poslab
