#include "lab/runs/values.h"

#include <filesystem>

#include "core/ascii.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/hub/hf_model.h"

namespace poslab {

const Kind& kind_of_folder(const std::string& path) {
  if (is_hf_folder(path)) return language_kind();
  const std::string file = path + "/config.toml";
  if (std::filesystem::exists(file)) {
    const std::string text = "\n" + read_file(file);
    for (const Kind* kind : all_kinds())
      if (text.find(fmt::format("\n{} = ", kind->marked_by)) != text.npos) return *kind;
  }
  return strings_kind();
}

const Kind& one_kind(const std::vector<std::string>& folders, const char* command) {
  const Kind& first = kind_of_folder(folders.front());
  for (const std::string& folder : folders)
    if (const Kind& kind = kind_of_folder(folder); !(kind == first))
      bad_input("{}: {} is of `poslab {}`, and {} of `poslab {}`; a page compares runs of one kind", command,
                folders.front(), first.command("train"), folder, kind.command("train"));
  return first;
}

Values values_of(const Choices& c) {
  Values values;
  for (const Option& o : kept_options(kind_of(c))) values[o.name] = c[o.name];
  return values;
}

nlohmann::ordered_json typed(const Option& o, const std::string& value) {
  if (o.kind == Option::Kind::toggle) return value == "on";
  if (o.kind == Option::Kind::whole && !o.is_word(value)) return std::stoll(value);
  if (o.kind == Option::Kind::number) return ascii::number(value);
  return value;
}

nlohmann::ordered_json config_json(const Choices& c) {
  nlohmann::ordered_json json;
  for (const ChoiceOption& o : kind_of(c).table().options)
    if (o.kept) json[o.option.name] = typed(o.option, c[o.option.name]);
  return json;
}

Choices config_of(const Kind& kind, const nlohmann::ordered_json& json) {
  if (!json.is_object()) bad_input("a configuration is a JSON object, not {}", in_short(json));
  Settings settings;
  for (auto& [name, value] : json.items())
    settings.emplace_back(kept_option(kind, name).name, value.is_string() ? value.get<std::string>()
                                                        : value.is_boolean()
                                                            ? std::string(value.get<bool>() ? "on" : "off")
                                                            : value.dump());
  return kind.configure(settings);
}

}  // namespace poslab
