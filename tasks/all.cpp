// The only list of tasks, in the order of table 1 of Ruoss et al. 2023. A new task is its file, its name in tasks/all.h
// and its place here.
#include "tasks/all.h"

#include "core/error.h"
#include "core/names.h"

namespace poslab {

const std::vector<const Task*>& all_tasks() {
  static const NewTask made[] = {
      even_pairs(), modular_arithmetic(), parity_check(), cycle_navigation(),
      stack_manipulation(), reverse_string(), modular_arithmetic_brackets(), solve_equation(),
      duplicate_string(), missing_duplicate_string(), odds_first(),
      binary_addition(), binary_multiplication(), compute_sqrt(), bucket_sort(),
  };
  static const std::vector<const Task*> tasks = [] {
    std::vector<const Task*> list;
    for (const NewTask& task : made) list.push_back(task.get());
    return list;
  }();
  return tasks;
}

const Task& task(const std::string& name) {
  std::vector<std::string> known;
  for (const Task* task : all_tasks()) {
    if (task->name() == name) return *task;
    known.push_back(task->name());
  }
  bad_input("{}", unknown("task", name, known));
}

}  // namespace poslab
