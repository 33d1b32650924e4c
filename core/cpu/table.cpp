// The CPU's table of kernels, compiled once for each instruction set. The list is core/kernels.def; KERNEL declares
// what the files beside this one define.
#include "core/kernels.h"

#define TEXT(x) #x
#define NAME(x) TEXT(x)

namespace poslab::POSLAB_ISA {

#define KERNEL(name, result, arguments, ...) result name arguments;
#include "core/kernels.def"
#undef KERNEL
void linear_stored(real*, const real*, StoredAs, const void*, const real*, int64_t, int, int);
void gather_stored(real*, StoredAs, const void*, const int*, int64_t, int);

const Kernels& table() {
  static const Kernels kernels = [] {
    Kernels k;
    k.name = "cpu/" NAME(POSLAB_ISA);
#define KERNEL(name, ...) k.name = poslab::POSLAB_ISA::name;
#include "core/kernels.def"
#undef KERNEL
    k.linear_stored = poslab::POSLAB_ISA::linear_stored, k.gather_stored = poslab::POSLAB_ISA::gather_stored;
    return k;
  }();
  return kernels;
}

}  // namespace poslab::POSLAB_ISA
