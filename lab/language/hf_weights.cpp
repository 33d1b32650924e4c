#include "lab/language/hf_weights.h"

#include "core/error.h"
#include "core/stop.h"

namespace poslab {

HfWeights::HfWeights(const std::string& folder, const std::string& config, Names name_of)
    : folder_(folder), config_(config), name_of_(std::move(name_of)), tensors_(map_weights(folder)) {}

Params HfWeights::params() {
  return Params([this](const std::string& parameter, int rows, int columns) {
    stop_if_wanted();
    const std::string name = name_of_(parameter);
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) bad_input("{} has no tensor {}, which {} asks for", folder_, name, config_);
    const bool vector = rows == 1 && found->second.shape.size() == 1;
    const Shape wanted = vector ? Shape{columns} : Shape{rows, columns};
    if (found->second.shape != wanted)
      bad_input("{}: the tensor {} is {}, and by {} it has to be {}", found->second.path, name,
                to_string(found->second.shape), config_, to_string(wanted));
    read_.insert(name);
    return matrix_of(name, found->second);
  });
}

void HfWeights::must_be_all_read(const std::function<bool(const std::string&)>& is_spare) const {
  for (const auto& [name, tensor] : tensors_)
    if (!read_.count(name) && !is_spare(name))
      bad_input("{} has a tensor {} {}, for which a model of {} has no use; is it of another architecture?",
                tensor.path, name, to_string(tensor.shape), config_);
}

}  // namespace poslab
