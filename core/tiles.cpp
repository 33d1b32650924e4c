#include "core/tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#if defined __x86_64__ && defined __linux__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace poslab {

double apart(const Tiles& now, const Tiles& known) {
  const int m = std::min(now.rows, 21), n = std::min(now.columns, 19), steps = 3 * now.pairs;
  const int m_all = now.rows, n_all = now.columns;
  // Numbers from 1 to 2 of either sign, with 7 bits after the point: what a wrong place or a wrong sign changes.
  uint32_t state = 1;
  const auto half = [&] {
    state = state * 1664525u + 1013904223u;
    return 0x3F80u | (state >> 25) | (state >> 9 & 0x8000u);
  };
  const auto pairs_of = [&](size_t count) {
    std::vector<float> x(count);
    for (float& pair : x) {
      const uint32_t low = half(), high = half();
      pair = __builtin_bit_cast(float, low | high << 16);
    }
    return x;
  };
  const std::vector<float> a = pairs_of(size_t(m_all * steps)), b = pairs_of(size_t(steps * n_all));
  std::vector<float> sums(size_t(m_all * n_all)), expected(sums);
  const auto run = [&](const Tiles& by, std::vector<float>& to) {
    by.use(true);
    by.block(m, n, steps, a.data(), steps, b.data(), n_all, to.data());
    by.use(false);
  };
  run(now, sums), run(known, expected);
  double most = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const double off = std::abs(double(sums[size_t(i * n_all + j)]) - double(expected[size_t(i * n_all + j)]));
      most = std::max(most, off <= 1e30 ? off : 1e30);  // and if it is NaN
    }
  return most / (2 * steps);
}

const Tiles* checked(const Tiles& now, const Tiles& known) {
  const double off = apart(now, known);
  if (off <= 1e-6) return &now;
  std::fputs(fmt::format("poslab: this processor's {} is off by {:.1e} in a product whose answer is known; products in "
                         "bf16 are made without it\n",
                         now.name, off)
                 .c_str(),
             stderr);
  return nullptr;
}

#if defined __x86_64__ && defined __linux__
extern const Tiles real_amx;

namespace {
// The processor has AMX, the system keeps its registers (bits 17 and 18 of XCR0), and lets this process use them: Linux
// wants to be asked, as they are large.
bool allowed() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return false;  // OSXSAVE
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 22 & 1) || !(d >> 24 & 1)) return false;
  asm volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  constexpr long ask = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM
  return (a >> 17 & 3) == 3 && syscall(SYS_arch_prctl, ask, tile_data) == 0;
}
}  // namespace

const Tiles* amx() {
  static const Tiles* const found = allowed() ? checked(real_amx, emulated_amx) : nullptr;
  return found;
}
#else
const Tiles* amx() { return nullptr; }
#endif

}  // namespace poslab
