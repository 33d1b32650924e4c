#include "encodings/windows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/composed.h"
#include "autograd/tape.h"
#include "encodings/rotary.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Slots, or rows of a tensor: first .. end - 1.
struct SlotRange {
  int first, end;
  int size() const { return end - first; }
};

// Positions of these slots of each sequence: (S, T) -> (S, n)
std::vector<double> of_range(const std::vector<double>& at, int time, SlotRange slots) {
  std::vector<double> some;
  for (auto row = at.begin(); row < at.end(); row += time) some.insert(some.end(), row + slots.first, row + slots.end);
  return some;
}

// The keys that the queries, in the last `queries` of T slots, see in a band.
SlotRange seen_by(const Band& band, int time, int queries) {
  const int first = std::min(time, std::max(0, time - queries + band.from));
  return {first, std::max(first, std::min({time, band.end, time - 1 + band.to}))};
}

// x, (B, n, H, D), with these rows rotated; the others are undefined and not read. Without gradients, on the CPU.
Tensor rotated_rows(const Tensor& x, SlotRange rows, const Rotation& r, Pairing pairing) {
  const int n = x.dim(1), H = x.dim(2), D = x.dim(3);
  Tensor y(x.shape());
  for (int b = 0; b < x.dim(0); ++b) {
    const int64_t at = (int64_t(b) * n + rows.first) * H * D;
    const int64_t angles = r.cosine.dim(0) == 1 ? 0 : int64_t(b) * rows.size() * D / 2;
    kernels(Device::cpu)
        .rotate({y.data() + at, true}, x.data() + at, r.cosine.data() + angles, r.sine.data() + angles, 1, 1,
                rows.size(), H, D, pairing == Pairing::interleaved, false);
  }
  return y;
}

// Queries and keys of a band, rotated.   number: the band's, for the names of its constants   only_seen: rotates
// only the keys that a query sees
Piece piece(const Heads& in, const Positions& p, const RotaryLayer& t, int number, const Band& band, bool only_seen) {
  const int T = p.time(), queries = in.q.dim(1);
  const bool alike = band.q == band.k;
  const auto rotated = [&](const Tensor& x, const std::vector<double>& at, const char* whose, SlotRange slots) {
    if (at.empty() || slots.size() == 0) return x;
    const std::string name = fmt::format("{} {} {}{} {} {}", t.name, t.frequencies.size(), number, alike ? "" : whose,
                                         slots.first, slots.end);
    const Rotation by = rotation_by(p, of_range(at, T, slots), name, x.device(), t.frequencies);
    if (slots.size() == x.dim(1)) return rotate(x, by, t.pairing);
    return rotated_rows(x, slots, by, t.pairing);
  };
  const bool some = only_seen && in.k.device() == Device::cpu && !recording();
  const SlotRange keys = some ? seen_by(band, T, queries) : SlotRange{0, T};
  return {rotated(in.q, band.q, " q", {T - queries, T}),
          rotated(in.k, band.k, " k", keys),
          band.from,
          band.to,
          0,
          band.end};
}

std::vector<double> each(const std::vector<double>& positions, const std::function<double(double)>& f) {
  std::vector<double> at(f ? positions.size() : 0);
  if (f) std::transform(positions.begin(), positions.end(), at.begin(), f);
  return at;
}

// The step from one slot to the next, of evenly spaced positions.
double slot_step(const Positions& p, const std::string& scheme) {
  const Distances& d = p.distances();
  if (d.pairs) failure("{}: pieces of slots need evenly spaced positions, but these are not", scheme);
  return p.time() > 1 ? d.value[size_t(p.time())] : 1;
}

double place(const std::vector<double>& at, int slot) { return at.empty() ? 0 : at[size_t(slot)]; }

}  // namespace

RotaryLayer rotary_layer(const ModelShape& m, const Choices& c) {
  return {c.spelled(), frequencies(m.head_dim(), c.number("base")), pairing_of(c)};
}

std::unique_ptr<Encoding> rotary_everywhere(const RotaryLayer& t) {
  return std::make_unique<Rotary>(t.name, t.frequencies, t.pairing);
}

