// The tasks: a function for each, in the file of that name. Only tasks/all.cpp calls them; others call task(name).
#pragma once
#include "tasks/task.h"

namespace poslab {

Task even_pairs(), modular_arithmetic(), parity_check(), cycle_navigation();
Task stack_manipulation(), reverse_string(), modular_arithmetic_brackets(), solve_equation();
Task duplicate_string(), missing_duplicate_string(), odds_first(), binary_addition(), binary_multiplication(),
    compute_sqrt(), bucket_sort();

}  // namespace poslab
