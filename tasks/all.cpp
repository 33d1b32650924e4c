// The only list of tasks, in the order of table 1 of Ruoss et al. 2023. A new task is its file, its name in tasks/all.h
// and its place here.
#include "tasks/all.h"

#include <map>

#include "core/add_own.h"
#include "core/parallel.h"
#include "tasks/own.h"

namespace poslab {
namespace {

// Of a task with options: `make` of what is chosen; name and summary are those of the defaults.
TaskEntry entry(std::vector<Option> options, std::function<NewTask(const Choices&)> make) {
  const NewTask plain = make(Choices("task", options));
  return {plain->name(), plain->level(), plain->summary(), plain->about(), "Ruoss et al. 2023", std::move(options),
          std::move(make)};
}
TaskEntry entry(NewTask (*make)()) {
  return entry({}, [make](const Choices&) { return make(); });
}

std::vector<TaskEntry>& list_of_tasks() {
  static std::vector<TaskEntry> list = {
      entry(even_pairs), entry(modular_arithmetic), entry(parity_check), entry(cycle_navigation),
      entry(stack_manipulation), entry(reverse_string), entry(modular_arithmetic_brackets), entry(solve_equation),
      entry({{"copies", 2, {1, 64}, "how often the input is said"}},
            [](const Choices& c) { return duplicate_string(c.whole("copies")); }),
      entry(missing_duplicate_string), entry({}, [](const Choices&) { return odds_first(); }),
      entry(binary_addition), entry(binary_multiplication), entry(compute_sqrt), entry(bucket_sort),
  };
  return list;
}

struct Made {
  Mutex mutex;
  std::map<std::string, std::unique_ptr<const Task>> tasks;    // by their spelling
  std::vector<std::unique_ptr<const Task>> replaced;           // somebody may still read them
};
Made& made() {
  static Made all;
  return all;
}

}  // namespace

const std::vector<TaskEntry>& all_tasks() { return list_of_tasks(); }

// It is made without the lock: one that is written in Python may have to wait there for whoever waits here.
const Task& task(const std::string& spelled) {
  Made& all = made();
  {
    const std::lock_guard lock(all.mutex);
    if (const auto known = all.tasks.find(spelled); known != all.tasks.end()) return *known->second;
  }
  const Chosen<TaskEntry> chosen = choose("task", all_tasks(), spelled);
  std::unique_ptr<const Task> fresh = chosen->make(chosen.choices);
  const std::lock_guard lock(all.mutex);
  return *all.tasks.try_emplace(spelled, std::move(fresh)).first->second;
}

void add_task(TaskEntry entry) {
  static const size_t ours = all_tasks().size();
  const std::string name = entry.name;
  add_own(list_of_tasks(), ours, "a task", std::move(entry));
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
