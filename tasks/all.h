// How each task is made: one function a task, defined in the file of its name. Only tasks/all.cpp and the tests need
// this; all other code calls task(name).
#pragma once
#include <memory>

#include "tasks/task.h"

namespace poslab {

using NewTask = std::unique_ptr<const Task>;

NewTask even_pairs(), modular_arithmetic(), parity_check(), cycle_navigation();
NewTask stack_manipulation(), reverse_string(), modular_arithmetic_brackets(), solve_equation();
NewTask missing_duplicate_string(), binary_addition(), binary_multiplication(), compute_sqrt(), bucket_sort();
NewTask duplicate_string(int copies = 2);   // says the input that many times; BadInput below 1

// The name and the documentation say slots 1 3 5 ... first, the released code puts 2 4 6 ... first, and the published
// numbers are the code's (spec B.2).
enum class First { slots_2_4_6, slots_1_3_5 };
NewTask odds_first(First = First::slots_2_4_6);

}  // namespace poslab
