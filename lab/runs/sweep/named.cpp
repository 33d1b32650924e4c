#include "lab/runs/sweep/named.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "core/ascii.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"
#include "lab/runs/output.h"

namespace poslab::sweep {
namespace fs = std::filesystem;

namespace {

bool suits(char c) { return ascii::is_alnum(c) || (c && std::strchr("-_.+=,", c)); }

std::string name_from(const std::string& text, const Choices& c) {
  std::string name;
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find('{', at), close = text.find('}', open);
    name += text.substr(at, open - at);
    if (open == std::string::npos) break;
    if (close == std::string::npos) bad_input("a {{ is not closed; write {{task}}");
    const Option& o = kept_option(kind_of(c), text.substr(open + 1, close - open - 1));
    name += c[o.name];
    at = close + 1;
  }
  for (char& c : name)
    if (!suits(c)) c = '_';
  if (!names_a_file(name)) bad_input("a trial's name would be \"{}\"; begin it with a letter", name);
  return name;
}

}  // namespace

std::string kept_plan(const std::string& folder) { return folder + "/plan.jsonl"; }

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_directory(error) && !entry.is_symlink(error)) all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

namespace {

// A plan that was cut off at the end of a line can still be read, but its folder has more trials.
void must_have_all(const Plan& plan, const std::string& folder) {
  std::set<std::string> ids;
  for (const Trial& t : plan) ids.insert(t.id);
  for (const fs::path& at : folders_in(folder)) {
    const std::string name = at.filename();
    const bool id = name.size() == 16 && name.find_first_not_of("0123456789abcdef") == name.npos;
    if (id && fs::exists(at / "config.toml") && !ids.count(name))
      bad_input(
          "{0} lacks the trial {1}, which is in its folder: lines of it were lost; give the plan that it was made from "
          "to `poslab sweep run PLAN --out {2}` again, or remove the folder {1}",
          kept_plan(folder), name, shell_path(folder));
  }
}

}  // namespace

PlacedPlan find_sweep(const std::string& path) {
  const bool folder = fs::is_directory(path);
  if (folder && !fs::exists(kept_plan(path)))
    bad_input("{} is not the folder of a sweep: it has no plan.jsonl; name the --out of `poslab sweep run`, or a plan",
              path);
  const std::string file = folder ? kept_plan(path) : path;
  PlacedPlan sweep{read_plan(file), path};
  std::vector<fs::path> near = {fs::absolute(file).parent_path()}, found;
  for (size_t from = 0, depth = 0; depth < 2; ++depth)
    for (const size_t to = near.size(); from < to; ++from)
      for (const fs::path& more : folders_in(near[from])) near.push_back(more);
  const auto has_one = [&](const fs::path& at) {
    return std::any_of(sweep.plan.begin(), sweep.plan.end(),
                       [&](const Trial& t) { return fs::exists(at / t.id / "config.toml"); });
  };
  std::copy_if(near.begin(), near.end(), std::back_inserter(found), has_one);
  if (found.size() != 1 && !folder)
    bad_input("the trials of {} are {}; name the folder that `poslab sweep run` was given by --out", path,
              found.empty() ? "neither in its folder nor just below it"
                            : fmt::format("in {} and in {}", found[0].string(), found[1].string()));
  if (found.size() == 1 && (!folder || !fs::equivalent(found[0], path)))
    sweep.folder = fs::proximate(found[0]).string();
  if (folder && sweep.folder == path) must_have_all(sweep.plan, path);
  return sweep;
}

void keep_plan(const Plan& plan, const SweepFolder& folder) {
  check_output_folder("--out", folder.path(), "plan.jsonl", {"", "", "{\"id\":"});
  make_folder(folder.path());
  const Claim alone = Claim::wait(folder.path(), claimed_to_plan, "keeps its plan in");
  const std::string path = kept_plan(folder.path());
  Plan all = plan;
  std::set<std::string> ids;
  for (const Trial& t : plan) ids.insert(t.id);
  if (fs::exists(path)) {
    Plan before = read_plan(path);
    if (kind_of(before) != kind_of(plan))
      bad_input("{} has a sweep of `poslab {}`, but this one is of `poslab {}`; choose another --out", folder.path(),
                kind_of(before).command("train"), kind_of(plan).command("train"));
    for (Trial& t : before)
      if (ids.insert(t.id).second) all.push_back(std::move(t));
  }
  if (const std::string text = plan_lines(all); !fs::exists(path) || read_file(path) != text) write_file(path, text);
}

bool names_a_file(const std::string& name) {
  return !name.empty() && name[0] != '.' && std::all_of(name.begin(), name.end(), suits);
}

void name_trials(Plan& plan, const std::string& text) {
  try {
    for (Trial& t : plan)
      if (t.impossible.empty()) t.name = name_from(text, t.run);
    names_of(plan);
  } catch (const BadInput& e) { bad_input("the name {}: {}", text, e.what()); }
}

TrialNames names_of(const Plan& plan) {
  TrialNames names;
  for (const Trial& t : plan) {
    if (t.name.empty()) continue;
    const auto [same, fresh] = names.emplace(t.name, &t);
    if (fresh) continue;
    const Naming apart = naming({*same->second, t});
    bad_input("two trials would have the name \"{}\"; add what distinguishes them, {} and {}", t.name,
              apart.name(values_of(same->second->run)), apart.name(values_of(t.run)));
  }
  return names;
}

void link_names(const TrialNames& names, const SweepFolder& folder) {
  for (const auto& [name, trial] : names) {
    const fs::path link = fs::path(folder.path()) / "named" / name, target = "../" + trial->id;
    std::error_code error;
    if (!fs::is_directory(folder.run(*trial)) || fs::read_symlink(link, error) == target) continue;
    fs::create_directories(link.parent_path());
    if (fs::is_symlink(link)) fs::remove(link);  // from a template that gave another trial this name
    fs::create_directory_symlink(target, link, error);
    if (error && !fs::is_symlink(link)) failure("cannot make the link {}: {}", link.string(), error.message());
  }
}

}  // namespace poslab::sweep
