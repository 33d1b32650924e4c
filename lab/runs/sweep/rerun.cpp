#include "lab/runs/sweep/rerun.h"

#include <algorithm>

#include "core/choices.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/shell.h"
#include "lab/runs/text_source.h"
#include "lab/runs/sweep/run.h"

namespace poslab::sweep {
namespace {

std::string said_of(const Kept& kept, const char* field) {
  const Json result = try_json(kept.result);
  const auto found = result.is_object() ? result.find(field) : result.end();
  return found == result.end() || !found->is_string() ? "not said" : found->get<std::string>();
}

// The only trial whose id has this beginning.
Plan one_of(const Plan& plan, const std::string& id, const std::string& path) {
  Plan one;
  for (const Trial& t : plan)
    if (!id.empty() && t.id.starts_with(id)) one.push_back(t);
  if (one.size() != 1)
    bad_input("{} of {} {} an id that begins with \"{}\"; {}, as {}", one.empty() ? "no trial" :
              counted(one.size(), "trial"), path, one.empty() ? "has" : "have", id,
              one.empty() ? "write one of its ids, or the beginning of one" : "write more of it",
              (one.empty() ? plan : one)[0].id);
  return one;
}

}  // namespace

Repeated held_to(const Kept& before, const Kept& now) {
  const std::vector<std::string> old = split(before.tested, '\n'), fresh = split(now.tested, '\n');
  size_t differ = 0;
  std::string first;
  for (size_t i = 0; i < std::max(old.size(), fresh.size()); ++i) {
    if (i < old.size() && i < fresh.size() && old[i] == fresh[i]) continue;
    if (!differ++)
      first = fmt::format("first\n  then {}\n  now  {}", i < old.size() ? old[i] : "nothing",
                          i < fresh.size() ? fresh[i] : "nothing");
  }
  std::string text = differ ? fmt::format("{} of {} tested lengths differ, {}\n", differ, old.size() - 2, first)
                            : fmt::format("All {} tested lengths are equal to the digit.\n", old.size() - 2);
  for (const char* field : {"commit", "isa", "numerics", "processor"}) {
    const std::string was = said_of(before, field), is = said_of(now, field);
    text += fmt::format("{:<10} {}{}\n", field, was, was == is ? "" : ", now " + is);
  }
  if (differ)
    text += said_of(before, "numerics") == said_of(now, "numerics") && said_of(before, "isa") == said_of(now, "isa")
                ? "The numerics are the same, so the digits should be equal: a processor, or the table, is at fault.\n"
                : "The numerics or the instruction set differ, so the digits may differ: a new run is another draw.\n";
  return {!differ, text};
}

Repeated rerun(const std::string& trial, const std::string& out, int threads) {
  const size_t hash = trial.find('#');
  if (hash == std::string::npos || hash == 0 || hash + 1 == trial.size())
    bad_input("{} names no trial; write FOLDER#ID, as in results/table1-tiny#4a8dbb", trial);
  const std::string folder = trial.substr(0, hash), plan_path = folder + "/plan.jsonl";
  if (std::filesystem::exists(folder + "/config.toml"))
    bad_input("{} is a run, but rerun needs a trial of a sweep; to train it again, use poslab train --config {} "
              "--out NEW", folder, shell_path(folder + "/config.toml"));
  const Plan one = one_of(read_plan(plan_path), trial.substr(hash + 1), plan_path);
  const auto all = read_kept(folder + "/kept.jsonl");
  const auto before = all.find(one[0].id);
  if (before == all.end()) bad_input("{}/kept.jsonl has no trial {}: it is not done yet", folder, one[0].id);
  if (const std::string then = text_read(before->second); !then.empty())
    if (const std::string& text = one[0].run["text"], now = checksum_of_text(text); now != then)
      bad_input("the text {} differs from the one that trial {} has read: its checksum is {}, and was {}; restore it",
                text.empty() ? "of the compiler's headers" : text, one[0].id, now, then);
  const SweepFolder runs(out);
  if (runs.steps_left(one[0]) == 0)
    bad_input("{} exists already and is trained; remove it, or choose another -o", runs.run(one[0]));
  if (count(run_shard(one, runs, {.threads = threads, .retry = true}))[TrialState::done] != 1)
    failure("trial {} failed: {}", one[0].id, runs.reason(one[0], TrialState::failed));
  return held_to(before->second, {read_file(runs.result(one[0])), read_file(runs.run(one[0]) + "/eval.csv")});
}

}  // namespace poslab::sweep