Scheme rotary_layers_scheme(Scheme s, Reads what, std::function<bool(const Choices&)> rotates) {
  if (!rotates) rotates = always(true);
  const Reads others = Reads(unsigned(what) & ~unsigned(Reads::positions));
  s.pages.doors = std::string(1, '2');
  s.reads = [=](const Choices& c) { return rotates(c) ? what : others; };
  s.check = [name = s.name](const ModelShape& m, const Choices&) { check_pairs(name, m); };
  s.pages.pictures.frequencies = [rotates](const ModelShape& m, const Choices& c, int, int) {
    std::vector<double> f = rotary_layer(m, c).frequencies;
    if (!rotates(c)) std::fill(f.begin(), f.end(), 0);
    return f;
  };
  return s;
}

Tensor by_positions(const Heads& in, const Positions& p, const std::string& key,
                    const std::function<double(double, double)>& of) {
  const int T = p.time(), queries = in.q.dim(1);
  return p.once(fmt::format("{} {}", key, queries), in.q.device(), [&](Device device) {
    const std::vector<double>& at = p.tokens(key);
    Tensor all({p.sequences(), 1, queries, T});
    real* next = all.data();
    for (int s = 0; s < p.sequences(); ++s)
      for (int i = T - queries; i < T; ++i)
        for (int j = 0; j < T; ++j) *next++ = real(of(at[size_t(s * T + i)], at[size_t(s * T + j)]));
    return all.to(device);
  });
}

Scores rotated(const Heads& in, const Positions& p, const RotaryLayer& t, const Bands& bands, bool only_seen) {
  Scores s;
  for (size_t n = 0; n < bands.size(); ++n) s.pieces.push_back(piece(in, p, t, int(n), bands[n], only_seen));
  s.scale = real(1 / std::sqrt(double(in.q.dim(3))));
  s.temperature = in.temperature;
  return s;
}

Tensor effective_distances(const Bands& bands, int time) {
  std::vector<double> d;
  for (int i = 0; i < time; ++i)
    for (int j = 0; j < time; ++j) {
      const auto holds = [&](const Band& x) { return x.from <= j - i && j - i < x.to && j < x.end; };
      const auto band = std::find_if(bands.begin(), bands.end(), holds);
      d.push_back(band == bands.end() ? nan : place(band->k, j) - place(band->q, i));
    }
  return Tensor::from({time, time}, d);
}

const std::string cosines_shown =
    "The similarity of two equal contents after their rotations: the mean cosine of the angles between them";
const std::string cosines_seen_shown =
    "The mean cosine of the angles between two slots; hidden pairs are drawn as -1.";

Option window_option(const std::string& name, const std::string& standard, const std::string& help, Range range) {
  return Option::length(name, standard, range, help);
}

namespace {

std::string not_reached(const Choices& c, const std::string& option, double longest) {
  return c.whole(option) < longest ? "" : fmt::format("{} = {}", option, c[option]);
}

}  // namespace

std::function<std::string(const Choices&, const Extent&)> until_slot(const std::string& option, int more) {
  return [=](const Choices& c, const Extent& e) { return not_reached(c, option, e.slots - more); };
}
std::function<std::string(const Choices&, const Extent&)> until_position(const std::string& option, int more) {
  return [=](const Choices& c, const Extent& e) { return not_reached(c, option, e.positions - more); };
}

BandsOf sliding(const std::string& scheme, int window, bool causal, bool rope) {
  return [=](const Positions& p) -> Bands {
    const std::vector<double> at = rope ? p.tokens(scheme) : std::vector<double>();
    return {{.q = at, .k = at, .from = 1 - window, .to = causal ? 1 : window}};
  };
}

std::unique_ptr<Encoding> windowed_layer(const std::string& scheme, const ModelShape& m, const Choices& c) {
  return std::make_unique<Windowed>(rotary_layer(m, c), sliding(scheme, c.whole("window"), m.causal));
}

Scheme windowed_scheme(Scheme s, const BandsFor& bands, std::function<bool(const Choices&)> rotates) {
  s.make = [bands](Params, const ModelShape& m, const Choices& c, int) {
    return std::make_unique<Windowed>(rotary_layer(m, c), bands(m, c));
  };
  s.pages.pictures.matrix = cosines;
  s.pages.pictures.distances = [bands](const ModelShape& m, const Choices& c, const Positions& p) {
    return effective_distances(bands(m, c)(p), p.time());
  };
  return rotary_layers_scheme(std::move(s), Reads::positions | Reads::slots, std::move(rotates));
}

Bands PiecewiseRotary::bands(const Positions& p) const {
  const std::vector<double>& at = p.tokens(rotary_.name);
  const std::vector<double> q = each(at, far_.q), k = each(at, far_.k);
  return {{.q = at, .k = at}, {.q = q, .k = k}, {.q = k, .k = q}};
}

