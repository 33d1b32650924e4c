#include "tests/support/places.h"

namespace poslab::test {

const char* const source_folder = POSLAB_SOURCE;
const char* const program = POSLAB_PROGRAM;
const char* const compiler = POSLAB_COMPILER;

}  // namespace poslab::test
