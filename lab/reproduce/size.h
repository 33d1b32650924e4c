// The three sizes at which a source's exhibits are made. A size is the head of a sweep (lab/sweep/plan.h): a preset of
// options (lab/options.cpp) and which tasks, seeds and learning rates are tried with it.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace poslab::reproduce {

using Lines = std::map<std::string, std::string>;  // key = value of a sweep's TOML

struct Size {
  std::string name, summary;
  Lines head;
};
const std::vector<Size>& all_sizes();
const Size& size(const std::string& name);  // throws BadInput with did-you-mean

}  // namespace poslab::reproduce
