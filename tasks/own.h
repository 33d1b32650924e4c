// Tasks that somebody else adds to the list while the program runs, as the Python module does.
#pragma once
#include "tasks/task.h"

namespace poslab {

// As add_encoding() in encodings/own.h. What task() gave of an earlier one of that name stays valid.
void add_task(Task);

}  // namespace poslab
