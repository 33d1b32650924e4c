#include "core/parameter_limit.h"

#include <utility>

#include "core/error.h"

namespace poslab {
namespace {

thread_local const ParameterLimit* limit_of_thread = nullptr;

}  // namespace

ParameterLimit::ParameterLimit(std::string file, int64_t most)
    : file_(std::move(file)), most_(most), before_(std::exchange(limit_of_thread, this)) {}
ParameterLimit::~ParameterLimit() { limit_of_thread = before_; }
void ParameterLimit::check(int64_t count, const std::string& name, const Shape& shape) {
  if (limit_of_thread && count > limit_of_thread->most_)
    failure("{} is damaged: {} of shape {} goes beyond the {} weights that it holds; restore it from a copy",
            limit_of_thread->file_, name, to_string(shape), limit_of_thread->most_);
}

}  // namespace poslab
