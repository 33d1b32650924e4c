#include "lab/papers/by_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/stop.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/papers/reproduce.h"
#include "lab/runs/config_toml.h"

namespace poslab::reproduce {
namespace fs = std::filesystem;

namespace {

std::string standing(const std::vector<Chain>& all) {
  size_t runs = 0, tests = 0, tests_done = 0;
  for (const Chain& c : all)
    for (const Step& s : c.steps) {
      const bool training = &s == &c.steps.front();
      runs += training && is_done(s), tests += !training, tests_done += !training && is_done(s);
    }
  if (all.empty()) return "";
  return fmt::format("{} of {} runs are trained{}.", runs, all.size(),
                     tests ? fmt::format(", and {} of {} further tests done", tests_done, tests) : "");
}

}  // namespace

Sets read_sets(const std::vector<std::string>& texts, std::vector<std::string> chosen, const std::string& prefix) {
  for (const char* name : {"preset", "encoding", "positions", "temperature", "seed", "out", "threads"})
    chosen.push_back(name);
  Sets sets;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == text.npos) bad_input("--set {} is not KEY=VALUE; write it as in --set steps=2000", text);
    const std::string key = text.substr(0, equals), value = text.substr(equals + 1);
    const bool prefixed = !prefix.empty() && key.starts_with(prefix);
    const std::string option = prefixed ? key.substr(prefix.size()) : key;
    if (std::find(chosen.begin(), chosen.end(), option) != chosen.end())
      bad_input(
          "--set {}: each table says for itself which; choose among them with --size, and how many seeds with "
          "--set seeds=N",
          text);
    if (key == "seeds")
      sets.seeds = int(read_whole("seeds", value, {1, 1000}, "1 .. 1000"));
    else
      (prefixed ? sets.prefixed : sets.options).emplace_back(option, value);
  }
  return sets;
}

Settings joined(Settings first, const Settings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Step training(const Kind& kind, const Settings& settings, const std::string& run, int threads, double work) {
  const std::string path = run + "/config.toml";
  if (fs::exists(path)) {
    const Choices then = kind.configure(read_toml(read_file(path), path, kind)),
                    now = kind.configure(of_new_run(settings));
    for (const Option& o : kept_options(kind))
      if (const std::string a = then[o.name], b = now[o.name]; a != b)
        bad_input("{} was begun with {} = {}, and now it would be {}; choose another --out", run, o.name, a, b);
  }
  return {"training",
          [=] {
            const bool begun = fs::exists(run);
            std::vector<std::string> words = split(begun ? kind.command("resume") : kind.command("train"), ' ');
            words.push_back(begun ? run : "--out=" + run);
            words.push_back(fmt::format("--threads={}", threads));
            if (!begun)
              for (const auto& [name, value] : settings) words.push_back(dashed(name) + "=" + value);
            return words;
          },
          run + "/" + kind.last_file, work};
}

std::string write(const std::vector<const Artifact*>& artifacts, const ByCommands& source, const std::string& size,
                  const std::string& folder, const std::string& command) {
  const SweepFolder runs(folder + "/runs");
  const Claim alone = one_at_a_time(runs);
  Page page(folder);
  for (const Artifact* a : artifacts) {
    Section section;
    try {
      section = source.draw(*a);
    } catch (const Stopped&) {
      throw Interrupted(caught_signal(), "stopped while drawing; --draw draws again");
    } catch (const Interrupted&) { throw; } catch (const std::exception& e) {
      section.notes = {fmt::format("This could not be drawn: {}", e.what())};
    }
    if (const std::string done = standing(source.chains({a})); !done.empty())
      section.notes.push_back(source.how() + " " + done);
    page.add(*a, section);
  }
  const std::string summary = standing(source.chains(artifacts));
  page.write(size, summary, command);
  return summary;
}

}  // namespace poslab::reproduce
