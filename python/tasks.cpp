// Tasks: batches for a model, answers, and baselines.
#include "python/convert.h"
#include "tasks/baselines.h"
#include "tasks/batch.h"

namespace poslab::python {
namespace {

void limit(const std::string& spelled, int strings, int length) {
  if (strings < 1 || length < 1 || int64_t(strings) * length > 1 << 28)
    bad_input("{}: {} strings of length {}; give at least one of each, and at most 2^28 symbols", spelled, strings,
              length);
}

nb::dict batch(const std::string& spelled, int sequences, int length, uint64_t seed, uint64_t step) {
  limit(spelled, sequences, length);
  const Batch b = make_batch(task(spelled), sequences, length, stream(seed, Purpose::tokens, step));
  nb::dict d;
  d["tokens"] = array_of(b.tokens), d["targets"] = array_of(b.targets), d["scored_slots"] = array_of(b.scored_slots);
  return d;
}

std::vector<std::pair<std::string, double>> baselines_by_name(const std::string& spelled, int length, int samples,
                                                              uint64_t seed) {
  limit(spelled, samples, length);
  const Baselines b = baselines(task(spelled), length, samples, seed);
  return {{"chance", b.chance}, {"majority", b.majority}, {"content_only", b.content_only}};
}

}  // namespace

void add_tasks(nb::module_& m) {
  m.def("task_batch", batch, "task"_a, "sequences"_a, "length"_a, "seed"_a, "step"_a);
  m.def(
      "task_answer",
      [](const std::string& spelled, const std::string& text) {
        const Task& t = task(spelled);
        return written_answer(t.answer(read_input(t, text)));
      },
      "task"_a, "text"_a);
  m.def(
      "task_example",
      [](const std::string& spelled, int length) {
        const Task& t = task(spelled);
        if (length < 1 || length > 1 << 20) bad_input("{}: a string of length {}; give at least 1", spelled, length);
        const TaskExample e = example(t, length);
        return std::pair(written_input(t, e.input), written_answer(e.answer));
      },
      "task"_a, "length"_a);
  m.def("task_baselines", baselines_by_name, "task"_a, "length"_a, "samples"_a, "seed"_a);
}

}  // namespace poslab::python
