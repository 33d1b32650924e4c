// Limits the number of parameters of a model whose sizes come from a file.
#pragma once
#include <cstdint>
#include <string>

#include "core/tensor.h"

namespace poslab {

// While one lives, a model that this thread builds may have at most `most` parameters: the number of weights in `file`,
// which also gives the model's sizes. So damaged sizes end in a Failure that names the file.
class ParameterLimit {
 public:
  ParameterLimit(std::string file, int64_t most);
  ~ParameterLimit();
  ParameterLimit(const ParameterLimit&) = delete;
  ParameterLimit& operator=(const ParameterLimit&) = delete;
  // Throws Failure if `count` parameters exceed this thread's limit. name and shape are the newest parameter's.
  static void check(int64_t count, const std::string& name, const Shape&);

 private:
  const std::string file_;
  const int64_t most_;
  const ParameterLimit* const before_;
};

}  // namespace poslab
