#include "core/kernels.h"

#include <cstdlib>
#include <utility>

#include "core/backend.h"
#include "core/debug.h"
#include "core/engine.h"
#include "core/error.h"
#include "core/names.h"
#include "core/platform/isa.h"
#include "core/platform/runs_here.h"
#include "core/profile.h"
#include "core/rounding.h"

namespace poslab {

#define ISA(isa) namespace isa { const Kernels& table(Engine); }
POSLAB_ISAS
#undef ISA
#ifdef POSLAB_AVX512_BF16
namespace avx512_bf16 {
Kernels with_products(const Kernels&);
}
#endif

namespace {

struct Choice { std::string isa; const Kernels& (*table)(Engine); };
std::vector<Choice> choices() {
  std::vector<Choice> all;
#define ISA(isa) if (runs_here(#isa)) all.push_back({#isa, isa::table});
  POSLAB_ISAS
#undef ISA
  return all;
}
Choice choose(const std::string& isa) {
  for (const Choice& c : choices())
    if (c.isa == isa) return c;
  raise<BadInput>(unknown("instruction set", isa, available_isas()) + " on this processor");
}
Choice& chosen() {
  static Choice c = [] {
    const char* name = std::getenv("POSLAB_ISA");
    if (choices().empty())
      raise<Failure>("this program was built for another processor; build it here, or with -DPOSLAB_KERNELS=all");
    return name ? choose(name) : choices().back();
  }();
  return c;
}

PairsBy pairs_by = PairsBy::fastest;
bool has_bf16() {
#ifdef POSLAB_AVX512_BF16
  static const bool here = runs_here("avx512_bf16");
  return here && chosen().isa == "avx512";
#else
  return false;
#endif
}
// An Intel Xeon (family 6, model 207) took longer for vdpbf16ps than for the two FMAs that emulate it (docs/speed.md).
bool by_vdpbf16ps() {
  return has_bf16() && pairs_by != PairsBy::emulated && (pairs_by == PairsBy::instruction || !is_intel());
}
const Kernels& table_of_cpu() {
  const Kernels& table = chosen().table(engine());
#ifdef POSLAB_AVX512_BF16
  if (cpu_rounding() == Rounding::bf16 && by_vdpbf16ps()) {
    static const Kernels pairs = avx512_bf16::with_products(table);
    return pairs;
  }
#endif
  return table;
}

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Choice& c : choices()) names.push_back(c.isa);
  return names;
}
std::string isa() { return chosen().isa; }
void use_isa(const std::string& name) { chosen() = choose(name); }
std::string bf16_products() {
  return by_vdpbf16ps() ? "by vdpbf16ps" : "emulated";
}
UsePairs::UsePairs(PairsBy by) : before_(std::exchange(pairs_by, by)) {}
UsePairs::~UsePairs() { pairs_by = before_; }

const Kernels& kernels(Device device) {
  const Kernels& plain = device == Device::cpu ? table_of_cpu() : backend(device).kernels();
  return debug_level() < 2 ? plain : timing_twins(plain, device);
}

}  // namespace poslab
