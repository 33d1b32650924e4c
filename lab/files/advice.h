// Better messages for unknown names (core/names.h) on the command line and in Python whose mistake is not in the
// letters: another list, several names, quotes, dashes.
#pragma once

namespace poslab {

void give_advice();   // from this call on, in all threads

}  // namespace poslab
