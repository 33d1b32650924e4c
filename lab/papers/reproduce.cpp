#include "lab/papers/reproduce.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "autograd/tape.h"
#include "core/error.h"
#include "core/names.h"
#include "core/stop.h"
#include "experiment/numerics.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/files/version.h"
#include "lab/papers/python.h"

namespace poslab::reproduce {
namespace {

void check_names(const std::string& kind, const std::vector<std::string>& names) {
  const std::vector<std::string> known = option(kind).words;
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end()) throw BadInput(unknown(kind, name, known));
}

// Whether the spelling, whatever its options, names one of these; without names, always.
bool contains(const std::vector<std::string>& names, const std::string& spelled) {
  return names.empty() || std::find(names.begin(), names.end(), spelled.substr(0, spelled.find(':'))) != names.end();
}

Plan trials_of(const Artifact& a, const Request& request) {
  const Size& s = size(request.size);
  const Trials trials = a.trials(defaults(s, request.settings));
  return trials_at(s, request.settings, trials.lists, trials.also);
}

// "132 of 134 trials are done; 1 failed, 1 to do."
std::string standing(const Outcomes& outcomes) {
  if (!outcomes.planned()) return "";
  if (outcomes.missing().empty()) return fmt::format("All {} trials are done.", outcomes.planned());
  std::vector<TrialState> states;
  for (const Missing& m : outcomes.missing()) states.push_back(m.state);
  return fmt::format("{} of {} trials are done; {}.", outcomes.done().size(), outcomes.planned(),
                     to_string(count(states)));
}

// The reasons of failed or impossible trials, a line each, with the first such trial.
std::vector<std::string> reasons(const Outcomes& outcomes, const Plan& plan) {
  const Naming names = naming(plan);
  std::map<std::string, std::vector<const Missing*>> all;
  for (const Missing& m : outcomes.missing())
    if (!m.reason.empty()) all[m.reason].push_back(&m);
  std::vector<std::string> said;
  for (const auto& [reason, trials] : all)
    said.push_back(fmt::format("{}: {} {}{}: {}", name_of(trials[0]->state), trials[0]->trial->id,
                               names.name(values_of(trials[0]->trial->config())),
                               trials.size() > 1 ? fmt::format(" and {} more", trials.size() - 1) : "", reason));
  return said;
}

// The notes below an artifact: its progress, and the reasons for missing trials.
std::vector<std::string> notes(const Outcomes& outcomes, const Plan& plan) {
  std::vector<std::string> all = reasons(outcomes, plan);
  if (outcomes.planned()) all.insert(all.begin(), standing(outcomes));
  return all;
}

// All options of each trial, the common ones once: "common": {...}, "trials": [{"id": ..., ...}, ...].
void add_trials(Json& about, const Plan& plan) {
  std::vector<Json> all;
  for (const Trial& t : plan) {
    Json& one = all.emplace_back(Json{{"id", t.id}});
    for (const Option& o : kept_options(kind_of(plan))) one[o.name] = typed(o, t.run[o.name]);
  }
  Json& common = about["common"] = Json::object();
  for (const Option& o : kept_options(kind_of(plan)))
    if (!all.empty() && std::all_of(all.begin(), all.end(), [&](auto& one) { return one[o.name] == all[0][o.name]; }))
      common[o.name] = all[0][o.name];
  for (Json& one : all)
    for (const auto& [name, value] : common.items()) one.erase(name);
  about["trials"] = all;
}

// about.json and kept.jsonl, from which Python draws.
void write_data(Json about, const std::vector<Planned>& planned, const Plan& everything, const Outcomes& whole,
                const SweepFolder& runs, const std::string& folder, const Choices& defaults) {
  std::vector<std::string> titles;  // of their sources
  for (const Planned& p : planned) {
    if (const std::string of = source_title(*p.artifact); titles.empty() || titles.back() != of) titles.push_back(of);
    const Outcomes outcomes(p.plan, runs);
    Json one = about_artifact(*p.artifact);
    one["notes"] = notes(outcomes, p.plan);
    if (p.artifact->trials) one["trials"] = Json::array();
    for (const Trial& t : p.plan) one["trials"].push_back(t.id);
    if (p.artifact->about) about.update(p.artifact->about(whole));
    if (p.artifact->trials && !outcomes.planned())
      one["undrawn"] = Json::array({"None of the requested runs belongs here."});
    if (p.artifact->measured && !one.contains("undrawn")) {
      const auto measure = [&] { one.update(p.artifact->measured(outcomes, defaults, folder)); };
      if (const std::string failed = why_undrawn(measure); !failed.empty()) one["undrawn"] = Json::array({failed});
    }
    about["artifacts"].push_back(one);
  }
  about["title"] = fmt::format("{}", fmt::join(titles, "; "));
  add_trials(about, everything);
  about["missing"] = Json::array();
  for (const Missing& m : whole.missing())
    if (m.state != TrialState::impossible) about["missing"].push_back(m.trial->config()["task"]);
  write_file(folder + "/about.json", about.dump() + "\n");
  Plan done;
  for (const Outcome& o : whole.done()) done.push_back(*o.trial);
  write_file(folder + "/kept.jsonl", kept_lines({done}, runs));
}

}  // namespace

