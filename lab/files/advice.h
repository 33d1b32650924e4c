// Better messages for unknown names (core/names.h), on the command line and in Python. They explain a name from another
// list, several names at once, and a name with quotes or dashes; core/names.h handles typing errors.
#pragma once

namespace poslab {

void give_advice();   // from this call on, in all threads

}  // namespace poslab
