// The tensors of a checkpoint of the Hugging Face form, by the names of a model's parameters. They stay in their mapped
// files; every tensor must be used.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/params.h"
#include "lab/hub/hf_names.h"
#include "lab/hub/stored_tensors.h"

namespace poslab {

class HfWeights {
 public:
  // place_of: the place of a parameter in the form. config: the path, for messages.
  using Places = std::function<HfPlace(const std::string& parameter)>;
  // device: where the model computes.
  HfWeights(const std::string& folder, const std::string& config, Places place_of, Device = Device::cpu);
  bool has(const std::string& tensor) const { return tensors_.count(tensor) > 0; }
  // The first of the tied names that has a tensor, which is then the weight of all; the first name if none has one.
  std::string first_of(const std::vector<std::string>& tied) const;
  // Leaves out a tensor that copies another. Throws BadInput if the two differ in dtype, shape or a number.
  void drop_copy(const std::string& tensor, const std::string& of);
  // The parameters to build a model from, while this object lives. Throws BadInput if they do not fit on the device, or
  // if a tensor is missing or of another shape; Failure if one holds NaN or infinity.
  Params params() { return Params(stored(), device_); }
  Params::StoredWeights stored();                // the same matrices, in the files
  // Throws BadInput for a tensor that no parameter asked for, unless it is spare.
  void require_all_read(const std::function<bool(const std::string& tensor)>& is_spare) const;

 private:
  std::string folder_, config_;
  Places place_of_;
  Device device_;
  StoredTensors tensors_;
  std::set<std::string> read_;
};

}  // namespace poslab
