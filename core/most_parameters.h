// A limit on the parameters of a model whose sizes a file gives.
#pragma once
#include <cstdint>
#include <string>

#include "core/tensor.h"

namespace poslab {

// While one lives, models that this thread builds may have so many parameters: a file that says sizes is believed no
// further than the weights go that it holds. Beyond that a Failure names the file.
class MostParameters {
 public:
  MostParameters(std::string file, int64_t most);
  ~MostParameters();
  MostParameters(const MostParameters&) = delete;
  MostParameters& operator=(const MostParameters&) = delete;
  // Throws if `count` parameters, the last ones of that name and shape, are more than the limit of this thread.
  static void check(int64_t count, const std::string& name, const Shape&);

 private:
  const std::string file_;
  const int64_t most_;
  const MostParameters* const before_;
};

}  // namespace poslab
