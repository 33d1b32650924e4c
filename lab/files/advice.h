// Better messages for names that are in no list of their kind (core/names.h), where a user of the command line or of
// Python has mistaken something else than letters: the list, the number of names, quotes, dashes.
#pragma once

namespace poslab {

void give_advice();   // from now on, in all threads

}  // namespace poslab
