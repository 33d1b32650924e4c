// When positions are drawn. The paper draws once per batch; the released code resamples in every layer
// for relative, ALiBi and RoPE, and once per forward pass for the rest; label encoding draws for each sequence (spec,
// finding 2).
#include "core/error.h"
#include "encodings/sampler.h"

namespace poslab {

PositionSample::PositionSample(Chosen<Sampler> sampler, Resample resample, Stream stream, int sequences, int time,
                               Ids classes)
    : sampler_(std::move(sampler)), resample_(resample), stream_(stream), sequences_(sequences), time_(time),
      classes_(std::move(classes)) {}

PositionSample::PositionSample(std::vector<Positions> given)
    : resample_(Resample::per_layer), sequences_(1), time_(1) {
  sampler_.thing = {
      .name = "given", .random = given.size() > 1, .draw = [](const Choices&, const Slots&, Rng&) -> Positions {
        bad_input("positions: given for fewer layers than the model has; give one set for all layers, or one for each");
      }};
  for (Positions& p : given) drawn_.push_back(std::make_shared<const Positions>(std::move(p)));
}

PositionSample::PositionSample(Chosen<Sampler> sampler, Stream stream, Documents lengths)
    : PositionSample(std::move(sampler), Resample::per_forward, stream, 1, 1) {
  for (const std::vector<int>& sequence : documents_ = std::move(lengths))
    for (const int n : sequence)
      if (n < 1) bad_input("positions: a document of {} tokens; each needs 1 or more", n);
}

const PositionSample& PositionSample::of_document(int slots) const {
  std::shared_ptr<const PositionSample>& of = of_length_[slots];
  if (!of) of = std::make_shared<const PositionSample>(sampler_, resample_, stream_, 1, slots);
  return *of;
}

const Positions& PositionSample::at_layer(int layer) const {
  if (!documents_.empty()) bad_input("positions of packed documents: this model reads whole sequences; use a Decoder");
  const int turns = sampler_->parts ? int(sampler_->parts->size()) : 1;
  const Chosen<Sampler>& sampler = sampler_->parts ? (*sampler_->parts)[size_t(layer % turns)] : sampler_;
  const bool random = sampler->random;
  const size_t at = size_t(random && resample_ == Resample::per_layer ? layer : layer % turns);
  if (drawn_.size() <= at) drawn_.resize(at + 1);
  return draw(drawn_[at], sampler, uint32_t(at));
}

const Positions& PositionSample::at_embedding() const {
  constexpr uint32_t beyond_all_layers = 1 << 20;
  return sampler_->added ? draw(added_, *sampler_->added, beyond_all_layers) : at_layer(0);
}

const Positions& PositionSample::draw(Drawn& drawn, const Chosen<Sampler>& sampler, uint32_t site) const {
  if (!drawn) {
    Stream own = stream_;
    own.site += site;
    Rng rng(own);
    const bool each = sampler->random && resample_ == Resample::per_sequence;
    const Positions all = sample(sampler, {each ? sequences_ : 1, time_, classes_}, rng);
    drawn = std::make_shared<const Positions>(to_ < 0 ? all : all.part(from_, to_));
  }
  return *drawn;
}

PositionSample PositionSample::part(int from, int to) const {
  PositionSample p = *this;
  if (!documents_.empty()) p.documents_ = {documents_.begin() + from, documents_.begin() + to};
  p.from_ = from, p.to_ = to;
  for (Drawn& d : p.drawn_)
    if (d && d->sequences() > 1) d = std::make_shared<const Positions>(d->part(from, to));
  return p;
}

void PositionSample::begin_pass() const {
  for (const Drawn& p : drawn_)
    if (p) p->forget_constants();
  if (added_) added_->forget_constants();
  for (const auto& [slots, of] : of_length_) of->begin_pass();
}

}  // namespace poslab
