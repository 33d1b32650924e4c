// The model whose weights a run begins with, in place of random ones (the option `from`): a run of the same kind
// or, for kinds that read a text, a checkpoint of the Hugging Face form. The new run takes over the origin's tokens,
// and its options unless it sets others; shares such as 0.5L and 1L in its encoding refer to the origin's trained
// length. Only the parameters of the encoding and the temperature may differ. The new run folder has
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
  int64_t step = 0;                              // 0 for a checkpoint of the Hugging Face form, which has no optimizer
  RunSpec config;
  Settings settings{};                           // the options of a new run that sets none itself
  struct Parameter { Tensor value, m{}, v{}; };  // Adam's moments m and v, absent if there are none
  std::map<std::string, Parameter> parameters{};
  // The spelling of an encoding with the origin's base and pairing where it leaves them open, and with lengths as
  // numbers.
  std::function<std::string(const std::string& encoding)> complete{};
};

// Throws BadInput for a missing folder, another kind, or a checkpoint with traits that training has no options for;
// Failure if it is damaged.
Origin open_origin(const Kind&, const std::string& path);
// The settings of a new run, in which `own` take precedence. Throws BadInput.
Settings settings_from(const Origin&, const Kind&, const Settings& own);
// Gives a fresh learner these weights and, with optimizer = keep, moments and step. Prints the kept, new and dropped
// parameters to stderr, and returns origin.json. Throws BadInput with the option's name for other shapes.
std::string give_weights(const Origin&, Learner&);
// The checksum in a run's origin.json. Throws Failure.
std::string origin_of(const std::string& folder);

}  // namespace poslab
