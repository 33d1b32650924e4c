// From the words of a Config to the objects they name.
#pragma once
#include "core/backend.h"
#include "experiment/config.h"
#include "nn/transformer.h"
#include "tasks/task.h"

namespace poslab {

// A word of an option and what it means.
template <class Value>
struct Word {
  std::string name;
  Value value;
};
const std::vector<Word<Device>>& all_devices();
const std::vector<Word<Resample>>& all_resamplings();
const std::vector<Word<Matmul>>& all_matmuls();
const std::vector<Word<Engine>>& all_engines();

Device device(const Config&);
Matmul matmul(const Config&);
Engine products(const Config&);
TransformerSpec transformer_spec(const Config&);
Chosen<Scheme> scheme(const Config&);  // the encoding and its options; scheme(c).spelled() is its name on pages
Chosen<TemperaturePolicy> test_temperature(const Config&);
Chosen<Sampler> train_sampler(const Config&);
Chosen<Sampler> test_sampler(const Config&);
// `tokens` (B, T) decide too if the sampler reads their classes.
PositionSample draw(const Config&, const Chosen<Sampler>&, Stream, int sequences, int time, const Ids& tokens = {});
Ids token_classes(const Task&, const Ids& tokens);  // (B, T) of TokenClass
int slots(const Config&, int length);  // input and output slots of the model at an input length
int longest(const Config&);            // most slots of any training or test string
// For how many slots there are positions: max_position for a learned table and for samplers from a pool, else no end.
int room(const Config&, const Chosen<Sampler>&);

}  // namespace poslab
