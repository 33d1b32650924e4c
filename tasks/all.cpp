// The only list of tasks: the fifteen of table 1 of Ruoss et al. 2023, in its order. A new task needs its file, its
// name in tasks/all.h, and a place after these.
#include "tasks/all.h"

#include <map>
#include <memory>

#include "core/add_own.h"
#include "core/platform/parallel.h"
#include "tasks/own.h"

namespace poslab {
namespace {

std::vector<Task>& list_of_tasks() {
  static std::vector<Task> list = {
      even_pairs(), modular_arithmetic(), parity_check(), cycle_navigation(),

      stack_manipulation(), reverse_string(), modular_arithmetic_brackets(), solve_equation(),

      duplicate_string(), missing_duplicate_string(), odds_first(), binary_addition(), binary_multiplication(),
      compute_sqrt(), bucket_sort()};
  return list;
}

struct Made {
  Mutex mutex;
  std::map<std::string, std::unique_ptr<const Task>> tasks;    // by spelling
  std::vector<std::unique_ptr<const Task>> replaced;           // callers may still hold references
};
Made& made() {
  static Made all;
  return all;
}

}  // namespace

const std::vector<Task>& all_tasks() { return list_of_tasks(); }

// A task is made without this lock: a task in Python may wait for Python's lock, whose owner may wait for this one.
const Task& task(const std::string& spelled) {
  Made& all = made();
  {
    const std::lock_guard lock(all.mutex);
    if (const auto known = all.tasks.find(spelled); known != all.tasks.end()) return *known->second;
  }
  const Chosen<Task> chosen = choose("task", all_tasks(), spelled);
  auto fresh = std::make_unique<const Task>(completed(chosen->with ? chosen->with(chosen.thing, chosen.choices)
                                                                   : chosen.thing));
  const std::lock_guard lock(all.mutex);
  return *all.tasks.try_emplace(spelled, std::move(fresh)).first->second;
}

void add_task(Task task) {
  static const size_t ours = all_tasks().size();
  const std::string name = task.name;
  add_own(list_of_tasks(), ours, "a task", std::move(task));
  Made& all = made();
  const std::lock_guard lock(all.mutex);
  for (auto at = all.tasks.begin(); at != all.tasks.end();)
    if (read_spelling(at->first).name == name) {
      all.replaced.push_back(std::move(at->second));
      at = all.tasks.erase(at);
    } else {
      ++at;
    }
}

}  // namespace poslab
