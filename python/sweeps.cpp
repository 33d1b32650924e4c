// A sweep's plan, and its results as rows. Its trials are processes of the program (python/poslab/program.py).
#include "lab/runs/spelled_file.h"
#include "lab/runs/sweep/sweep.h"
#include "python/long_call.h"

namespace poslab::python {
namespace {

using namespace sweep;

// The values of each option as texts, as configure() takes them; `seeds` is the number of seeds.
ValueLists lists_of(const Kind& kind, const ValueLists& said) {
  ValueLists all;
  for (const auto& [name, values] : said) {
    if (name == "seeds") {
      if (values.size() != 1 || said.contains("seed")) bad_input("give seeds (a number) or seed (a list), not both");
      all["seed"] = seeds(read_whole("seeds", values[0], {1, 1000000}, "1 .. 1000000"));
      continue;
    }
    std::vector<std::string>& list = all[kept_option(kind, name).name];
    for (const std::string& text : values) list.push_back(with_spelled_file(name, text));
  }
  return all;
}

std::string plan(const ValueLists& lists, const std::vector<ValueLists>& also, const std::string& command) {
  const Kind& kind = kind_of_command(command);
  std::vector<ValueLists> more;
  for (const ValueLists& one : also) more.push_back(lists_of(kind, one));
  const Plan plan = make_plan(lists_of(kind, lists), more, "sweep", kind);
  for (const std::string& line : unreached(plan))
    if (PyErr_WarnEx(PyExc_UserWarning, line.c_str(), 1)) throw nb::python_error();   // warnings are errors here
  return plan_lines(plan);
}

// Lines of JSON: one text for the trials, one for the lengths.
std::pair<std::string, std::string> tables(const std::string& folder) {
  const Collected all = long_call([&] {
    const PlacedPlan sweep = find_sweep(folder);
    return collect(sweep.plan, SweepFolder(sweep.folder));
  });
  return {to_json_lines(all.trials), to_json_lines(all.lengths)};
}

}  // namespace

void add_sweeps(nb::module_& m) {
  m.def("sweep_plan", plan, "lists"_a, "also"_a, "command"_a);
  m.def("sweep_tables", tables, "folder"_a);
}

}  // namespace poslab::python
