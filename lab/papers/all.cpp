// The only list of artifacts. A new one is a function that draws it, an entry here, and its texts in artifacts.toml.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/names.h"
#include "lab/papers/artifact.h"
#include "lab/papers/chi2023/chi2023.h"
#include "lab/papers/gap_shift/gap_shift.h"
#include "lab/papers/ladder/ladder.h"
#include "lab/papers/models.h"
#include "lab/papers/ruoss2023/ruoss2023.h"
#include "lab/papers/su2023/su2023.h"
#include "lab/runs/toml.h"

namespace poslab {
extern const std::string_view artifacts_toml;
}

namespace poslab::reproduce {
namespace {

using namespace ruoss2023;

std::string source_of(const std::string& name) { return name.substr(0, name.find(':')); }

const toml::table& texts() {
  static const toml::table all = parse_toml(std::string(artifacts_toml), "artifacts.toml");
  return all;
}

// "ruoss2023.table1", "title"
std::string text_of(const std::string& path, const char* field) {
  return texts().at_path(path)[field].value<std::string>().value();
}

std::vector<Artifact> with_texts(std::vector<Artifact> all) {
  for (Artifact& a : all) {
    std::string path = a.name;
    std::replace(path.begin(), path.end(), ':', '.');
    a.title = text_of(path, "title"), a.source = text_of(path, "source");
  }
  return all;
}

}  // namespace

const std::vector<Artifact>& all_artifacts() {
  static const std::vector<Artifact> list = with_texts({
      {.name = "ruoss2023:table1", .trials = of_table1},
      {.name = "ruoss2023:table2", .trials = of_table1, .scored = false},
      {.name = "ruoss2023:table3", .trials = of_table3},
      {.name = "ruoss2023:table4", .trials = of_table1},
      {.name = "ruoss2023:table5", .trials = of_table5},
      {.name = "ruoss2023:signs", .trials = of_table1},
      {.name = "ruoss2023:chosen", .trials = of_table1},
      {.name = "ruoss2023:fig2", .trials = of_fig2, .scored = false, .measured = curves},
      {.name = "ruoss2023:fig3", .trials = of_fig3, .measured = usual},
      {.name = "ruoss2023:fig4", .trials = of_table1},
      {.name = "ruoss2023:fig5", .trials = of_inside, .scored = false, .measured = clouds},
      {.name = "ruoss2023:fig6", .trials = of_inside, .scored = false, .measured = maps},
      {.name = "ruoss2023:coverage", .measured = ruoss2023::coverage},
      {.name = "ruoss2023:code", .trials = of_code, .measured = choices},
      {.name = "ruoss2023:claims", .trials = of_claims, .measured = usual},

      {.name = "gap_shift:gaps", .measured = gap_shift::gaps},
      {.name = "gap_shift:grid", .trials = gap_shift::of_uniform, .measured = gap_shift::grid, .record = "gaps.json"},
      {.name = "gap_shift:first", .trials = gap_shift::of_uniform, .measured = gap_shift::first, .record = "gaps.json"},
      {.name = "gap_shift:matched", .trials = gap_shift::of_matched, .measured = gap_shift::matched,
       .record = "gaps.json"},

      {.name = "ladder:plan", .scored = false, .about = ladder::about},
      {.name = "ladder:chosen", .trials = ladder::first_stage, .about = ladder::about},
      {.name = "ladder:verdict", .trials = ladder::first_stage, .second_stage = ladder::second_stage,
       .about = ladder::about},

      {.name = "chi2023:table1", .models = chi2023::source},
      {.name = "chi2023:table2", .models = chi2023::source},
      {.name = "chi2023:table3", .models = chi2023::source},
      {.name = "chi2023:table4", .models = chi2023::source},
      {.name = "chi2023:table5", .models = chi2023::source},
      {.name = "chi2023:table6", .models = chi2023::source},
      {.name = "chi2023:table7", .models = chi2023::source},
      {.name = "chi2023:fig1", .models = chi2023::source},
      {.name = "chi2023:fig2", .models = chi2023::source},
      {.name = "chi2023:fig3", .models = chi2023::source},
      {.name = "chi2023:propositions", .models = chi2023::source},
      {.name = "chi2023:cross", .trials = chi2023::of_cross, .apart = true, .measured = chi2023::cross,
       .record = "cross.json"},

      {.name = "su2023:main", .models = su2023::source},
      {.name = "su2023:window", .models = su2023::source},
      {.name = "su2023:leaky", .models = su2023::source},
      {.name = "su2023:llama", .models = su2023::source},
      {.name = "su2023:methods", .models = su2023::source},
      {.name = "su2023:trained", .models = su2023::source},
      {.name = "su2023:lengths", .models = su2023::source},
      {.name = "su2023:far", .models = su2023::source},
      {.name = "su2023:matrices", .models = su2023::source},
      {.name = "su2023:claims", .models = su2023::source},
  });
  return list;
}

std::vector<ModelSize> sizes_of(const std::string& source) {
  std::vector<ModelSize> all;
  for (const toml::node& one : *texts()[source]["sizes"].as_array()) {
    const auto text = [&](const char* key) { return (*one.as_table())[key].value_or<std::string>(""); };
    all.push_back({text("name"), text("summary"), (*one.as_table())["seeds"].value<int>().value(),
                   read_settings(text("options")), read_settings(text("others")), text("note")});
  }
  return all;
}

std::string source_title(const Artifact& a) { return text_of(source_of(a.name), "title"); }

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
