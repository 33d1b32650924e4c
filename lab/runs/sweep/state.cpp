#include "lab/runs/sweep/state.h"

#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/printable.h"
#include "lab/files/shell.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/origin.h"
#include "lab/runs/other_test.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/text_source.h"

namespace poslab::sweep {
namespace fs = std::filesystem;

const char* name_of(TrialState s) { return state_names[size_t(s)]; }

bool SweepFolder::trained(const Trial& t) const { return missing_of_test(run(t), poslab::kind_of(t.run)).empty(); }

std::vector<const TrialTest*> SweepFolder::untested(const Trial& t) const {
  std::vector<const TrialTest*> left;
  for (const TrialTest& test : t.tests)
    if (!test.words.empty() && !fs::exists(run(t) + "/" + test.file)) left.push_back(&test);
  return left;
}

namespace {

// The configuration in a trial's folder; a restored trial has it only in result.json. Absent before training begins.
std::optional<Choices> config_in(const std::string& run, const std::string& result, const Kind& kind) {
  if (const std::string path = run + "/config.toml"; fs::exists(path))
    return kind.configure(read_toml(read_file(path), path, kind));
  if (!fs::exists(result)) return {};
  const nlohmann::ordered_json config = read_record(result).config;
  return config.empty() ? std::nullopt : std::optional(config_of(kind, config));
}

}  // namespace

std::string SweepFolder::misfit(const Trial& t) const {
  const std::string remedy =
      fmt::format("put the folder of trial {} there, or remove this one and run the sweep again", t.id);
  try {
    std::optional<Choices> found = config_in(run(t), result(t), poslab::kind_of(t.run));
    if (!found) return "";
    found->set("device", t.run["device"]);  // a run may move
    if (trial_id(*found) == t.id) return "";
    for (const Option& o : kept_options(poslab::kind_of(t.run)))
      if ((*found)[o.name] != t.run[o.name])
        return fmt::format("{} belongs to another trial, {}: {} = {}, but this one has {}; {}", run(t),
                           trial_id(*found), o.name, (*found)[o.name], t.run[o.name], remedy);
    return "";
  } catch (const BadInput& e) {
    return fmt::format("{}; {}", e.what(), remedy);
  } catch (const Failure&) { return ""; }  // a damaged record is reported where it is read
}

std::string SweepFolder::input_read(const Trial& t, const Input& of) const {
  if (!t.run.has(of.option) || !trained(t)) return "";
  try {
    if (fs::exists(run(t) + "/" + of.file)) return of.then(run(t));
    return fs::exists(result(t)) ? read_record(result(t)).files[of.key] : "";
  } catch (const Failure&) { return ""; }  // a damaged record is reported where it is read
}

const std::array<Input, 2>& all_inputs() {
  static const std::array<Input, 2> all = {
      {{"text", "text", "text.json", [](const std::string& folder) { return poslab::text_of(folder).checksum(); },
        [](const Trial& t) { return t.run["text"] == "copy_grammar" ? "" : checksum_of_text(t.run["text"]); }},
       {"from", "origin", "origin.json", origin_of,
        [](const Trial& t) {
          const std::string path = t.run["from"];
          return path.empty() ? "" : open_origin(poslab::kind_of(t.run), path).checksum;
        }}}};
  return all;
}

std::string SweepFolder::other_input(const Plan& plan, const Trial& t) const {
  for (const Input& of : all_inputs())
    for (const Trial& done : plan) {
      if (!t.run.has(of.option) || !done.run.has(of.option) || done.run[of.option] != t.run[of.option]) continue;
      const std::string then = input_read(done, of);
      if (then.empty()) continue;
      try {
        // A run that has begun continues from its own folder, even if its origin is gone.
        const bool begun = of.option == std::string("from") && fs::exists(run(t) + "/" + of.file);
        const std::string now = begun ? of.then(run(t)) : of.now(t);
        if (now.empty() || now == then) break;
        return fmt::format("the {} {} differs from the one that trial {} has read: its checksum is {}, and was {}; "
                           "restore it and run the sweep again with --retry, or choose another --out",
                           of.key, t.run[of.option], done.id, now, then);
      } catch (const BadInput&) { break;  // the training names an input that cannot be read, or is damaged
      } catch (const Failure&) { break; }
    }
  return "";
}

void check_inputs(const Plan& plan, const SweepFolder& folder) {
  for (const Input& of : all_inputs()) {
    // by path: the checksum, and the first trial with it
    std::map<std::string, std::pair<std::string, std::string>> read;
    for (const Trial& t : plan) {
      const std::string is = folder.input_read(t, of);
      if (is.empty()) continue;
      const auto& [first, id] = read.emplace(t.run[of.option], std::pair(is, t.id)).first->second;
      if (first != is)
        bad_input("the trials {} and {} of {} have read different {}s at the path {}, with checksums {} and {}; remove "
                  "the folders of those that read the wrong one, and run the sweep again",
                  id, t.id, folder.path(), of.key, t.run[of.option], first, is);
    }
  }
}

std::string SweepFolder::damage(const Trial& t) const {
  if (steps_left(t) || !misfit(t).empty()) return "";
  try {
    poslab::read_test(run(t), t.run);
  } catch (const std::exception& e) { return e.what(); }
  return "";
}

bool SweepFolder::settled(const Trial& t) const {
  return fs::exists(failed(t)) || !misfit(t).empty() || steps_left(t) == 0;
}

void SweepFolder::must_fit(const Trial& t) const {
  if (const std::string why = misfit(t); !why.empty()) bad_input("{}", why);
}

// The claim is read first: a worker leaves a trial's result or failure before it releases the claim, so a free trial
// with neither was unfinished at that moment. A held claim is considered last, because a population holds the claims of
// its finished trials until all have ended.
TrialState SweepFolder::state(const Trial& t, const Claims& claims) const {
  if (!t.impossible.empty()) return TrialState::impossible;
  const bool held = claims.held(t.id);
  if (!misfit(t).empty()) return TrialState::failed;
  if (steps_left(t) == 0) return TrialState::done;
  if (fs::exists(failed(t))) return TrialState::failed;
  if (held) return TrialState::running;
  return fs::exists(run(t)) ? TrialState::stopped : TrialState::todo;
}

std::string SweepFolder::reason(const Trial& t, TrialState s) const {
  if (s == TrialState::impossible) return t.impossible;
  if (s != TrialState::failed) return "";
  if (const std::string why = misfit(t); !why.empty()) return why;
  try {
    const std::string text = read_file(failed(t));
    return text.substr(0, text.find('\n'));
  } catch (const Failure&) { return "it is being tried again now"; }
}

Results read_test(const Trial& t, const TrialTest& test, const std::string& run) {
  const std::pair<std::string, const char*> of_rows[] = {{"--tasks=", "tasks"}, {"--times=", "eval_times"}};
  const std::string path = run + "/" + test.file;
  Results rows = read_results(path, poslab::kind_of(t.run));
  Choices tested = t.run;
  for (const std::string& word : test.words)
    for (const auto& [begin, option] : of_rows)
      if (word.starts_with(begin)) tested.set(option, word.substr(begin.size()));
  check_rows(rows, tested, path);
  return rows;
}

Counts count(const std::vector<TrialState>& all) {
  Counts counts;
  for (TrialState s : all) ++counts[s];
  return counts;
}

std::string to_string(const Counts& counts) {
  std::string text;
  for (size_t s = 0; s < state_names.size(); ++s)
    if (counts.of[s]) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts.of[s], state_names[s]);
  return text;
}

