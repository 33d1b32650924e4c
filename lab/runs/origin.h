// The model with whose weights a training begins, in place of random ones (the option `from`): a run of the same kind,
// or for kinds that read a text a checkpoint of the Hugging Face form. Its options are the new run's where that says no
// other, shares such as 0.5L and 1L in its encoding are of the length that the origin was trained on, and its tokens
// come along. Only the parameters of the encoding and the temperature may be others. The new run folder has
//
//   origin.json    {"from", "step", "checksum", "optimizer", "kept", "new", "dropped"}: step and checksum of the
//                  origin's checkpoint, or the checksum of its weights; names of parameters
#pragma once
#include <functional>
#include <map>
#include <string>

#include "experiment/learner.h"

namespace poslab {

struct Origin {
  std::string path, checksum;
  int64_t step = 0;                              // 0 of a checkpoint of Hugging Face's form, which has no optimizer
  RunSpec config;
  Settings settings{};                           // of a run that begins with it and says no other
  struct Parameter { Tensor value, m{}, v{}; };  // m, v: Adam's moments, absent where there are none
  std::map<std::string, Parameter> parameters{};
  // The spelling of an encoding, with its base and pairing where it leaves them open, and with lengths as numbers.
  std::function<std::string(const std::string& encoding)> complete{};
};

// Throws BadInput: no such folder, another kind, or a checkpoint that training has no options for; Failure: damaged.
Origin open_origin(const Kind&, const std::string& path);
// The settings of a run that begins with it; `own` count. Throws BadInput.
Settings settings_from(const Origin&, const Kind&, const Settings& own);
// Gives a fresh learner these weights, and with optimizer = keep moments and step. Says on stderr which parameters are
// kept, new and dropped, and returns origin.json. Throws BadInput, naming the option, where its shapes are others.
std::string give_weights(const Origin&, Learner&);
// The checksum in a run's origin.json. Throws Failure.
std::string origin_of(const std::string& folder);

}  // namespace poslab
