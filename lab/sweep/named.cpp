#include "lab/sweep/named.h"

#include <cctype>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/error.h"
#include "lab/files.h"

namespace poslab::sweep {
namespace fs = std::filesystem;

namespace {

std::string name_from(const std::string& text, const Config& c) {
  std::string name;
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find('{', at), close = text.find('}', open);
    name += text.substr(at, open - at);
    if (open == std::string::npos) break;
    if (close == std::string::npos) bad_input("--name {}: a {{ is not closed", text);
    const RunOption& o = option(text.substr(open + 1, close - open - 1));
    const std::string word = word_for(o, get(c, o));
    name += word.empty() ? get(c, o) : word;
    at = close + 1;
  }
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("-_.+=,", c)) c = '_';
  if (name.empty() || name[0] == '.') bad_input("--name {} makes the name \"{}\"; begin it with a letter", text, name);
  return name;
}

}  // namespace

std::string kept_plan(const std::string& folder) { return folder + "/plan.jsonl"; }

void keep_plan(const Plan& plan, const SweepFolder& folder) {
  make_folder(folder.path());
  const auto alone = Claim::take(folder.path(), "1");  // no trial's id
  if (!alone) return;                                   // a worker that began just now keeps the same
  const std::string path = kept_plan(folder.path());
  Plan all = plan;
  std::set<std::string> ids;
  for (const Trial& t : plan) ids.insert(t.id);
  if (fs::exists(path))
    for (Trial& t : read_plan(path))
      if (ids.insert(t.id).second) all.push_back(std::move(t));
  if (const std::string text = plan_lines(all); !fs::exists(path) || read_file(path) != text) write_file(path, text);
}

TrialNames names_from(const std::string& text, const Plan& plan) {
  TrialNames names;
  if (text.empty()) return names;
  for (const Trial& t : plan) {
    if (!t.impossible.empty()) continue;
    const auto [same, fresh] = names.emplace(name_from(text, t.config), &t);
    if (!fresh)
      bad_input("--name {}: two trials would be \"{}\"; name what parts them, {} and {}", text, same->first,
                naming({*same->second, t}).name(values_of(same->second->config)),
                naming({*same->second, t}).name(values_of(t.config)));
  }
  return names;
}

void link_names(const TrialNames& names, const SweepFolder& folder) {
  for (const auto& [name, trial] : names) {
    const fs::path link = fs::path(folder.path()) / "named" / name, target = "../" + trial->id;
    std::error_code error;
    if (!fs::is_directory(folder.run(*trial)) || fs::read_symlink(link, error) == target) continue;
    fs::create_directories(link.parent_path());
    if (fs::is_symlink(link)) fs::remove(link);  // of a template that named another trial so
    fs::create_directory_symlink(target, link, error);
    if (error && !fs::is_symlink(link)) failure("cannot make the link {}: {}", link.string(), error.message());
  }
}

}  // namespace poslab::sweep
