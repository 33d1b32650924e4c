#include "core/kernels.h"

#include <cstdlib>

#include "core/backend.h"
#include "core/debug.h"
#include "core/engine.h"
#include "core/error.h"
#include "core/isa.h"
#include "core/names.h"
#include "core/profile.h"
#include "core/runs_here.h"

namespace poslab {

#define ISA(isa) namespace isa { const Kernels& table(Engine); }
POSLAB_ISAS
#undef ISA

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

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Choice& c : choices()) names.push_back(c.isa);
  return names;
}
std::string isa() { return chosen().isa; }
void use_isa(const std::string& name) { chosen() = choose(name); }

const Kernels& kernels(Device device) {
  const Kernels& plain = device == Device::cpu ? chosen().table(engine()) : backend(device).kernels();
  return debug_level() < 2 ? plain : timed(plain, device);
}

}  // namespace poslab
