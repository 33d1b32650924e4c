#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/explain.h"
#include "core/error.h"
#include "encodings/compose.h"
#include "encodings/encoding.h"
#include "lab/files/progress.h"

namespace poslab {

extern const std::vector<std::pair<std::string_view, std::string_view>> formulas_in_numpy;

namespace {

struct NumpyFile {
  std::string name, text, spelling;
};  // spelling: the encoding that the file computes, or empty

const std::vector<NumpyFile>& numpy_files() {
  static const std::vector<NumpyFile> all = [] {
    std::vector<NumpyFile> files;
    for (const auto& [name, text] : formulas_in_numpy) {
      std::cmatch said;
      std::regex_search(text.begin(), text.end(), said, std::regex(R"re("encoding": "([^"]*))re"));
      files.push_back({std::string(name), std::string(text), said[1]});
    }
    return files;
  }();
  return all;
}

const NumpyFile& numpy_file(const std::string& name) {
  for (const NumpyFile& file : numpy_files())
    if (file.name == name) return file;
  bad_input("{0} has no formula in NumPy: built without python/poslab/formulas/{0}.py; docs/own_scheme.md shows one",
            name);
}

using Matches = std::sregex_iterator;

// Adds the file to a self-contained text: first the files that it imports, without repeats, and aliases for renamed
// imports, `rotated = logits`, or rotary_rope for rotary.rope.
void add_alone(const NumpyFile& file, std::vector<std::string>& added, std::string& text) {
  static const std::regex import(R"(^from \.(\w*) import ([\w, ]+?) *(#.*)?\n)", std::regex::multiline);
  static const std::regex renamed(R"((\w+) as (\w+))");
  std::string own = std::regex_replace(file.text, import, "");
  for (Matches m(file.text.begin(), file.text.end(), import), end; m != end; ++m) {
    const std::string names = (*m)[2], name = (*m)[1].length() ? std::string((*m)[1]) : names;
    if (std::find(added.begin(), added.end(), name) == added.end()) add_alone(numpy_file(name), added, text);
    std::set<std::string> called;
    for (Matches as(names.begin(), names.end(), renamed); as != end; ++as)
      called.insert(fmt::format("{} = {}\n", (*as)[2].str(), (*as)[1].str()));
    if (name == names) {
      const std::regex member(fmt::format(R"(\b{}\.(\w+))", name));
      for (Matches of(own.begin(), own.end(), member); of != end; ++of)
        called.insert(fmt::format("{0}_{1} = {1}\n", name, (*of)[1].str()));
      own = std::regex_replace(own, member, name + "_$1");
    }
    text += fmt::format("{}{}", called.empty() ? "" : "\n\n", fmt::join(called, ""));
  }
  text += fmt::format("{}# {}.py\n\n{}", text.empty() ? "" : "\n\n", file.name, own);
  added.push_back(file.name);
}

}  // namespace

std::string in_numpy(const std::string& encoding) {
  if (composed_spelling(encoding))
    bad_input("{} is composed of several encodings; ask for one of them, as in `poslab explain rope --numpy`",
              encoding);
  const Chosen<Scheme> scheme = choose_encoding(encoding);
  std::string others;
  const NumpyFile* chosen = &numpy_file(scheme->name);
  const bool own_options = choose_encoding(chosen->spelling).spelled() != scheme.spelled();
  for (const NumpyFile& file : numpy_files()) {
    if (file.spelling.empty()) continue;
    const Chosen<Scheme> written = choose_encoding(file.spelling);
    if (written->name != scheme->name || file.name == scheme->name) continue;
    if (own_options && written.spelled() == scheme.spelled()) chosen = &file;
    others += fmt::format("#   {:<28} {}\n", file.name, file.spelling);
  }
  if (choose_encoding(chosen->spelling).spelled() != scheme.spelled())
    tell(stderr, "the code is for {}; change its numbers for other options, as in {}\n", chosen->spelling,
         scheme.spelled());
  std::vector<std::string> added;
  std::string text;
  add_alone(*chosen, added, text);
  text = fmt::format("# {} as NumPy: python/poslab/formulas/{}.py{}\n\n\n{}", chosen->spelling, chosen->name,
                     added.size() > 1 ? ", after the parts of other formulas that it uses" : "", text);
  if (!others.empty()) text += "\n\n# Other forms of " + scheme->name + " there:\n" + others;
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace poslab
