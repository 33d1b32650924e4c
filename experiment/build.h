// From the words of a Config to the objects they name.
#pragma once
#include "experiment/config.h"
#include "nn/transformer.h"

namespace poslab {

Device device(const Config&);
TransformerSpec transformer_spec(const Config&);
const Sampler& train_sampler(const Config&);
const Sampler& test_sampler(const Config&);
SamplerSpec sampler_spec(const Config&);
PositionSample draw(const Config&, const Sampler&, Stream, int sequences, int time);
int slots(const Config&, int length);  // input and output slots of the model at an input length
int longest(const Config&);            // most slots of any training or test string
// For how many slots there are positions: max_position for a learned table and for samplers from a pool, else no end.
int room(const Config&, const Sampler&);

}  // namespace poslab
