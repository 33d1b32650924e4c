#include "tests/places.h"

namespace poslab::test {

const char* const source_folder = POSLAB_SOURCE;
const char* const program = POSLAB_PROGRAM;

}  // namespace poslab::test
