// When positions are drawn. The paper draws once per batch; the released code draws anew in every layer for relative,
// ALiBi and RoPE, and once per forward pass for the rest; label encoding draws for each sequence (spec, finding 2).
#include "core/error.h"
#include "encodings/positions.h"

namespace poslab {

PositionSample::PositionSample(const Sampler& sampler, SamplerSpec spec, Resample resample, Stream stream, int sequences, int time)
    : sampler_(sampler), spec_(spec), resample_(resample), stream_(stream), sequences_(sequences), time_(time) {}

PositionSample::PositionSample(std::vector<Positions> given)
    : sampler_{"given", "", "", given.size() > 1, [](const SamplerSpec&, int, int, Rng&) -> Positions {
        bad_input("positions: given for fewer layers than the model has; give one for all layers, or one for each");
      }},
      resample_(Resample::per_layer), sequences_(0), time_(0) {
  for (Positions& p : given) drawn_.push_back(std::make_shared<const Positions>(std::move(p)));
}

const Positions& PositionSample::at_layer(int layer) const {
  const size_t at = sampler_.random && resample_ == Resample::per_layer ? size_t(layer) : 0;
  if (drawn_.size() <= at) drawn_.resize(at + 1);
  if (!drawn_[at]) {
    Stream own = stream_;
    own.site += uint32_t(at);
    Rng rng(own);
    const bool each = sampler_.random && resample_ == Resample::per_sequence;
    drawn_[at] = std::make_shared<const Positions>(sampler_.sample(spec_, each ? sequences_ : 1, time_, rng));
  }
  return *drawn_[at];
}

}  // namespace poslab
