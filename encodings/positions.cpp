// Positions of tokens, or a table of the offsets between them; the distances are worked out in distances.cpp.
#include "encodings/positions.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace poslab {
namespace {

// A NaN would pass unnoticed through a floor, a table or a window, and give finite logits. In double precision
// angles are wrong far beyond 2^32, and differences of neighbours from 2^53 on.
void check_precision(const std::vector<double>& numbers, int sequences, int channels = 1) {
  constexpr double most = 4294967296;
  const auto bad = std::find_if(numbers.begin(), numbers.end(), [](double x) { return !(std::abs(x) <= most); });
  if (bad == numbers.end()) return;
  const size_t at = size_t(bad - numbers.begin()), each = numbers.size() / size_t(sequences);
  bad_input("positions: number {} of sequence {} is {}; give numbers from -2^32 to 2^32", at % each / size_t(channels),
            at / each, *bad);
}

}  // namespace

Positions Positions::of_tokens(int sequences, std::vector<double> position) {
  if (sequences < 1 || position.empty() || position.size() % size_t(sequences))
    bad_input("positions: {} numbers for {} sequences; give at least one, and the same number to each", position.size(),
              sequences);
  check_precision(position, sequences);
  Positions p;
  p.sequences_ = sequences, p.position_ = std::move(position);
  return p;
}

Positions Positions::of_ids(int sequences, int channels, std::vector<double> ids) {
  if (channels < 1 || ids.size() % size_t(channels))
    bad_input("positions: {} numbers cannot be split into {} for each token; drop or add some", ids.size(), channels);
  std::vector<double> position;
  for (size_t n = 0; n < ids.size(); n += size_t(channels)) position.push_back(ids[n]);
  Positions p = of_tokens(sequences, std::move(position));
  check_precision(ids, sequences, channels);
  if (channels > 1) p.channels_ = channels, p.ids_ = std::move(ids);
  return p;
}

Positions Positions::in_cache(std::vector<double> position, int slots) {
  Positions p = of_tokens(1, std::move(position));
  p.tokens_ = p.time(), p.position_.resize(size_t(slots), p.position_.back());
  return p;
}

Positions Positions::of_offsets(int sequences, std::vector<double> offset) {
  if (sequences < 1 || offset.size() % size_t(sequences) || offset.size() / size_t(sequences) % 2 == 0)
    bad_input("positions: {} offsets for {} sequences; give 2 T - 1 of them to each", offset.size(), sequences);
  check_precision(offset, sequences);
  Positions p;
  p.sequences_ = sequences, p.offset_ = std::move(offset);
  return p;
}

Positions Positions::part(int from, int to) const {
  if (sequences_ == 1 || to - from == sequences_) return *this;
  const auto rows = [&](const std::vector<double>& all) {
    const auto each = std::ptrdiff_t(all.size()) / sequences_;
    return std::vector<double>(all.begin() + from * each, all.begin() + to * each);
  };
  Positions p;
  p.sequences_ = to - from, p.channels_ = channels_;
  p.position_ = rows(position_), p.ids_ = rows(ids_), p.offset_ = rows(offset_);
  return p;
}

int Positions::time() const {
  return only_offsets() ? (int(offset_.size()) / sequences_ + 1) / 2 : int(position_.size()) / sequences_;
}

const std::vector<double>& Positions::tokens(const std::string& scheme) const {
  if (only_offsets())
    bad_input(
        "{}: needs a position for every token, and sampler randomized_offsets gives only offsets; use randomized",
        scheme);
  return position_;
}

const std::vector<double>& Positions::ids(const std::string& scheme) const {
  return channels_ > 1 ? ids_ : tokens(scheme);
}

const Tensor& Positions::once(const std::string& name, Device device, const std::function<Tensor(Device)>& make) const {
  Tensor& constant = constants_[{name, device}];
  if (!constant) constant = make(device);   // if make throws, the next call tries again
  return constant;
}

}  // namespace poslab
