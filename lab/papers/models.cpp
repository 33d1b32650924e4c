#include "lab/papers/models.h"

#include <algorithm>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/papers/data.h"
#include "lab/papers/measured.h"
#include "lab/papers/python.h"

namespace poslab::reproduce {
namespace {

Plan trials_of(const Model& m, int seeds) {
  ValueLists lists;
  for (const auto& [name, value] : m.settings) lists[name] = {value};
  lists["seed"] = sweep::seeds(seeds);
  Plan plan = make_plan(lists, {}, m.name, *m.kind);
  for (Trial& t : plan) t.name = fmt::format("{}-{}", m.name, t.run["seed"]);
  return plan;
}

size_t commands(const Trial& t) {
  return size_t(
      std::count_if(t.tests.begin(), t.tests.end(), [](const TrialTest& test) { return !test.words.empty(); }));
}

// "10 of 10 runs are trained, and 92 of 92 further tests done."
std::string standing(const std::vector<Plan>& plans, const SweepFolder& runs) {
  size_t trials = 0, trained = 0, tests = 0, left = 0;
  for (const Plan& plan : plans)
    for (const Trial& t : plan)
      ++trials, trained += runs.trained(t), tests += commands(t), left += runs.untested(t).size();
  if (!trials) return "";
  return fmt::format("{} of {} runs are trained{}.", trained, trials,
                     tests ? fmt::format(", and {} of {} further tests done", tests - left, tests) : "");
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
      bad_input("--set {}: each table sets it itself; choose with --size, and the number of seeds with --set seeds=N",
                text);
    if (key == "seeds") {
      const int seeds = int(read_whole("seeds", value, {1, 1000}, "1 .. 1000"));
      if (const int before = sets.seeds.value_or(seeds); before != seeds)
        refuse_two_values(key, {key, fmt::format("{}", before)}, {key, value});
      sets.seeds = seeds;
      continue;
    }
    (prefixed ? sets.prefixed : sets.options).emplace_back(option, value);
  }
  return sets;
}

std::vector<Model> models_in(const std::string& source, const std::pair<const Kind*, Settings>& options,
                             const std::pair<const Kind*, Settings>& others, const ValueOf& value) {
  std::vector<Model> all;
  for (const toml::node& one : *data(source)["models"].as_array()) {
    const auto& [kind, settings] = (*one.as_table())["others"].value_or(false) ? others : options;
    const Settings own = read_settings(filled(text_in(one, "options"), value));
    all.push_back({text_in(one, "name"), kind, joined(settings, own)});
  }
  return all;
}

Models::Models(const std::vector<Model>& models, int seeds) : seeds_(seeds) {
  for (const Model& m : models) all_.push_back({m, trials_of(m, seeds)});
}

std::vector<Plan> Models::plans(const std::vector<ModelTest>& tests) const {
  std::vector<Plan> plans;
  for (int seed = 0; seed < seeds_; ++seed)
    for (const Trained& t : all_) {
      Trial trial = t.by_seed[size_t(seed)];
      bool asked = false;
      for (const ModelTest& test : tests) {
        if (test.model != t.model.name) continue;
        asked = true;
        const bool known = std::any_of(trial.tests.begin(), trial.tests.end(),
                                       [&](const TrialTest& one) { return one.file == test.test.file; });
        if (!known && test.test.file != own_test) trial.tests.push_back(test.test);
      }
      if (!asked) continue;
      auto same = std::find_if(plans.begin(), plans.end(), [&](auto& p) { return kind_of(p) == *t.model.kind; });
      if (same == plans.end()) same = plans.insert(same, Plan());
      same->push_back(std::move(trial));
    }
  return plans;
}

Json Models::trials() const {
  Json all = Json::array();
  for (const Trained& t : all_)
    for (int seed = 0; seed < seeds_; ++seed)
      all.push_back({{"id", t.by_seed[size_t(seed)].id}, {"model", t.model.name}, {"seed", seed}});
  return all;
}

std::vector<Plan> ModelSource::plans(const std::vector<const Artifact*>& artifacts) const {
  std::vector<ModelTest> all;
  for (const Artifact* a : artifacts)
    for (ModelTest& t : tests(*a)) all.push_back(std::move(t));
  return models.plans(all);
}

int run_models(const std::vector<Plan>& plans, const SweepFolder& runs, int jobs, int threads) {
  int failed = 0;
  for (const Plan& plan : plans) {
    failed += count(run_shard(plan, runs, {.jobs = jobs, .threads = threads, .retry = true}))[TrialState::failed];
    link_names(names_of(plan), runs);
  }
  return failed;
}

namespace {

void measure(const ModelSource& source, const std::vector<Plan>& plans, const SweepFolder& runs) {
  for (const Plan& plan : plans)
    for (const Trial& t : plan)
      for (const TrialTest& test : t.tests)
        if (test.words.empty() && runs.trained(t)) {
          runs.must_fit(t);
          record(runs.run(t) + "/" + test.file, [&] {
            Json found = source.measure(test.file, runs.run(t));
            found["id"] = t.id;
            return found;
          });
        }
}

// The data for Python: of the page, of each artifact, and the trials.
void write_about(const std::vector<const Artifact*>& artifacts, const ModelSource& source, Json about,
                 const SweepFolder& runs, const std::string& folder) {
  about["title"] = source_title(*artifacts[0]);
  for (const Artifact* a : artifacts) {
    Json one = about_artifact(*a);
    const std::vector<Plan> plans = source.plans({a});
    if (const std::string done = standing(plans, runs); !done.empty()) one["notes"].push_back(done);
    const std::string failed =
        why_undrawn([&] { measure(source, plans, runs), one.update(source.about_artifact(*a)); });
    if (!failed.empty()) one["undrawn"] = Json::array({failed});
    about["artifacts"].push_back(one);
  }
  about.update(source.about);
  about["trials"] = source.models.trials();
  write_file(folder + "/about.json", about.dump() + "\n");
}

}  // namespace

std::string write(const std::vector<const Artifact*>& artifacts, const ModelSource& source, const std::string& size,
                  const std::string& folder, const std::string& command, const FigureFiles& figures,
                  const std::string& python) {
  const SweepFolder runs(folder + "/runs");
  const Claim alone = one_at_a_time(runs);
  const std::vector<Plan> plans = source.plans(artifacts);
  const std::string summary = standing(plans, runs);
  write_about(artifacts, source, about(size, command, summary), runs, folder);
  write_file(folder + "/kept.jsonl", kept_lines(plans, runs));
  draw_in_python(python, folder, figures);
  return summary;
}

}  // namespace poslab::reproduce
