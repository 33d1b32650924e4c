// The only list of tasks, in the order of table 1 of Ruoss et al. 2023. A new task is its file, its name in tasks/all.h
// and its place here.
#include "tasks/all.h"

#include <map>

#include "core/parallel.h"

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

}  // namespace

const std::vector<TaskEntry>& all_tasks() {
  static const std::vector<TaskEntry> list = {
      entry(even_pairs), entry(modular_arithmetic), entry(parity_check), entry(cycle_navigation),
      entry(stack_manipulation), entry(reverse_string), entry(modular_arithmetic_brackets), entry(solve_equation),
      entry({{"copies", 2, {1, 64}, "how often the input is said"}},
            [](const Choices& c) { return duplicate_string(c.whole("copies")); }),
      entry(missing_duplicate_string), entry({}, [](const Choices&) { return odds_first(); }),
      entry(binary_addition), entry(binary_multiplication), entry(compute_sqrt), entry(bucket_sort),
  };
  return list;
}

const Task& task(const std::string& spelled) {
  static Mutex mutex;
  static std::map<std::string, std::unique_ptr<const Task>> made;
  const std::lock_guard lock(mutex);
  auto known = made.find(spelled);
  if (known == made.end()) {
    const Chosen<TaskEntry> chosen = choose("task", all_tasks(), spelled);
    known = made.emplace(spelled, chosen->make(chosen.choices)).first;
  }
  return *known->second;
}

}  // namespace poslab
