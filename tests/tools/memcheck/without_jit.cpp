// Linked into poslab_memcheck in place of PCRE2's function. The machine code that PCRE2 makes from a pattern reads a
// text 16 bytes at a time, even past its end, and ignores those bytes in comparisons; valgrind rightly reports that.
// Without machine code, PCRE2 interprets the pattern (lab/hub/regex.cpp).
#include <cstdint>

extern "C" int pcre2_jit_compile_8(void*, uint32_t) { return -45; }  // PCRE2_ERROR_JIT_BADOPTION
