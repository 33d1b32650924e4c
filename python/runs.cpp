// Runs: training, resuming and testing, with the functions of the command line (lab/runs/whole_run.h), and thus the
// same bits.
#include "lab/files/progress.h"
#include "lab/runs/other_test.h"
#include "lab/runs/own_files.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/values.h"
#include "lab/runs/whole_run.h"
#include "python/long_call.h"
#include "python/trace.h"

namespace poslab::python {
namespace {

// Option names and texts, as after --set.
using Said = std::vector<std::pair<std::string, std::string>>;

Settings settings_of(const Said& said) {
  Settings all;
  for (const auto& [name, text] : said) all.emplace_back(name, with_spelled_file(name, text));
  return all;
}

// Shows the progress on stderr, if wanted.
template <class Work>
std::string shown(bool progress, const Work& work) {
  return long_call([&] {
    reserve_standard_files();
    Progress::shown = progress;
    return work();
  });
}

// Trains with work(trace), and returns the tensors that the trace captured in the last step, on the CPU: they are
// copied before another run may begin on the GPU.
template <class Work>
nb::dict traced(const TraceLike& said, bool progress, const Work& work) {
  Asked asked(said);
  int steps = 0;  // steps begun; each may compute logits once
  asked.trace.replace("logits", [&](const std::string&, const Tensor& x) {
    if (++steps == 2) asked.check_matched();
    return x;
  });
  shown(progress, [&] {
    std::string text = work(said.empty() ? nullptr : &asked.trace);
    if (steps == 1) asked.check_matched();
    asked.to_cpu();
    return text;
  });
  return asked.captured();
}

}  // namespace

void add_runs(nb::module_& m) {
  m.def(
      "train_run",
      [](const std::string& command, const Said& said, bool force, bool progress, const TraceLike& trace) {
        const Kind& kind = kind_of_command(command);
        const Settings settings = settings_of(said);
        return traced(trace, progress, [&](Trace* t) { return train_run(kind, {}, {settings}, force, t); });
      },
      "command"_a, "options"_a, "force"_a, "progress"_a, "trace"_a);
  m.def(
      "resume_run",
      [](const std::string& path, const Said& said, bool force, bool progress, const TraceLike& trace) {
        const Settings settings = settings_of(said);
        return traced(trace, progress, [&](Trace* t) { return resume_run(path, settings, force, t); });
      },
      "path"_a, "options"_a, "force"_a, "progress"_a, "trace"_a);
  m.def(
      "test_run",
      [](const std::string& path, const Said& said, const std::string& name, bool force, bool progress) {
        const Settings settings = settings_of(said);
        return shown(progress, [&] { return test_run(path, settings, {.name = name}, force).name; });
      },
      "path"_a, "options"_a, "name"_a, "force"_a, "progress"_a);
  m.def("other_tests", &other_tests, "path"_a);
  m.def("tested_options", [](const std::string& path) { return kind_of_folder(path).tested; }, "path"_a);
  m.def("check_test", [](const std::string& path, const std::string& name) { read_test(path, name); }, "path"_a,
        "name"_a);
  m.def("check_own_files",
        [](const std::string& path) { check_own_files(path, read_record(path + "/result.json")); }, "path"_a);
}

}  // namespace poslab::python
