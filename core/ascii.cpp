#include "core/ascii.h"

#include <clocale>
#include <cstdlib>

#ifdef __APPLE__
#include <xlocale.h>
#endif

namespace poslab::ascii {

#ifdef __wasm__
double number(const char* text, char** end) { return std::strtod(text, end); }   // this build has only the C locale
#else
double number(const char* text, char** end) {
  static const locale_t c = ::newlocale(LC_ALL_MASK, "C", locale_t(0));
  return ::strtod_l(text, end, c);
}
#endif

}  // namespace poslab::ascii
