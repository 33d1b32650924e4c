// The artifacts of artifacts.toml, with the functions that measure or plan where TOML does not.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "core/names.h"
#include "lab/papers/chi2023/chi2023.h"
#include "lab/papers/data.h"
#include "lab/papers/gap_shift/gap_shift.h"
#include "lab/papers/ladder/ladder.h"
#include "lab/papers/models.h"
#include "lab/papers/ruoss2023/ruoss2023.h"
#include "lab/papers/su2023/su2023.h"

namespace poslab::reproduce {
namespace {

using Functions = std::map<std::string, Artifact>;

std::string source_of(const std::string& name) { return name.substr(0, name.find(':')); }

// Functions by artifact, or by source for all its artifacts.
const Functions& functions() {
  using namespace ruoss2023;
  static const Functions all = {
      {"ruoss2023:fig2", {.measured = curves}},
      {"ruoss2023:fig3", {.measured = usual}},
      {"ruoss2023:fig5", {.measured = clouds}},
      {"ruoss2023:fig6", {.measured = maps}},
      {"ruoss2023:coverage", {.measured = ruoss2023::coverage}},
      {"ruoss2023:code", {.trials = of_code, .measured = choices}},
      {"ruoss2023:claims", {.measured = usual}},
      {"gap_shift:gaps", {.measured = gap_shift::gaps}},
      {"gap_shift:grid", {.trials = gap_shift::of_uniform, .measured = gap_shift::grid}},
      {"gap_shift:first", {.trials = gap_shift::of_uniform, .measured = gap_shift::first}},
      {"gap_shift:matched", {.trials = gap_shift::of_matched, .measured = gap_shift::matched}},
      {"ladder:plan", {.about = ladder::about}},
      {"ladder:chosen", {.trials = ladder::first_stage, .about = ladder::about}},
      {"ladder:verdict", {.trials = ladder::first_stage, .second_stage = ladder::second_stage, .about = ladder::about}},
      {"chi2023:cross", {.trials = chi2023::of_cross, .measured = chi2023::cross}},
      {"chi2023", {.models = chi2023::source}},
      {"su2023", {.models = su2023::source}},
  };
  return all;
}

Artifact read_artifact(const std::string& source, const std::string& name) {
  const toml::table& said = data(source + "." + name);
  const std::string full = source + ":" + name;
  Artifact a;
  for (const std::string& key : {source, full})
    if (const auto its = functions().find(key); its != functions().end()) a = its->second;
  a.name = full, a.title = text_in(said, "title"), a.source = text_in(said, "source");
  a.apart = said["apart"].value_or(false), a.scored = said["scored"].value_or(true);
  a.record = text_in(said, "record");
  if (!a.trials && said.contains("trials")) a.trials = [full](const Choices& c) { return trials_in(full, c); };
  return a;
}

}  // namespace

const std::vector<Artifact>& all_artifacts() {
  static const std::vector<Artifact> list = [] {
    std::vector<Artifact> all;
    for (const std::string& source : words_in(*data().get("sources")))
      for (const std::string& name : words_in(*data(source).get("artifacts")))
        all.push_back(read_artifact(source, name));
    return all;
  }();
  return list;
}

std::vector<ModelSize> sizes_of(const std::string& source) {
  std::vector<ModelSize> all;
  for (const toml::node& one : *data(source)["sizes"].as_array())
    all.push_back({text_in(one, "name"), text_in(one, "summary"), (*one.as_table())["seeds"].value<int>().value(),
                   read_settings(text_in(one, "options")), read_settings(text_in(one, "others")),
                   text_in(one, "note")});
  return all;
}

std::string source_title(const Artifact& a) { return text_in(data(source_of(a.name)), "title"); }

std::vector<const Artifact*> artifacts(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  std::set<std::string> wholes;
  for (const Artifact& a : all_artifacts()) {
    if (wholes.insert(source_of(a.name)).second) names.push_back(source_of(a.name) + ":all");
    names.push_back(a.name);
  }
  std::vector<const Artifact*> chosen;
  for (const std::string& word : words) {
    const size_t before = chosen.size();
    for (const Artifact& a : all_artifacts())
      if (a.name == word || (!a.apart && (word == source_of(a.name) || word == source_of(a.name) + ":all")))
        chosen.push_back(&a);
    if (chosen.size() != before) continue;
    std::vector<std::string> alike;  // "table1" of each source, those named before first
    for (const Artifact& a : all_artifacts())
      if (a.name.ends_with(":" + word))
        alike.insert(
            std::find(words.begin(), words.end(), source_of(a.name)) != words.end() ? alike.begin() : alike.end(),
            a.name);
    if (!alike.empty()) bad_input("unknown artifact \"{}\"; did you mean {}?", word, fmt::join(alike, " or "));
    throw BadInput(unknown("artifact", word, names));
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace poslab::reproduce