Json about(const std::string& size, const std::string& command, const std::string& summary) {
  Json all = {{"size", size}, {"command", command}, {"summary", summary}};
  for (const char* isa : {"baseline", "avx2", "avx512"}) all["numerics"][isa] = numerics(isa);
  return all;
}

std::string made_by() {
  std::string text;
  for (const auto& [name, word] : poslab::about())
    if (name == "commit" || name == "isa" || name == "threads" || name == "scalar")
      text += fmt::format("{}{} {}", text.empty() ? "Drawn by: " : ", ", name, word);
  return text + ".";
}

std::vector<Planned> plan(const Request& request) {
  size(request.size);
  check_names("task", request.tasks), check_names("encoding", request.encodings);
  std::vector<Planned> all;
  for (const Artifact* a : artifacts(request.what)) {
    if (a->models) bad_input("{} is not a sweep of tasks; request it in a separate command", a->name);
    Planned p{a, {}};
    if (a->trials && a->scored) check_scored(size(request.size), request.settings);
    if (a->trials)
      for (Trial& t : trials_of(*a, request))
        if (contains(request.tasks, t.config()["task"]) && contains(request.encodings, t.config()["encoding"])) {
          if (!a->record.empty()) t.tests.push_back({a->record, {}});
          p.plan.push_back(std::move(t));
        }
    all.push_back(std::move(p));
  }
  const auto trains = [](const Planned& p) { return bool(p.artifact->trials); };
  const Plan trials = all_trials(all);
  if (std::any_of(all.begin(), all.end(), trains) && trials.empty())
    bad_input("{} has no trial with {}{}{}; change --tasks or --encodings", fmt::join(request.what, " "),
              fmt::join(request.tasks, ", "), request.tasks.empty() || request.encodings.empty() ? "" : " and ",
              fmt::join(request.encodings, ", "));
  for (const auto& [option, names] : {std::pair("task", &request.tasks), {"encoding", &request.encodings}})
    for (const std::string& name : *names)
      if (std::none_of(trials.begin(), trials.end(), [&](const Trial& t) { return t.config()[option] == name; }))
        tell(stderr, "--{}s {}: no chosen trial of {} has it\n", option, name, fmt::join(request.what, " "));
  return all;
}

Plan all_trials(const std::vector<Planned>& planned) {
  Plan all;
  std::map<std::string, size_t> known;
  for (const Planned& p : planned)
    for (const Trial& t : p.plan)
      if (const auto [at, fresh] = known.emplace(t.id, all.size()); fresh) {
        all.push_back(t);
      } else {
        std::vector<TrialTest>& tests = all[at->second].tests;  // an artifact has one record at most
        const auto same = [&](const TrialTest& test) { return test.file == t.tests.front().file; };
        if (!t.tests.empty() && std::none_of(tests.begin(), tests.end(), same)) tests.push_back(t.tests.front());
      }
  return all;
}

bool add_second_stages(std::vector<Planned>& planned, const Request& request, const SweepFolder& runs) {
  const Size& s = size(request.size);
  const Choices common = defaults(s, request.settings);
  bool added = false;
  for (Planned& p : planned) {
    if (!p.artifact->second_stage || !std::filesystem::is_directory(runs.path())) continue;
    std::set<std::string> known;
    for (const Trial& t : p.plan) known.insert(t.id);
    for (const ValueLists& lists : p.artifact->second_stage(Outcomes(p.plan, runs), common))
      for (Trial& t : trials_at(s, request.settings, lists, {}))
        if (contains(request.tasks, t.config()["task"]) && contains(request.encodings, t.config()["encoding"]) &&
            known.insert(t.id).second)
          p.plan.push_back(std::move(t)), added = true;
  }
  return added;
}

Claim one_at_a_time(const SweepFolder& runs) { return Claim::wait(runs.path(), claimed_to_draw, "draws what is in"); }

std::string why_undrawn(const std::function<void()>& measure) {
  try {
    measure();
  } catch (const Stopped&) {
    throw Interrupted(caught_signal(), "stopped while drawing; --draw draws again");
  } catch (const Interrupted&) { throw; } catch (const std::exception& e) {
    return fmt::format("This could not be drawn: {}", e.what());
  }
  return "";
}

Json about_artifact(const Artifact& a) {
  return {{"name", a.name}, {"title", a.title}, {"source", a.source}, {"notes", Json::array()}};
}

std::string write(const std::vector<Planned>& planned, const Request& request, const std::string& folder,
                  const std::string& command, const FigureFiles& figures, const std::string& python) {
  const SweepFolder runs(folder + "/runs");
  const Claim alone = one_at_a_time(runs);
  const NoGrad no_grad;
  const Choices common = defaults(size(request.size), request.settings);
  const Plan everything = all_trials(planned);
  const Outcomes whole(everything, runs);
  const std::string summary = standing(whole);
  write_file(folder + "/trials.csv", to_csv(collect(everything, runs).trials));
  write_data(about(request.size, command, summary), planned, everything, whole, runs, folder, common);
  draw_in_python(python, folder, figures);
  return summary;
}

}  // namespace poslab::reproduce