std::vector<TrialState> states(const Plan& plan, const SweepFolder& folder) {
  const Claims claims(folder.path());
  std::vector<TrialState> all;
  for (const Trial& t : plan) all.push_back(folder.state(t, claims));
  return all;
}

std::map<size_t, std::string> damaged(const Plan& plan, const SweepFolder& folder) {
  std::map<size_t, std::string> all;
  for (size_t i = 0; i < plan.size(); ++i)
    if (const std::string why = folder.damage(plan[i]); !why.empty()) all[i] = why;
  return all;
}

std::string note_of_damage(const Plan& plan, const SweepFolder& folder) {
  const std::map<size_t, std::string> all = damaged(plan, folder);
  if (all.empty()) return "";
  const bool one = all.size() == 1;
  return fmt::format("{} {} damaged and counted as failed, the first {}: {}; run the sweep with --retry to test {} "
                     "again\n",
                     counted(all.size(), "trial"), one ? "is" : "are", plan[all.begin()->first].id,
                     printable(all.begin()->second), one ? "it" : "them");
}

std::string status(const Plan& plan, const SweepFolder& folder) {
  std::vector<TrialState> all = states(plan, folder);
  const std::map<size_t, std::string> lost = damaged(plan, folder);
  for (const auto& [i, why] : lost) all[i] = TrialState::failed;
  const Counts counts = count(all);
  std::string text = fmt::format("{}: {}\n", counted(plan.size(), "trial"), to_string(counts));
  for (size_t s = 0; s < state_names.size(); ++s)
    text += fmt::format("  {:<10}  {:>6}\n", state_names[s], counts.of[s]);
  if (!fs::is_directory(folder.path()))
    text += fmt::format("\nThere is no folder {} yet; `poslab sweep run` makes it.\n", printable(folder.path()));
  const Naming names = naming(plan);
  for (const TrialState s : {TrialState::failed, TrialState::impossible})
    for (size_t i = 0; i < plan.size(); ++i)
      if (all[i] == s)
        text += fmt::format("\n{}  {}  {}\n    {}\n", name_of(s), plan[i].id,
                            printable(names.name(values_of(plan[i].run))),
                            printable(lost.count(i) ? lost.at(i) : folder.reason(plan[i], s)));
  return text;
}

}  // namespace poslab::sweep
