// The place where a tensor lives and its kernels run.
#pragma once

namespace poslab {

enum class Device { cpu, cuda };

}  // namespace poslab
