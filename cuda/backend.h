// The GPU as a device of poslab: a main program says add_backend(Device::cuda, cuda::as_backend()).
#pragma once
#include "core/backend.h"

namespace poslab::cuda {

const Backend& as_backend();
int recorded_steps();          // how many different steps have been recorded so far; for tests

}  // namespace poslab::cuda
