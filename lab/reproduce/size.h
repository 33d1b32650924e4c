// The three sizes at which a source's exhibits are made. A size is the head of a sweep (lab/sweep/plan.h): a preset of
// options (experiment/options.cpp) and which tasks, seeds and learning rates are tried with it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "experiment/config.h"

namespace poslab::reproduce {

using Lines = std::map<std::string, std::string>;  // key = value of a sweep's TOML

struct Size {
  std::string name, summary;
  Lines head;
};
const std::vector<Size>& all_sizes();
const Size& size(const std::string& name);  // throws BadInput with did-you-mean

// The sweep of `keys` and the [[also]] tables `also` at this size. Of a key that several name, `keys` counts before
// `settings`, and these before the size; seeds and seed are one key.
std::string sweep(const Size&, const Settings& settings, const Lines& keys, const std::string& also);
// The first trial of the size with these settings, whatever its encoding: what an exhibit takes its own choices from.
Config usual(const Size&, const Settings&);

}  // namespace poslab::reproduce
