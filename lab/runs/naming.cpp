#include "lab/runs/naming.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "core/error.h"

namespace poslab {
namespace {

Values values_of_preset(const Kind& kind, const std::string& preset) {
  return values_of(kind.configure({{"preset", preset}}));
}

std::string preset_of(const Values& run) {
  const auto preset = run.find("preset");
  return preset == run.end() ? std::string("none") : preset->second;
}

// The names in kept_options(), in its order, then unknown names.
std::vector<std::string> names_in(const Kind& kind, const std::vector<Values>& runs) {
  std::set<std::string> present;
  for (const Values& run : runs)
    for (const auto& [name, value] : run) present.insert(name);
  std::vector<std::string> names;
  for (const Option& o : kept_options(kind))
    if (present.erase(o.name)) names.push_back(o.name);
  names.insert(names.end(), present.begin(), present.end());
  return names;
}

}  // namespace

std::string shortened(const std::string& value) {
  constexpr size_t most = 80, kept = 40;
  if (value.size() <= most) return value;
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(value.data()), value.size());
  return fmt::format("{}... ({} characters, checksum {:08x})", value.substr(0, kept), value.size(), checksum);
}

Values setting_of(Values run) {
  for (const char* name : {"task", "text", "seed", "checkpoint_every", "log_every"}) run.erase(name);
  return run;
}

Naming::Naming(const std::vector<Values>& runs, const Kind& kind) : kind_(&kind) {
  for (const Values& run : runs)
    if (const std::string preset = preset_of(run); !presets_.count(preset))
      presets_[preset] = values_of_preset(kind, preset);
  for (const std::string& name : names_in(kind, runs))
    if (std::any_of(runs.begin(), runs.end(), [&](auto& run) { return value(run, name) != value(runs[0], name); }))
      differing_.push_back(name);
  std::map<std::string, std::string> first;  // the value of an option in the first run with these values before it
  for (const Values& run : runs) {
    std::string before;
    for (const std::string& name : differing_) {
      before += "\n" + name;
      if (first.emplace(before, value(run, name)).first->second != value(run, name)) parted_.insert(before);
      before += "=" + value(run, name);
    }
  }
}

// An option that is missing from a run has its preset's value.
std::string Naming::value(const Values& run, const std::string& option) const {
  if (const auto own = run.find(option); own != run.end()) return own->second;
  const Values& preset = presets_.at(preset_of(run));
  const auto standard = preset.find(option);
  return standard == preset.end() ? "" : standard->second;
}

std::string Naming::name(const Values& run) const {
  const auto preset = presets_.find(preset_of(run));
  std::string text, before;
  for (const std::string& name : differing_) {
    before += "\n" + name;
    const std::string is = value(run, name);
    const bool standard = preset != presets_.end() && preset->second.count(name) && preset->second.at(name) == is;
    if (parted_.count(before) || !standard)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, shortened(is));
    before += "=" + is;
  }
  if (text.empty())
    return fmt::format("{} ({})", shortened(value(run, "encoding")), shortened(value(run, "positions")));
  return text;
}

}  // namespace poslab
