// Better messages for unknown names (core/names.h), on the command line and in Python, that are not misspelled: names
// of another list, several names at once, names with quotes or dashes.
#pragma once

namespace poslab {

void give_advice();   // from this call on, in all threads

}  // namespace poslab
