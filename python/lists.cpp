// The command line's lists of encodings, samplers, temperatures and tasks, with their names, options and descriptions.
#include "encodings/temperature.h"
#include "experiment/kind.h"
#include "python/convert.h"
#include "tasks/task.h"

namespace poslab::python {
namespace {

nb::dict of_option(const Option& o) {
  nb::dict d;
  d["name"] = o.name, d["takes"] = o.takes(), d["default"] = o.standard, d["help"] = o.help;
  return d;
}

template <class Thing>
nb::dict of_thing(const Thing& thing, const auto& words, const std::string& formula = "") {
  nb::list options;
  for (const Option& o : thing.options) options.append(of_option(o));
  nb::dict d;
  d["name"] = thing.name, d["summary"] = words.summary, d["about"] = words.about, d["source"] = words.source;
  d["formula"] = formula, d["options"] = options;
  d["spelled"] = Choices(thing.name, thing.options).spelled();   // with the default lengths
  return d;
}

}  // namespace

void add_lists(nb::module_& m) {
  m.def(
      "things",
      [](const std::string& kind) {
        nb::list all;
        if (kind == "encoding")
          for (const Scheme& s : all_encodings()) all.append(of_thing(s, s.pages, s.pages.formula));
        else if (kind == "sampler")
          for (const Sampler& s : all_samplers()) all.append(of_thing(s, s));
        else if (kind == "temperature")
          for (const auto& t : all_temperatures()) all.append(of_thing(t, t, t.formula));
        else if (kind == "task")
          for (const Task& t : all_tasks()) all.append(of_thing(t, t));
        else
          raise<BadInput>(unknown("list", kind, {"encoding", "sampler", "temperature", "task"}));
        return all;
      },
      "kind"_a, "The entries of a kind: encoding, sampler, temperature or task.");
  m.def("unknown", unknown, "kind"_a, "name"_a, "known"_a, "elsewhere"_a = "",
        "The message for a name that is in no list.");
  m.def(
      "run_options",
      [](const std::string& command) {
        nb::list all;
        for (const ChoiceOption& o : kind_of_command(command).table().options) {
          all.append(of_option(o.option));
          if (o.option.name == "out") all[nb::len(all) - 1]["takes"] = "PATH";
        }
        return all;
      },
      "command"_a, "The options of a run, in the order of the help of its command, such as `poslab train --help`.");
}

}  // namespace poslab::python
