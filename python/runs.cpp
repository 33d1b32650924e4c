// Runs: training, going on and testing, as the command line does them (lab/whole_run.h), and so with the same bits.
#include "lab/progress.h"
#include "lab/spelled_file.h"
#include "lab/whole_run.h"
#include "python/long_call.h"

namespace poslab::python {
namespace {

// Option names and texts, as after --set.
using Said = std::vector<std::pair<std::string, std::string>>;

Settings settings_of(const Said& said) {
  Settings all;
  for (const auto& [name, text] : said) all.emplace_back(option(name).name, with_spelled_file(name, text));
  return all;
}

// Shows how far it is on stderr, if wanted.
template <class Work>
std::string shown(bool progress, const Work& work) {
  return long_call([&] {
    Progress::shown = progress;
    return work();
  });
}

// Work on the run in a folder, with the options that the command has, under the command's name.
void add_work_on_run(nb::module_& m, const char* name, std::string work(const std::string& path, const Settings&)) {
  m.def(
      name,
      [work](const std::string& path, const Said& said, bool progress) {
        const Settings settings = settings_of(said);
        return shown(progress, [&] { return work(path, settings); });
      },
      "path"_a, "options"_a, "progress"_a);
}

}  // namespace

void add_runs(nb::module_& m) {
  m.def(
      "train_run",
      [](const Said& said, bool force, bool progress) {
        const Settings settings = settings_of(said);
        return shown(progress, [&] { return train_run(settings, force); });
      },
      "options"_a, "force"_a, "progress"_a);
  add_work_on_run(m, "resume_run", resume_run);
  add_work_on_run(m, "test_run", test_run);
}

}  // namespace poslab::python