Scores PiecewiseRotary::scores(const Heads& in, const Positions& p) const {
  return rotated(in, p, rotary_, of_slots(p));
}

// `cut`: the first slot distance that is far.
Bands PiecewiseRotary::of_slots(const Positions& p) const {
  Bands all = bands(p);
  const double step = slot_step(p, rotary_.name);
  const double c = std::ceil(window_ / std::abs(step) - 1e-9);
  const int cut = int(std::clamp<double>(c, 1, far - 1));
  if (step < 0) std::swap(all[1].q, all[2].q), std::swap(all[1].k, all[2].k);   // positions fall: left comes after
  all[0].from = 1 - cut, all[0].to = cut, all[1].to = 1 - cut, all[2].from = cut;
  if (causal_) all[0].to = std::min(cut, 1), all.pop_back();
  return all;
}

Tensor PiecewiseRotary::attend(const Heads& in, const Tensor& v, const Positions& p, const Span& span) const {
  p.tokens(rotary_.name);
  if (p.distances().pairs) return WholeLogits::attend(in, v, p, span);
  return attention(rotated(in, p, rotary_, of_slots(p), true), v, span);
}
Tensor PiecewiseRotary::weights(const Heads& in, const Positions& p, const Span& span) const {
  p.tokens(rotary_.name);
  return p.distances().pairs ? WholeLogits::weights(in, p, span) : attention_weights(scores(in, p), span);
}
Tensor PiecewiseRotary::statistics(const Heads& in, const Positions& p, const Span& span) const {
  p.tokens(rotary_.name);
  return p.distances().pairs ? WholeLogits::statistics(in, p, span) : attention_statistics(scores(in, p), span);
}
Tensor PiecewiseRotary::logits(const Heads& in, const Positions& p, const Span& span) const {
  p.tokens(rotary_.name);
  return p.distances().pairs ? WholeLogits::logits(in, p, span) : composed::logits(scores(in, p), span);
}

Tensor PiecewiseRotary::pairs(const Heads& in, const Positions& p, const Span&) const {
  const Bands all = bands(p);
  const auto product = [&](int n) {
    const Piece x = piece(in, p, rotary_, n, all[size_t(n)], false);
    return products({x.q, x.k, in.x});
  };
  const Tensor near = by_positions(in, p, fmt::format("near {}", window_),
                                   [this](double query, double key) { return std::abs(query - key) < window_; });
  const Tensor before = by_positions(in, p, "before", [](double query, double key) { return key < query; });
  return where(near, product(0), where(before, product(1), product(2)));
}

Tensor PiecewiseRotary::distances(const Positions& p) const {
  const std::vector<double>& at = p.tokens(rotary_.name);
  const Bands all = bands(p);
  std::vector<double> d;
  for (int i = 0; i < p.time(); ++i)
    for (int j = 0; j < p.time(); ++j) {
      const double r = at[size_t(i)] - at[size_t(j)];
      const Band& band = all[std::abs(r) < window_ ? 0 : r > 0 ? 1 : 2];
      d.push_back(causal_ && j > i ? nan : place(band.k, j) - place(band.q, i));
    }
  return Tensor::from({p.time(), p.time()}, d);
}

Scheme piecewise_scheme(Scheme s, const std::function<PiecewiseRotary(const ModelShape&, const Choices&)>& layer) {
  s.make = [layer](Params, const ModelShape& m, const Choices& c, int) {
    return std::make_unique<PiecewiseRotary>(layer(m, c));
  };
  s.pages.pictures.distances = [layer](const ModelShape& m, const Choices& c, const Positions& p) {
    return layer(m, c).distances(p);
  };
  s.pages.cost = {.matrices = always(2.), .live = always(0.)};
  s.pages.pictures.matrix = cosines;
  s.pages.unreached = until_position("window", 1);               // at exactly `window` nothing changes either
  return rotary_layers_scheme(std::move(s));
}

Scores ByKeys::scores(const Heads& in, const Positions& p) const {
  const int queries = in.q.dim(1), before = p.kept() - queries;
  const Tensor f = p.once(fmt::format("{} {} {}", name_, before, queries), in.q.device(), [&](Device device) {
    std::vector<double> factors;
    for (int i = 0; i < queries; ++i) factors.push_back(f_(before + i + 1));
    return Tensor::from({1, queries, 1}, factors).to(device);
  });
  Scores s = Encoding::scores(in, p);
  s.temperature = in.temperature ? in.temperature * f : f;
  return s;
}

}  // namespace poslab
