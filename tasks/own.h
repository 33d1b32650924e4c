// Tasks that are added to the list while the program runs, as the Python module does.
#pragma once
#include "tasks/task.h"

namespace poslab {

// Like add_encoding() in encodings/own.h. References that task() returned to a replaced task stay valid.
void add_task(Task);

}  // namespace poslab
