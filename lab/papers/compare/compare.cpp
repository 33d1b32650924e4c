#include "lab/papers/compare/compare.h"

#include <algorithm>
#include <tuple>

#include "core/error.h"
#include "experiment/build.h"
#include "lab/papers/data.h"
#include "lab/runs/spelled_file.h"

namespace poslab::compare {

using namespace reproduce;

const std::vector<std::string> references = {"none", "rope", "alibi"};

namespace {

// The spelling of each runnable trial's scheme, with lengths as shares of the trained length, which tasks vary;
// each scheme's least window, if it has one; the slots of the longest string; and the trials that failed.
Json about(const Outcomes& outcomes) {
  Json all = {{"schemes", Json::object()}, {"windows", Json::object()}, {"failed", Json::array()}};
  int slots = 0;
  for (const Trial& t : outcomes.plan()) {
    if (!t.impossible.empty()) continue;
    const RunSpec c(t.config());
    const std::string spelled = choose_encoding(c["encoding"]).spelled();
    all["schemes"][t.id] = spelled;
    if (c.scheme.choices.has("window")) {
      const int window = c.scheme.choices.whole("window");
      all["windows"][spelled] = std::min(window, all["windows"].value(spelled, window));
    }
    slots = std::max(slots, longest(t.config()));
  }
  for (const Missing& m : outcomes.missing())
    if (m.state == TrialState::failed) all["failed"].push_back(m.trial->id);
  all["slots"] = slots;
  return all;
}

Artifact artifact(const std::string& name) {
  const toml::table& said = data("compare." + name);
  return {
      .name = "compare:" + name, .title = text_in(said, "title"), .source = text_in(said, "source"), .about = about};
}

std::vector<std::string> spelled(const std::vector<std::string>& encodings) {
  std::vector<std::string> all;
  for (const std::string& one : encodings)
    for (const std::string& name : one == "all" ? names_of(all_encodings()) : std::vector<std::string>{one}) {
      const std::string full = choose_encoding(with_spelled_file("encoding", name)).spelled();
      if (std::find(all.begin(), all.end(), full) == all.end()) all.push_back(full);
    }
  return all;
}

bool needs_mask(const std::string& encoding) {
  const Chosen<Scheme> s = choose_encoding(encoding);
  return !s->causal_only(s.choices).empty();
}

Plan trials(const Options& options, const std::vector<std::string>& encodings, bool mask) {
  if (encodings.empty()) return {};
  ValueLists lists = {{"encoding", encodings}, {"positions", {with_spelled_file("positions", options.positions)}}};
  if (!options.tasks.empty()) lists["task"] = options.tasks;
  if (mask) lists["causal"] = {"on"};
  return trials_at(size(options.size), request(options).settings, lists, {});
}

bool written_out(const RunSpec& c) {
  return c.scheme->pages.cost.matrices(transformer_spec(c).shape(), c.scheme.choices) > 0;
}

}  // namespace

reproduce::Request request(const Options& options) {
  reproduce::Request r{{}, options.size, {}, {}, options.settings};
  if (options.seeds && r.settings.count("seed"))
    bad_input("--seeds {} and --set seed=...: the first gives the seeds; leave one of the two out", options.seeds);
  if (options.seeds) r.settings["seed"] = sweep::seeds(options.seeds);
  return r;
}

std::vector<std::string> read_spellings(const std::string& text) {
  const std::vector<std::string> names = names_of(all_encodings());
  std::vector<std::string> all;
  for (const std::string& part : split(text, ',')) {
    if (part.empty()) bad_input("an encoding is missing in \"{}\"; write them as in rope,alibi", text);
    const size_t end = part.find_first_of(":|+*=");
    const bool named = std::find(names.begin(), names.end(), part.substr(0, end)) != names.end();
    const bool says_value = end != std::string::npos && part[end] == '=';
    if (!all.empty() && all.back().find(':') != std::string::npos && (says_value || !named))
      all.back() += "," + part;  // another option of the previous spelling
    else
      all.push_back(part);
  }
  return all;
}

std::vector<Planned> plan(const Options& options) {
  check_scored(size(options.size), request(options).settings);
  std::vector<std::string> open, masked;
  for (const std::string& name : spelled(options.encodings))
    (options.causal || needs_mask(name) ? masked : open).push_back(name);
  if (!masked.empty() && !options.causal)
    for (const std::string& name : references)
      if (std::find(masked.begin(), masked.end(), name) == masked.end()) masked.push_back(name);
  static const Artifact two_sided = artifact("ranking"), causal = artifact("causal");
  std::vector<Planned> all;
  if (!open.empty()) all.push_back({&two_sided, trials(options, open, false)});
  if (!masked.empty()) all.push_back({&causal, trials(options, masked, true)});
  if (const Plan every = all_trials(all); in_order(all).empty())
    bad_input("no encoding here can be trained; the first, {}: {}", every[0].config()["encoding"], every[0].impossible);
  return all;
}

Plan in_order(const std::vector<Planned>& planned) {
  Plan all = all_trials(planned);
  std::erase_if(all, [](const Trial& t) { return !t.impossible.empty(); });
  std::vector<std::string> tasks;
  for (const Trial& t : all)
    if (std::find(tasks.begin(), tasks.end(), t.config()["task"]) == tasks.end()) tasks.push_back(t.config()["task"]);
  using Place = std::tuple<int64_t, bool, std::ptrdiff_t>;
  std::map<std::string, Place> places;
  for (const Trial& t : all)
    places[t.id] = {t.config().count("seed"), written_out(RunSpec(t.config())),
                    std::find(tasks.begin(), tasks.end(), t.config()["task"]) - tasks.begin()};
  std::stable_sort(all.begin(), all.end(),
                   [&](const Trial& a, const Trial& b) { return places.at(a.id) < places.at(b.id); });
  return all;
}

}  // namespace poslab::compare
