#include "apps/formulas.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "encodings/compose.h"
#include "encodings/encoding.h"

namespace poslab {

extern const std::vector<std::pair<std::string_view, std::string_view>> formulas_in_numpy;

namespace {

struct NumpyFile {
  std::string name, text, spelling;
};  // spelling: of the encoding that it computes, or empty

// What stands after `before` up to the next quote.
std::string quoted(std::string_view text, std::string_view before) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  const size_t from = at + before.size();
  return std::string(text.substr(from, text.find('"', from) - from));
}

const std::vector<NumpyFile>& numpy_files() {
  static const std::vector<NumpyFile> all = [] {
    std::vector<NumpyFile> files;
    for (const auto& [name, text] : formulas_in_numpy)
      files.push_back({std::string(name), std::string(text), quoted(text, "\"encoding\": \"")});
    return files;
  }();
  return all;
}

const NumpyFile& numpy_file(const std::string& name) {
  for (const NumpyFile& file : numpy_files())
    if (file.name == name) return file;
  bad_input("{0} has no formula in NumPy: there is no python/poslab/formulas/{0}.py; docs/own_scheme.md writes one",
            name);
}

// The files that it imports from, and those that these do, each once.
void add_imported(const NumpyFile& file, std::vector<std::string>& names) {
  static const std::regex import(R"(^from \.(\w*) import (\w+))", std::regex::multiline);
  for (std::sregex_iterator m(file.text.begin(), file.text.end(), import), end; m != end; ++m) {
    const std::string name = (*m)[1].length() ? (*m)[1] : (*m)[2];
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(name);
    add_imported(numpy_file(name), names);
  }
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
  std::vector<std::string> used = {chosen->name};
  add_imported(*chosen, used);
  std::string text =
      fmt::format("# {} as NumPy: python/poslab/formulas/{}.py\n\n{}", chosen->spelling, chosen->name, chosen->text);
  for (size_t n = 1; n < used.size(); ++n)
    text += fmt::format("\n\n# {}.py, from which it takes some\n\n{}", used[n], numpy_file(used[n]).text);
  if (!others.empty()) text += "\n\n# Other forms of " + scheme->name + " there:\n" + others;
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace poslab
