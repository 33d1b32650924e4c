// The numerics number: a checksum of the bits of a few small training runs. Two results of one instruction set can be
// compared digit by digit only if their programs have the same number. The committed ones are in
// experiment/numerics.def; a test compares the program with them, so that they change only on purpose. Bits depend on
// the instruction set, the compiler and the C library's functions, not on the number of threads.
#pragma once
#include <string>

namespace poslab {

// Trains encoders of several encodings and samplers, one of them tested, a decoder and a T5, a few steps each, with the
// instruction set in use and poslab's own products. 8 hexadecimal digits, in less than a second.
std::string measured_numerics();
// The committed number of an instruction set, for the compiler of this build; "" if there is none, as for double
// precision.
std::string numerics(const std::string& isa);
std::string numerics_compiler();  // "gcc 12, x86-64", as in the list

}  // namespace poslab
